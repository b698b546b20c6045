"""Events of usual reads, written at once: nothing but what is their own is made for each.

Of most calls the events differ from those of earlier ones in ids, times, arguments and digests; all
else follows from the tool, its contract, the decision and the caller. So the first events of such
calls are made and written like any, taken apart at what is their own, and the text between is kept;
those of further calls are put together from that. Whatever has more to say is made and written by
`events.build`; tests hold the bytes of the one way against those of the other.
"""

import re
import secrets
from datetime import datetime, timedelta
from typing import Final

from gateway import ids, jsontext
from gateway.case import Case
from gateway.crossing.snapshots import snapshot_of
from gateway.errors import JsonError
from gateway.events import build
from gateway.events.envelope import MAX_ARGUMENTS, Origin, timestamp_of, to_json
from gateway.events.redact import Redacted, Redactor
from gateway.events.snapshots import ANY_TIME, described
from gateway.store.event_rows import row_of
from gateway.store.times import microseconds
from gateway.types.audit import Level
from gateway.types.calls import Method
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Answer, Status
from gateway.types.records import CallRecord, Told
from gateway.types.runs import Run
from gateway.types.tools import Kind

_MOST: Final = 1024  # forms that are kept; all go when there are more
# Of the envelope, in its order.
_OUTSIDE: Final = ("id", "ts", "call", "trace_id", "span_id")
_IN_RUN: Final = ("id", "ts", "run", "call", "trace_id", "span_id")
_DECIDED: Final = ("arguments_digest", "arguments", "duration_us")  # of the body, in its order
_DECIDED_IN_RUN: Final = ("arguments_digest", "arguments", "snapshot", "duration_us")
_ENDED: Final = (
    "arguments_digest",
    "duration_us",
    "result_size",
    "redactions",
    "result_digest",
    "downstream_us",
)
_RETRIEVED: Final = ("arguments_digest", "query_digest")
_WRITTEN: Final = frozenset(  # as JSON already, not as the inside of a text
    {"arguments", "duration_us", "result_size", "redactions", "downstream_us", "snapshot"}
)
MARK: Final = secrets.token_hex(16)  # stands in nothing that anybody says
_MARKED: Final = re.compile(f'"{MARK}:([a-z_]+)"')

_CALL_TOOL: Final = Method.CALL_TOOL
_OK: Final = Status.OK
_YES: Final = Execution.YES
_make_row: Final = EventRow._make
_MICROSECOND: Final = timedelta(microseconds=1)


class _Form:
    """What events of one kind have around their own, and the columns that they share."""

    __slots__ = ("_after", "_before", "_text")

    def __init__(self, text: str, row: EventRow) -> None:
        self._text = text
        self._before = row.kind, row.stage, row.tenant
        self._after = row.tool, row.actor_user, row.decision, row.rule, row.status

    def row(self, at: int, record: Told, own: tuple[str | int, ...]) -> EventRow:
        """Return an event; `own` is what of it is its own, in the order of the text: its id first.

        What of that stands in columns has nothing in it that a column can't have.
        """
        text, trace = self._text % own, record.trace_id
        named = record.run_id, record.call.call_id
        return _make_row((at, own[0], *self._before, *named, *self._after, trace, text, None))


class Forms:
    """How events of calls that are alike are written, as far as that is known."""

    __slots__ = ("decided", "ended", "held", "is_usual", "retrieved")

    def __init__(self, held: tuple[object, ...], *, is_usual: bool) -> None:
        self.held = held  # so that their ids are nobody else's
        self.is_usual = is_usual
        self.decided: _Form | None = None
        self.ended: _Form | None = None
        self.retrieved: _Form | None = None

    @property
    def are_known(self) -> bool:
        """Whether all of them were taken apart."""
        known = self.decided is not None and self.ended is not None
        return known and self.retrieved is not None


class Usual:
    """Writes the events of plain reads that are like earlier ones; for one event loop."""

    def __init__(self, origin: Origin, redactor: Redactor) -> None:
        self._origin = origin
        self._redactor = redactor
        self._known: dict[tuple[object, ...], Forms] = {}
        self._runs: dict[tuple[object, ...], tuple[Run, str]] = {}  # held, as above

    def __len__(self) -> int:
        """Return how many kinds of calls are known."""
        return len(self._known)

    def decided(self, record: CallRecord, case: Case, at: datetime) -> EventRow | None:
        """Return the decision about a plain read that is sent; None where it has more to say."""
        forms = self.forms(record, case)
        if forms is None or not is_told(record, case, at):
            return None
        if forms.decided is None:
            return self._first_decision(forms, record, case, at)
        try:
            written = jsontext.dump(record.call.arguments)
        except JsonError:
            return None
        return self.decision(forms, record, case, at, written)

    def decision(
        self, forms: Forms, record: Told, case: Case | None, at: datetime, written: bytes
    ) -> EventRow | None:
        """Return the same of a call that is known to be like those which `forms` are of.

        Its arguments are `written` as JSON. `case` says how its run stood, if it has one.
        """
        form, call = forms.decided, record.call
        if form is None or len(written) > MAX_ARGUMENTS:
            return None
        if not self._redactor.is_clean(call.arguments):
            return None
        run = case.run if case is not None else None
        named = (call.call_id,) if run is None else (record.run_id, call.call_id)
        told = () if run is None or case is None else (self._stood(case, run, at),)
        us = microseconds(at)
        own = (
            ids.ulid(),
            timestamp_of(us),
            *named,
            record.trace_id,
            record.authorize_span,
            record.arguments_digest,
            written.decode(),
            *told,
            build.elapsed_us(record.received_ns, record.judged_ns),
        )
        return form.row(us, record, own)

    def _first_decision(
        self, forms: Forms, record: CallRecord, case: Case, at: datetime
    ) -> EventRow | None:
        """Make the event like any, and keep its form."""
        arguments = record.call.arguments
        if not _written(arguments) or not self._redactor.is_clean(arguments):
            return None
        event = build.authorization(
            record,
            self._redactor,
            refusal=None,
            id=ids.ulid(),
            at=at,
            snapshot=snapshot_of(case, at),
        )
        row = row_of(event, self._origin)
        of_body = _DECIDED if case.run is None else _DECIDED_IN_RUN
        forms.decided = self._form(event, row, of_body)
        return row

    def _stood(self, case: Case, run: Run, at: datetime) -> str:
        """Return how the run of a call stood, and when the call came, as JSON.

        Calls that follow one another find the run as it was, until its row is another one.
        """
        key = (id(run), case.bound_by, case.reads_while_paused)
        found = self._runs.get(key)
        if found is None:
            if len(self._runs) >= _MOST:
                self._runs.clear()
            snapshot = snapshot_of(case, at)
            told = described(snapshot, at=at, redact=_nothing, text=str) if snapshot else {}
            found = self._runs[key] = run, jsontext.dump(told["run"]).decode()
        received = (at - case.facts.now) // _MICROSECOND
        return f'{{"received_us":{received},"run":{found[1]}}}'

    def ended(
        self, record: CallRecord, case: Case, answer: Answer, at: datetime
    ) -> tuple[EventRow, EventRow] | None:
        """Return the end of a plain read, and what it retrieved; None where they say more."""
        forms = self.forms(record, case)
        if forms is None or answer.status is not _OK or record.executed is not _YES:
            return None
        if record.tool_error or record.code or record.error_code is not None:
            return None
        if record.observed_result is not None or not record.answered_ns:
            return None
        if forms.ended is None or forms.retrieved is None:
            return self._first(forms, record, (ids.ulid(), ids.ulid()), at)
        return self.end(forms, record, at)

    def end(self, forms: Forms, record: Told, at: datetime) -> tuple[EventRow, EventRow]:
        """Return the same of a call that is known to be like those which `forms` are of.

        And that ended as they did. Its forms have to be known.
        """
        ended, retrieved = forms.ended, forms.retrieved
        if ended is None or retrieved is None:
            raise ValueError("nothing is known yet of how such calls end")
        first, second = ids.ulid(), ids.ulid()
        call, run = record.call.call_id, record.run_id
        digest, us = record.arguments_digest, microseconds(at)
        named = (run, call) if run else (call,)
        envelope = (timestamp_of(us), *named, record.trace_id, record.server_span, digest)
        own = (
            first,
            *envelope,
            build.elapsed_us(record.received_ns, record.closed_ns),
            record.result_size,
            record.redactions,
            record.result_digest,
            build.elapsed_us(record.sent_ns, record.answered_ns),
        )
        return (
            ended.row(us, record, own),
            retrieved.row(us, record, (second, *envelope, digest)),
        )

    def _first(
        self, forms: Forms, record: CallRecord, new: tuple[str, str], at: datetime
    ) -> tuple[EventRow, EventRow]:
        """Make the two events like any, and keep their forms."""
        one = build.ended(record, self._redactor, id=new[0], at=at)
        two = build.retrieval(record, self._redactor, id=new[1], at=at, documents=())
        rows = row_of(one, self._origin), row_of(two, self._origin)
        forms.ended = self._form(one, rows[0], _ENDED)
        forms.retrieved = self._form(two, rows[1], _RETRIEVED)
        return rows

    def forms(self, record: CallRecord, case: Case) -> Forms | None:
        """Return how events of such calls are written; None for calls that are not usual.

        Nor for the first one of its kind: some decisions are made for one call alone.
        """
        call = record.call
        if call.method is not _CALL_TOOL or call.cause or call.parent or call.concealed:
            return None
        if record.observed is not None:
            return None
        # They stand in the text as they are; of another form, something of them might be escaped.
        if not (call.call_id.isidentifier() and record.trace_id.isalnum()):
            return None
        if record.run_id and not record.run_id.isidentifier():
            return None
        tool, contract = record.tool, record.contract
        decision, actor = record.decision, record.actor
        key = (
            id(tool),
            id(contract),
            id(decision),
            id(actor),
            record.phase,
            record.risk,
            record.run_id == "",
        )
        forms = self._known.get(key)
        if forms is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            held = (tool, contract, decision, actor)
            forms = self._known[key] = Forms(held, is_usual=_is_usual(record, case))
            return None
        return forms if forms.is_usual else None

    def _form(self, event: Event, row: EventRow, own: tuple[str, ...]) -> _Form | None:
        """Take an event apart at what is its own; None where it is not all there, in its order."""
        told = to_json(event, self._origin)
        body = {**event.body, **{name: _marked(name) for name in own}}
        envelope = _IN_RUN if event.run else _OUTSIDE
        told |= {**{name: _marked(name) for name in envelope if name in told}, "body": body}
        between = _MARKED.split(jsontext.dump(told).decode())
        if tuple(between[1::2]) != (*envelope, *own):
            return None
        text = between[0].replace("%", "%%")
        for name, after in zip(between[1::2], between[2::2], strict=True):
            text += ("%s" if name in _WRITTEN else '"%s"') + after.replace("%", "%%")
        return _Form(text, row)


def _nothing(value: Json) -> Redacted:
    raise AssertionError("a run that has collected something is told of the long way")


def _marked(name: str) -> str:
    return f"{MARK}:{name}"


def _written(arguments: JsonObject) -> str:
    """Return arguments as JSON; an empty text for those that can't be kept as they are."""
    try:
        written = jsontext.dump(arguments)
    except JsonError:
        return ""
    return written.decode() if len(written) <= MAX_ARGUMENTS else ""


def is_told(record: Told, case: Case, at: datetime) -> bool:
    """Whether a decision has no more to say than is written here of every call."""
    facts, run = case.facts, case.run
    if facts.origins or facts.is_tainted or case.held:
        return False
    if at - facts.now > ANY_TIME or (run is None) is not (record.run_id == ""):
        return False
    # What a run is for and has collected is redacted for each call.
    return run is None or not (run.fields or case.revision.names_objective)


def _is_usual(record: CallRecord, case: Case) -> bool:
    """Whether calls that are alike have nothing to say but what is here."""
    tool, contract = record.tool, record.contract
    decision, actor = record.decision, record.actor
    if tool is None or contract is None or decision is None or actor is None:
        return False
    if tool.kind is not Kind.TOOL or tool.pin != contract.pin:
        return False
    if record.level is not Level.REQUEST or case.revision.reads_now:
        return False
    if contract.sensitive or contract.yields or contract.retrieval or contract.provenance:
        return False
    return decision.is_plain and not decision.output.holds_back
