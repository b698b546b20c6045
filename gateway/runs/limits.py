"""What a template's limits mean for one call: limits like those of rules, counted for the run."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.runs.templates import RunLimit, Template
from gateway.types.decisions import RUN_S, Limit
from gateway.types.json import JsonObject
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Run
from gateway.types.values import value

CALLS: Final = "run_calls"
WRITES: Final = "run_writes"
TOKENS: Final = "run_tokens"
MOST_SUMS: Final = 4
_SUMS: Final = ("run_money", *(f"run_money_{number}" for number in range(2, MOST_SUMS + 1)))
TAKEN: Final = (CALLS, WRITES, *_SUMS)  # all that a store may have counted for a run
OF_RULES: Final = "of_run"  # what it counts there by rules whose window is the run

_WORDS: Final = {
    CALLS: "its calls",
    WRITES: "its writes",
    TOKENS: "its tokens",
    **dict.fromkeys(_SUMS, "the money that it may move"),
}


@value
class Use:
    """A call, as far as limits look at it."""

    tool: str  # `server.name`
    is_write: bool
    arguments: JsonObject  # as they are sent


class Unmeasured(ValueError):
    """How much a call takes of a limit can't be told; one line."""


def key(run_id: str) -> str:
    """Return what all calls of a run are counted under; no key of a rule is like it."""
    return f"of_run={run_id}"


def of_call(template: Template, run: Run, use: Use) -> tuple[Limit, ...]:
    """Return what a call takes of the limits of its run; raises Unmeasured."""
    return tuple(
        Limit(
            id=name,
            key=key(run.run_id),
            maximum=limit.maximum,
            window_s=RUN_S,
            amount=amount,
            rule=rule(template),
        )
        for name, limit, amount in _taken(template, use)
    )


def rule(template: Template) -> str:
    """Return the name by which refusals tell of a template's limits."""
    return f"runs.{template.name}"


def refusal(limit: str, *, rule: str) -> Refusal:
    """Refuse a call for which its run has nothing left: waiting does not help."""
    return Refusal(
        status=Status.LIMIT_EXCEEDED,
        code=limit,
        rule=rule,
        reason=f"the run has used up {_WORDS[limit]}",
        next="finish the run with what there is, or hand it over; a new run is for new work",
    )


def is_of_run(limit: str) -> bool:
    """Say whether a limit that had no room is one of a run."""
    return limit in _WORDS


def spent(template: Template, run: Run) -> str:
    """Return the limit that lets no further call begin, or an empty text.

    Tokens are told of by hosts, after they were spent: they can't be taken beforehand.
    """
    most = [limit.maximum for limit in template.limits if limit.kind == "tokens"]
    return TOKENS if any(run.tokens >= each for each in most) else ""


def _taken(template: Template, use: Use) -> Iterator[tuple[str, RunLimit, float]]:
    sums = iter(_SUMS)
    for limit in template.limits:
        match limit.kind:
            case "calls":
                yield CALLS, limit, 1.0
            case "writes" if use.is_write:
                yield WRITES, limit, 1.0
            case "money":
                name = next(sums)  # the same for the same sum, whichever the call
                amount = _amount(limit, use)
                if amount is not None:
                    yield name, limit, amount
            case _:
                continue


def _amount(limit: RunLimit, use: Use) -> float | None:
    """Return the amount that a call moves, or None for one that moves none."""
    if not use.is_write or (limit.tools and use.tool not in limit.tools):
        return None
    try:
        found = jsontext.get(use.arguments, limit.argument)
    except KeyError:
        if not limit.tools:
            return None
        raise Unmeasured(f"`{limit.argument}` is limited in this run, and is not there") from None
    # A negative amount would give back what was taken before.
    if isinstance(found, bool) or not isinstance(found, int | float | Decimal) or not found >= 0:
        raise Unmeasured(f"`{limit.argument}` is limited in this run, and is no amount")
    return float(found)
