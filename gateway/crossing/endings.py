"""The events that tell the end of a call: how it ended, and what it retrieved."""

from datetime import datetime

from gateway import ids
from gateway.case import Case
from gateway.crossing.books import Books
from gateway.crossing.retrieved import retrieved
from gateway.events import build
from gateway.types.events import Event
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord


def events(
    record: CallRecord, case: Case | None, outcome: Answer | Refusal, at: datetime, books: Books
) -> list[Event]:
    """Return the one event that every call has at its end, and the one that reads may have."""
    reason, next_step, original, result = "", "", None, None
    if isinstance(outcome, Answer):
        result = outcome.result
    else:
        reason, original = outcome.reason, outcome.original
        # Where there is a word about single arguments, advice may name other values of theirs.
        next_step = "" if outcome.details else outcome.next
    ended = build.ended(
        record,
        books.redactor,
        id=ids.ulid(),
        at=at,
        reason=reason,
        next_step=next_step,
        original=original,
        result=result,
    )
    found = retrieved(case, outcome, books) if case is not None else None
    if found is None:
        return [ended]
    return [ended, found.event(record, books.redactor, id=ids.ulid(), at=at)]


def given_up(*, unsure: bool) -> Refusal:
    """Return how a call ends that its caller, or the process, gave up; `unsure` whether it ran."""
    return Refusal(
        status=Status.INDETERMINATE if unsure else Status.CANCELLED,
        code="caller_left",
        reason="the call was given up before its answer came",
        executed=Execution.UNKNOWN if unsure else Execution.NO,
    )
