"""The ticket of one call: what is known of it so far, and its events, each at its time."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gateway import ids
from gateway.case import Case, Verdict
from gateway.crossing import endings
from gateway.crossing.books import Books
from gateway.crossing.effects import effect_of
from gateway.crossing.settle import Ending
from gateway.crossing.snapshots import snapshot_of
from gateway.errors import StoreUnavailable
from gateway.events import build, sealing
from gateway.events.envelope import timestamp
from gateway.results import envelope
from gateway.store.times import moment
from gateway.types.approvals import Approval
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.observed import Observed
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    Operation,
    Peer,
    Rejected,
    RetryClass,
    Undelivered,
)
from gateway.types.outcomes import Answer, Finished, Refusal
from gateway.types.records import CallRecord
from gateway.types.relay import Inquiry
from gateway.types.tools import Effect, Kind
from gateway.types.values import replaced

_log = logging.getLogger("weighbridge")

_BEHIND = "the event log is behind: the end of this call is not kept yet"
_MOST_FINAL: Final = 2  # events that tell the end of a read: how it ended, and what it retrieved
_UNDER_WAY = Undelivered(
    failure=Failure.CANCELLED, executed=Execution.UNKNOWN, detail="its answer did not come"
)


@dataclass(slots=True, kw_only=True)
class Ticket:
    """What is known of one call so far; `closed` ends it, once."""

    owner: Books
    record: CallRecord
    traceparent: str
    _case: Case | None = None
    _denial: Refusal | None = None
    _authorized: bool = False
    delivery: Delivery | None = None
    """The server's last word on the last request, or None while nothing was sent."""
    old: Json = None
    """What a read showed before the call was sent, where its contract asks for one."""
    late: "asyncio.Future[Delivery] | None" = None
    """The request that goes on after its call was answered."""
    _sent: bool = False
    _done: bool = False
    _repeated_until: int = 0  # microseconds since 1970; 0: its answer is not told again

    def sampled(self, request: JsonObject, result: JsonObject | None, error: str) -> None:
        """Keep one turn of the caller's model that its server asked for.

        `request` is empty when the caller was asked by an earlier round.
        """
        self._digest()
        turn = build.model_turn(
            self.record,
            self.owner.redactor,
            id=ids.ulid(),
            at=self.owner.clock.now(),
            request=request,
            result=result,
            error=error,
        )
        self._append([turn])

    def inquired(self, inquiry: Inquiry) -> bool:
        """Keep what became of a question of the server, at once; False when that can't be kept."""
        self._digest()
        now = self.owner.clock.now()
        event = build.question(
            self.record, self.owner.redactor, id=ids.ulid(), at=now, inquiry=inquiry
        )
        return self._append([event])

    def judged(self, verdict: Verdict) -> None:
        """Note the verdict; it is kept with the intent, or with the refusal."""
        case = self._case = verdict.case
        self._denial = verdict.refusal
        record = self.record
        record.judged_ns = self.owner.clock.time_ns()
        record.tool = case.tool
        if case.tool.kind is Kind.RESOURCE:
            record.resource = self.owner.redactor.text(case.tool.name)
        record.contract = case.contract
        record.actor = case.actor
        record.run_id = case.run_id
        record.phase = str(case.phase)
        # Of what no check has classified, only what people reviewed is known.
        known = case if case.is_classified else case.contract
        record.effect, record.risk = known.effect, known.risk
        record.named = None
        record.level = case.contract.audit.level or self.owner.level
        record.decision = case.decision
        record.revision = case.revision.id

    @property
    def judged_case(self) -> Case | None:
        """The case as it was last judged."""
        return self._case

    def passes(self, observed: Observed) -> None:
        """Note what would have become of the call, which is sent all the same."""
        record = self.record
        record.observed = replaced(observed, op_id=record.op_id) if record.op_id else observed
        record.op_id = record.approval_id = ""  # it is about nothing but itself
        self._repeated_until = 0

    async def started(self, case: Case, peer: Peer) -> None:
        """Keep the decision and, for anything but a plain read, the intent: durably."""
        if case.is_plain_read:
            failing = self.owner.journal.failing if self.owner.reads_wait_for_log else ""
            if failing:
                raise StoreUnavailable(failing)
            if case.contract.audit.seal:
                self.owner.journal.append([self._sealed(self._authorization(self._denial))])
            else:
                at = self.owner.clock.now()
                self.owner.journal.append_later(lambda: [self.passed(at)], 1)
                if self.owner.under_way.calls == 1:  # its server is waited for, and nobody waits
                    self.owner.journal.catch_up()
        else:
            self.owner.journal.append(self.intent(case), durable=True)
            await self.owner.journal.kept()
        self.committed()

    def intent(self, case: Case) -> list[Event]:
        """Return the events that have to be durable before a call is sent.

        Raises StoreUnavailable where arguments can't be sealed that have to be.
        """
        changed = case.arguments if case.arguments is not case.call.arguments else None
        self._digest()
        started = build.started(
            self.record,
            self.owner.redactor,
            id=ids.ulid(),
            at=self.owner.clock.now(),
            arguments=changed,
        )
        decided = self._sealed(self._authorization(self._denial))
        return [decided, started if changed is None else self._sealed(started, changed)]

    def committed(self) -> None:
        """Note that the intent is kept, and that the call may be sent."""
        self._authorized = True
        self._sent = True
        self.record.sent_ns = self.owner.clock.time_ns()

    @property
    def span(self) -> str:
        """The call's own span as a header; `traceparent` is that of the request to its server."""
        return self.record.traceparent

    def concerns(self, operation: Operation, approval: Approval | None = None) -> None:
        """Note which operation the call is about, and how long its answer is told again.

        And which request for people's decision, with the call that asked where it was another.
        """
        record = self.record
        record.op_id = operation.op_id
        if approval is not None:
            record.approval_id = approval.approval_id
            is_own = approval.call_id == record.call.call_id
            record.asked_by = "" if is_own else approval.trace
        is_sent_anew = operation.retry is RetryClass.NATURAL
        self._repeated_until = 0 if is_sent_anew else operation.replay_until

    def goes_on(self, late: "asyncio.Future[Delivery]") -> None:
        """Note that the request goes on though its caller gets its answer now."""
        self.late = late

    def sending(self) -> None:
        """Note that a request is on its way: the server's word on an earlier one says nothing."""
        self.delivery = _UNDER_WAY

    def answered(self, delivery: Delivery) -> None:
        """Note when and how the downstream answered."""
        self.delivery = delivery
        record = self.record
        record.answered_ns = self.owner.clock.time_ns()
        match delivery:
            case Delivered():
                record.executed = Execution.YES
                record.result_size = delivery.size
                record.tool_error = delivery.result.get("isError") is True
            case Rejected():
                record.executed = Execution.UNKNOWN
                record.error_code = delivery.code
                record.result_size = delivery.size
            case Undelivered():
                record.executed = delivery.executed

    def closed(self, outcome: Answer | Refusal) -> Finished:
        """End the call: final event, spans, metrics, and the envelope that leaves."""
        return self.finished(outcome, kept=self._finish(outcome))

    def finished(self, outcome: Answer | Refusal, *, kept: bool) -> Finished:
        """Return what leaves; `kept` says whether the end of the call is in the log."""
        record, until = self.record, self._repeated_until
        if isinstance(outcome, Answer) and (not kept or self.owner.journal.failing):
            outcome = replace(outcome, notes=(*outcome.notes, _BEHIND))
        subject = envelope.Subject(
            call_id=record.call.call_id,
            op_id=record.op_id,
            replay_until=timestamp(moment(until)) if until else "",
            run_id=record.run_id,
            method=record.call.method,
            era=record.call.caller.era,
            tool=record.call.name,
            rule=record.decision.rule if record.decision and not record.observed else "",
            has_output_schema=self._case is not None
            and self._case.contract.output_schema is not None,
        )
        match outcome:
            case Answer():
                return envelope.answer(outcome, subject)
            case Refusal():
                return envelope.refuse(outcome, subject)

    def effect(self, case: Case, end: Ending, *, late: bool = False) -> Event:
        """Return the event that says what was changed outside, or that nobody knows."""
        told = effect_of(case, end, old=self.old, late=late)
        now, redactor = self.owner.clock.now(), self.owner.redactor
        return build.side_effect(self.record, redactor, id=ids.ulid(), at=now, effect=told)

    def told(self, events: list[Event]) -> None:
        """Keep events about a call that has ended."""
        self._append(events)

    def elapsed_s(self) -> float:
        """Return the seconds since the intent was committed."""
        return (self.owner.clock.time_ns() - self.record.sent_ns) / 1e9

    def recalled(self, case: Case) -> None:
        """Take up the record of a call that was sent by an earlier process, or an earlier task."""
        self.judged(Verdict(case=case, refusal=None, findings=()))
        self._authorized = self._sent = True
        if case.operation is not None:
            self.concerns(case.operation)

    def abandoned(self) -> None:
        """End a call whose caller went away, or that the process had to give up."""
        if self._done:
            return
        unsure = self._sent and self.record.effect is not Effect.READ
        self._finish(endings.given_up(unsure=unsure))

    def closing(self, outcome: Answer | Refusal) -> list[Event]:
        """Note how the call ended, and return the events that say so: once, then none."""
        if self._done:
            return []
        self._ended(outcome)
        return self._told(outcome, self.owner.clock.now())

    def _ended(self, outcome: Answer | Refusal) -> None:
        self._done = True
        self.owner.under_way.calls -= 1
        record = self.record
        record.closed_ns = self.owner.clock.time_ns()
        record.status = outcome.status
        match outcome:
            case Answer():
                record.redactions = outcome.redactions
            case Refusal():
                record.code = outcome.code
                record.executed = outcome.executed

    def _told(self, outcome: Answer | Refusal, at: datetime) -> list[Event]:
        self._digest()
        if isinstance(outcome, Answer):
            self._digest_result(outcome)
        events = self._final_events(outcome, at)
        self.owner.telemetry.record(self.record)
        return events

    def passed(self, at: datetime) -> Event | EventRow:
        """Return the decision about a read that is sent: by its case as it was judged."""
        self._digest()
        written, usual, case = None, self.owner.usual, self._case
        if usual is not None and case is not None:
            written = usual.decided(self.record, case, at)
        return written or self._authorization(self._denial, at)

    def _behind(self, outcome: Answer | Refusal, at: datetime) -> Sequence[Event | EventRow]:
        """Return what tells the end of a read."""
        usual, case = self.owner.usual, self._case
        if usual is None or case is None or not isinstance(outcome, Answer):
            return self._told(outcome, at)
        self._digest()
        self._digest_result(outcome)
        events = usual.ended(self.record, case, outcome, at) or self._final_events(outcome, at)
        self.owner.telemetry.record(self.record)
        return events

    def _finish(self, outcome: Answer | Refusal) -> bool:
        """Keep how the call ended, once; a read's events are made behind its answer."""
        if not self._authorized or self._case is None or not self._case.is_plain_read:
            events = self.closing(outcome)
            return not events or self._append(events)
        if self._done:
            return True
        self._ended(outcome)
        at = self.owner.clock.now()
        try:
            self.owner.journal.append_later(
                lambda: self._behind(outcome, at), _MOST_FINAL, owed=self._sent
            )
        except StoreUnavailable as error:
            return self._unkept(error)
        return True

    def unkept(self, answer: Answer, error: StoreUnavailable) -> Finished:
        """End a read whose end the log has refused to take."""
        self._ended(answer)
        return self.finished(answer, kept=self._unkept(error))

    def _unkept(self, error: StoreUnavailable) -> bool:
        self.owner.telemetry.record(self.record)
        return self._lost(error)

    def _digest(self) -> None:
        """Note what was asked for, so that refused calls can be compared as well."""
        if not self.record.arguments_digest:
            call = self.record.call
            self.record.arguments_digest = self.owner.digest(call.principal.tenant, call.asked)

    def _digest_result(self, answer: Answer) -> None:
        tenant = self.record.call.principal.tenant
        self.record.result_digest = self.owner.digest(tenant, answer.result)

    def _append(self, events: list[Event]) -> bool:
        try:
            self.owner.journal.append(events, owed=self._sent)
        except StoreUnavailable as error:
            return self._lost(error)
        return True

    def _lost(self, error: StoreUnavailable) -> bool:
        _log.error("%s: an event of it could not be kept: %s", self.record.call.call_id, error)
        return False

    def _final_events(self, outcome: Answer | Refusal, at: datetime) -> list[Event]:
        case = self._case
        ended = endings.events(self.record, case, outcome, at, self.owner)
        if self._authorized or case is None:
            return ended
        return [self._denied(self._denial), *ended]  # the verdict, not what became of it

    def _sealed(self, event: Event, arguments: JsonObject | None = None) -> Event:
        """Seal arguments, or those that came, if the contract says so; raises StoreUnavailable."""
        call, contract = self.record.call, self.record.contract
        if contract is None or not contract.audit.seal:
            return event
        return self.owner.sealer.sealed(event, call.arguments if arguments is None else arguments)

    def _denied(self, refusal: Refusal | None) -> Event:
        """Return the decision about a call that was not sent; that it can't be sealed is said."""
        event = self._authorization(refusal)
        try:
            return self._sealed(event)
        except StoreUnavailable as error:
            return sealing.without_copy(event, str(error))

    def _authorization(self, refusal: Refusal | None, at: datetime | None = None) -> Event:
        case, at = self._case, at or self.owner.clock.now()
        self._digest()
        return build.authorization(
            self.record,
            self.owner.redactor,
            refusal=refusal,
            id=ids.ulid(),
            at=at,
            snapshot=snapshot_of(case, at) if case is not None else None,
        )
