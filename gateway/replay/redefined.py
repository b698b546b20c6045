"""A revision over other definitions of tools: what servers would publish in place of today's.

A reviewed contract is pinned to one definition, so another one blocks its tool until a person has
pinned it again. Calls are judged as they would be after that: under the same terms, with the new
definition.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from gateway import jsontext
from gateway.contracts import diff, pins
from gateway.contracts.diff import Change
from gateway.contracts.published import Definitions
from gateway.contracts.schemas import ToolSchemas, compile_tool
from gateway.errors import JsonError, SchemaError
from gateway.replay.cases import Offered
from gateway.revision import Revision
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Quarantine
from gateway.types.values import value


class Fate(StrEnum):
    """What becomes of a tool."""

    SAME = "same"  # as it was reviewed
    CHANGED = "changed"  # its contract blocks it until it is pinned again
    UNUSABLE = "unusable"  # nothing could be enforced, so it is quarantined
    GONE = "gone"  # its server does not publish it any more
    NEW = "new"  # nobody has reviewed it


_ORDER: Final = (Fate.UNUSABLE, Fate.GONE, Fate.CHANGED, Fate.NEW, Fate.SAME)


@value
class Redefinition:
    """One tool, as it is reviewed and as it would be published."""

    tool: str  # `server.name`
    fate: Fate
    contract: Contract | None  # as it was reviewed; None for a tool that has none
    definition: JsonObject  # empty for one that is gone
    schemas: ToolSchemas | None  # of the new definition; None where there are none to enforce
    changes: tuple[Change, ...] = ()
    quarantine: Quarantine | None = None

    @property
    def is_blocked(self) -> bool:
        """Whether its pin keeps calls out until somebody has looked at it."""
        return self.fate is Fate.CHANGED


@value
class Redefined:
    """The revision once all is pinned again, and every tool that a file speaks of."""

    revision: Revision
    tools: Mapping[str, Redefinition]
    offered: Mapping[str, Offered | None]
    """What is published, as cases have it; None for what is gone."""


def redefined(revision: Revision, published: Mapping[str, Definitions]) -> Redefined:
    """Return what a revision becomes; servers that `published` does not name stay as they are."""
    found = [
        _redefinition(f"{server}.{name}", definition, revision)
        for server, definitions in published.items()
        for name, definition in definitions.items()
    ]
    known = {each.tool for each in found}
    found += [
        Redefinition(tool=tool, fate=Fate.GONE, contract=contract, definition={}, schemas=None)
        for tool, contract in revision.contracts.items()
        if tool.partition(".")[0] in published and tool not in known
    ]
    found.sort(key=lambda each: (_ORDER.index(each.fate), each.tool))
    tools = {each.tool: each for each in found}
    return Redefined(
        revision=_repinned(revision, tools),
        tools=tools,
        offered={
            each.tool: None
            if each.fate is Fate.GONE
            else Offered(definition=each.definition, pin=_pin(each), quarantine=each.quarantine)
            for each in found
        },
    )


def _redefinition(tool: str, definition: JsonObject, revision: Revision) -> Redefinition:
    contract = revision.contracts.get(tool)
    schemas: ToolSchemas | None = None
    quarantine: Quarantine | None = None
    try:
        schemas = compile_tool(definition)
        is_same = contract is not None and contract.pin == pins.pin(definition)
    except (SchemaError, JsonError) as error:
        quarantine = Quarantine(reason=error.message, pointer=error.pointer)
        fate = Fate.UNUSABLE
    else:
        fate = Fate.NEW if contract is None else Fate.SAME if is_same else Fate.CHANGED
    return Redefinition(
        tool=tool,
        fate=fate,
        contract=contract,
        definition=definition,
        schemas=schemas,
        changes=_changes(contract, definition) if quarantine is None else (),
        quarantine=quarantine,
    )


def _changes(contract: Contract | None, definition: JsonObject) -> tuple[Change, ...]:
    return diff.diff(contract.definition, definition) if contract is not None else ()


def _repinned(revision: Revision, tools: Mapping[str, Redefinition]) -> Revision:
    """Return a revision whose contracts are pinned to the new definitions, under an id of its own.

    An id is over the texts of a folder, and no folder has these.
    """
    changed = {each.tool: each for each in tools.values() if each.fate is Fate.CHANGED}
    contracts, schemas = dict(revision.contracts), dict(revision.schemas)
    for tool, each in changed.items():
        pin = _pin(each)
        contracts[tool] = replace(contracts[tool], pin=pin, definition=pins.pinned(each.definition))
        if each.schemas is not None:
            schemas[pin] = each.schemas
    is_same = all(each.fate is Fate.SAME for each in tools.values())
    fates: JsonObject = {each.tool: f"{each.fate} {_pin(each)}" for each in tools.values()}
    id = revision.id if is_same else jsontext.digest([revision.id, fates])
    return replace(revision, id=id, contracts=contracts, schemas=schemas)


def _pin(each: Redefinition) -> str:
    try:
        return pins.pin(each.definition)
    except JsonError:
        return ""  # what can't be written has none, and is quarantined
