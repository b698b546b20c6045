"""How a published tool stands to its contract: one word, and one way to count."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from gateway.types.tools import Contract, Tool


class Standing(StrEnum):
    """What stands between a tool and agents, before policy has its say."""

    REVIEWED = "reviewed"
    UNREVIEWED = "unreviewed"  # its contract is a draft
    NO_CONTRACT = "no contract"
    CHANGED = "changed"  # its definition is not the reviewed one
    QUARANTINED = "quarantined"  # its definition can't be enforced


def standing(tool: Tool, contract: Contract | None) -> Standing:
    """Say how a tool stands to its contract, or to having none."""
    if tool.quarantine is not None:
        return Standing.QUARANTINED
    if contract is None:
        return Standing.NO_CONTRACT
    if not contract.reviewed:
        return Standing.UNREVIEWED
    return Standing.REVIEWED if contract.pin == tool.pin else Standing.CHANGED


def is_exposed(tool: Tool, contract: Contract | None, *, observe: bool) -> bool:
    """Say whether agents have a tool, as far as policy lets them; `observe` serves drafts too."""
    match standing(tool, contract):
        case Standing.REVIEWED:
            return True
        case Standing.UNREVIEWED | Standing.NO_CONTRACT:
            return observe and (contract is None or contract.pin == tool.pin)
        case _:
            return False


def tally(
    tools: Iterable[Tool], contracts: Mapping[str, Contract], *, observe: bool
) -> dict[str, int]:
    """Count tools: `exposed` first, then by what people have still to do, if there is any.

    With `observe` those without a review are among the exposed, and counted again.
    """
    found = [(tool, contracts.get(tool.key)) for tool in tools]
    counts = Counter(standing(tool, contract) for tool, contract in found)
    exposed = sum(is_exposed(tool, contract, observe=observe) for tool, contract in found)
    rest = (each for each in Standing if each is not Standing.REVIEWED and counts[each])
    return {"exposed": exposed} | {each.name.lower(): counts[each] for each in rest}


def in_words(counts: Mapping[str, int]) -> str:
    """Write a tally as people read it: `3 exposed, 1 unreviewed`."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
