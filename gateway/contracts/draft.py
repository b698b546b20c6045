"""A first contract for a tool that nobody reviewed: guesses, and only towards caution."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.contracts.draft_effect import address_argument, is_open_world, judge
from gateway.contracts.draft_offers import offers
from gateway.contracts.draft_schema import shown
from gateway.contracts.draft_sensitive import sensitive
from gateway.contracts.guess import Guess
from gateway.contracts.pins import pinned
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.tools import Contract, Effect, SourceTrust, Tool

_NO_WAY_BACK = Compensation(
    kind=CompensationClass.IRREVERSIBLE, reason="nobody has looked for a way back yet"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A drafted contract, and for each guess why it was made."""

    contract: Contract
    guesses: tuple[Guess, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each guess of the contract was made, one line each, as comments of its file."""
        return tuple(guess.why for guess in self.guesses if not guess.offered)


def reasons(tool: Tool) -> tuple[Guess, ...]:
    """Return what is guessed about a tool, and why: the effect first, what is only offered last."""
    return draft(tool).guesses


def draft(tool: Tool) -> Draft:
    """Guess a contract; what a server says about its tool raises a guess, and never lowers one."""
    judged = judge(tool)
    guesses = [
        *(Guess(field="effect", value=judged.effect.value, why=why) for why in judged.effect_whys),
        *(Guess(field="risk", value=judged.risk.value, why=why) for why in judged.risk_whys),
    ]
    tagged = tuple(sensitive(tool.definition.get("inputSchema")))
    for pointer, kind, sign in tagged:
        why = f"{kind} {sign}: {pointer}"
        guesses.append(Guess(field="sensitive", value={pointer: kind.value}, why=why))
    trust = SourceTrust.TENANT
    for why in _strangers(tool):
        trust = SourceTrust.EXTERNAL
        guesses.append(Guess(field="results.trust", value=trust.value, why=f"external: {why}"))
    contract = Contract(
        tool=tool.key,
        pin=tool.pin,
        effect=judged.effect,
        risk=judged.risk,
        definition=pinned(tool.definition),
        reviewed=False,
        sensitive={pointer: kind for pointer, kind, _ in tagged},
        result_trust=trust,
        compensation=None if judged.effect is Effect.READ else _NO_WAY_BACK,
    )
    return Draft(contract=contract, guesses=(*guesses, *offers(tool, judged.effect)))


def _strangers(tool: Tool) -> Iterator[str]:
    """Say why anybody at all may have written what the tool returns."""
    if is_open_world(tool):
        yield "its server says that it reaches out to an open world"
    elif address := address_argument(tool):
        yield f"it goes to the `{shown(address)}` that it is given"
