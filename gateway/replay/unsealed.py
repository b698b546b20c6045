"""Recorded calls with what is sealed beside their events: judged by it, and never shown with it."""

from typing import Final

from gateway.events import concealed
from gateway.events.concealed import Concealed
from gateway.replay.types import Compared, Gone, Judgement, Missing, Recorded
from gateway.store.unsealing import Unopened, Unsealed
from gateway.types.tools import Sensitivity
from gateway.types.values import replaced

_GONE: Final = {
    Unopened.SHREDDED: Gone.SHREDDED,
    Unopened.NO_KEY: Gone.SEALED,
    Unopened.MISSING: Gone.SEALED,
    Unopened.BROKEN: Gone.CHANGED,
}


def known(call: Recorded, found: Unsealed | None) -> Recorded:
    """Return a call with its arguments as they were, or with why nobody can know them any more."""
    if found is None or not call.unknown:
        return call
    if found.arguments is not None:
        return replaced(
            call, arguments=found.arguments, shown=call.arguments, unknown={}, gone=call.unknown
        )
    if found.why is None:
        return call
    gone = dict.fromkeys(call.unknown, _GONE[found.why])
    return replaced(call, unknown=gone, shredded=found.since)


def told(compared: Compared) -> Compared:
    """Return how a call fares as it may be told: when what is missing was shredded, no secrets."""
    call = compared.recorded
    if call.shredded is not None:
        missing = tuple(_dated(each, call) for each in compared.missing)
        compared = replaced(compared, missing=missing)
    if not call.gone:
        return compared
    hidden = concealed.values(call.arguments, dict.fromkeys(call.gone, Sensitivity.SECRET))
    return replaced(
        compared,
        before=_without(compared.before, hidden),
        after=None if compared.after is None else _without(compared.after, hidden),
    )


def _dated(missing: Missing, call: Recorded) -> Missing:
    return replaced(missing, since=call.shredded) if missing.why is Gone.SHREDDED else missing


def _without(judged: Judgement, hidden: Concealed) -> Judgement:
    return replaced(
        judged,
        reason=concealed.in_text(judged.reason, hidden),
        people=concealed.in_text(judged.people, hidden),
        exceeded=concealed.in_text(judged.exceeded, hidden),
    )
