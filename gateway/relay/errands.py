"""A held call as a task of the gateway's own (extension `io.modelcontextprotocol/tasks`).

Its caller need not come back for it: the gateway sends the call once it is approved, and the caller
reads what became of it. The id names operation and owner, sealed; it is no right to anything.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, assert_never

from gateway.clock import Clock
from gateway.events.envelope import timestamp
from gateway.operations import refusals
from gateway.operations.machine import TOOK_EFFECT
from gateway.relay.seals import SealBroken, Seals
from gateway.results import envelope
from gateway.steps import gate
from gateway.store.times import microseconds, moment
from gateway.types.approvals import Approval, ApprovalState, Execute
from gateway.types.calls import Era, Method, ProposedCall
from gateway.types.extensions import TASKS, knows
from gateway.types.json import JsonObject
from gateway.types.operations import Operation, OpState
from gateway.types.outcomes import Answer, Finished, Refusal

_PURPOSE: Final = "errand"
_KEPT_AFTER_S: Final = 3600  # how long an end can be read after the time to decide is over
_FIRST_POLL_MS: Final = 5_000
_LAST_POLL_MS: Final = 30_000
_OPEN: Final = frozenset({OpState.AWAITING_APPROVAL, OpState.READY, OpState.DISPATCHING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What an id stands for."""

    op_id: str
    approval_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Errands:
    """Begins tasks for held calls, and tells of them to who began them."""

    seals: Seals
    approval: Callable[[str], Awaitable[Approval | None]]
    """The last request about an operation; raises StoreUnavailable."""
    operation: Callable[[str], Awaitable[Operation | None]]
    answer: Callable[[ProposedCall, Operation], Answer | Refusal]
    """What the caller of a request about a task is told of an operation that has ended."""
    ended: Callable[[Approval], Refusal]
    """What its caller is told of a request that was not used."""
    call_off: Callable[[Approval, str], Awaitable[Approval | None]]
    clock: Clock

    def begin(self, call: ProposedCall, approval: Approval) -> Answer | None:
        """Return the result that begins a task; None where the caller can't have one."""
        knows_tasks = knows(call.caller.capabilities, TASKS)
        if call.caller.era is not Era.MODERN or not knows_tasks:
            return None
        if approval.execute is not Execute.ON_APPROVAL or not approval.state.is_open:
            return None
        claims: JsonObject = {
            "op": approval.op_id,
            "approval": approval.approval_id,
            "owner": list(call.principal.owner),
        }
        told = self._told(self.seals.seal(_PURPOSE, claims), approval, "working")
        note = "it waits for approval as a task"
        return Answer(result={"resultType": "task", **told}, notes=(note,))

    def find(self, call: ProposedCall) -> Errand | None:
        """Return what a request about a task is about, if that is ours and the caller's."""
        if not call.method.is_task:
            return None
        try:
            claims = self.seals.open(_PURPOSE, call.name)
        except SealBroken:
            return None
        if claims.get("owner") != list(call.principal.owner):
            return None
        return Errand(op_id=str(claims.get("op")), approval_id=str(claims.get("approval")))

    async def handle(self, call: ProposedCall, errand: Errand) -> Answer | Refusal:
        """Answer a request about a task; raises StoreUnavailable."""
        approval = await self.approval(errand.op_id)
        operation = await self.operation(errand.op_id)
        if approval is None or operation is None:
            return envelope.missing(call.name, call.method)
        match call.method:
            case Method.GET_TASK:
                return Answer(result=self._now(call, approval, operation))
            case Method.CANCEL_TASK:
                if approval.state.is_open:  # what was sent is not taken back by this
                    await self.call_off(approval, "its caller cancelled the task")
                return Answer(result=dict(_DONE))
            case _:
                return Answer(result=dict(_DONE))  # nothing is asked here, so no answer is awaited

    def _now(self, call: ProposedCall, approval: Approval, operation: Operation) -> JsonObject:
        if approval.state is ApprovalState.CANCELLED:
            return self._told(call.name, approval, "cancelled") | _DONE
        outcome = self._outcome(call, approval, operation)
        if outcome is None:
            return self._told(call.name, approval, "working") | _DONE
        subject = envelope.Subject(
            call_id=approval.call_id,
            op_id=approval.op_id,
            tool=approval.tool,
            rule=approval.rule,
            has_output_schema=True,
        )
        finished = _finished(outcome, subject)
        if finished.error is not None:
            error: JsonObject = {"code": finished.error.code, "message": finished.error.message}
            failed = self._told(call.name, approval, "failed")
            return {**failed, **_DONE, "error": error}
        completed = self._told(call.name, approval, "completed")
        return {**completed, **_DONE, "result": finished.result}

    def _outcome(
        self, call: ProposedCall, approval: Approval, operation: Operation
    ) -> Answer | Refusal | None:
        """Return the end of the call; None while there is none."""
        if operation.state in _OPEN:
            return None
        if operation.state in TOOK_EFFECT:
            return self.answer(call, operation)
        match operation.state:
            case OpState.INDETERMINATE:
                return refusals.unknown(operation)
            case OpState.FAILED_RETRYABLE:
                return self.answer(call, operation)
            case _:
                return self.ended(approval)

    def _told(self, task: str, approval: Approval, status: str) -> JsonObject:
        now = microseconds(self.clock.now())
        age_ms = (now - approval.created_at) // 1000
        until = approval.decide_by - approval.created_at
        told: JsonObject = {
            "taskId": task,
            "status": status,
            "createdAt": timestamp(moment(approval.created_at)),
            "lastUpdatedAt": timestamp(moment(approval.decided_at or approval.created_at)),
            "ttlMs": until // 1000 + _KEPT_AFTER_S * 1000,
            "pollIntervalMs": min(_LAST_POLL_MS, max(_FIRST_POLL_MS, age_ms // 10)),
        }
        if status == "working":
            told["statusMessage"] = gate.waiting(approval)
        return told


_DONE: Final[JsonObject] = {"resultType": "complete"}


def _finished(outcome: Answer | Refusal, subject: envelope.Subject) -> Finished:
    match outcome:
        case Answer():
            return envelope.answer(outcome, subject)
        case Refusal():
            return envelope.refuse(outcome, subject)
        case _:
            assert_never(outcome)
