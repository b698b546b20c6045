"""The end of step 11: what became of an operation, and what its row and its caller are told."""

from dataclasses import replace
from typing import Final

from gateway.case import Case
from gateway.operations.classify import Verdict, classify
from gateway.operations.machine import LATE, OpEvent, next_state
from gateway.types.operations import (
    ASKS_FIRST,
    Delivered,
    Delivery,
    Execution,
    OpState,
    Rejected,
    VerificationState,
)
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.relay import URL_REQUIRED
from gateway.types.tools import Effect
from gateway.types.values import value

_QUESTION: Final = "input_required"  # `resultType` of a server that asks (MCP, mrtr)
_TASK: Final = "task"  # `resultType` of the tasks extension: the work goes on at the server
_UNKNOWN: Final = (
    "do not repeat this call; find out with a read whether it took effect, or let an administrator "
    "settle it"
)


@value
class Ending:
    """An attempt that is over: the state that it leaves, and the outcome as it is told."""

    state: OpState
    outcome: Answer | Refusal
    executed: Execution
    evidence: str = ""  # how the state is known, where that is not its own answer
    verification: VerificationState = VerificationState.NOT_DECLARED
    gives_back: bool = False  # nothing was carried out: what it used up is free again


def ending(
    case: Case, delivery: Delivery | None, outcome: Answer | Refusal, *, late: bool = False
) -> Ending:
    """Say what an attempt came to, from the server's last word and what was made of it.

    `late` is for an answer that came after the operation had been given up as unknown.
    """
    verdict = _verdict(case, delivery, outcome)
    event = LATE.get(verdict.event, verdict.event) if late else verdict.event
    if late and event is OpEvent.LOSE:
        state = OpState.INDETERMINATE
    else:
        state = next_state(OpState.INDETERMINATE if late else OpState.DISPATCHING, event)
    if state is OpState.SUCCEEDED:
        evidence = "late_answer" if late else _evidence(outcome)
    else:
        evidence = verdict.proof
    return Ending(
        state=state,
        outcome=_told(outcome, state, verdict),
        executed=verdict.executed,
        evidence=evidence,
        verification=_verification(outcome),
        gives_back=state is OpState.FAILED_RETRYABLE and verdict.executed is Execution.NO,
    )


def _verdict(case: Case, delivery: Delivery | None, outcome: Answer | Refusal) -> Verdict:
    if delivery is None:
        return _not_executed("it was never sent")
    if isinstance(delivery, Delivered) and delivery.result.get("resultType") == _QUESTION:
        return _not_executed(ASKS_FIRST)
    if isinstance(delivery, Rejected) and delivery.code == URL_REQUIRED:
        return _not_executed(ASKS_FIRST)
    if isinstance(outcome, Answer):
        if outcome.result.get("resultType") == _TASK:
            return Verdict(event=OpEvent.SUCCEED, executed=Execution.YES, proof=_TASK)
    elif case.effect is Effect.READ:
        return _not_executed("a read changes nothing")
    elif isinstance(delivery, Delivered) and outcome.executed is Execution.NO:
        return _not_executed(outcome.code or "what its server asked for was refused")
    contract = case.contract
    operation = case.operation
    if operation is None:
        raise ValueError("only operations are settled")
    return classify(
        delivery,
        retry=operation.retry,  # as it was sent
        risk=case.risk,
        source=operation.key.source,
        not_executed_on=contract.idempotency.not_executed_on,
        arguments=case.arguments or {},
    )


def _not_executed(proof: str) -> Verdict:
    return Verdict(event=OpEvent.FAIL_RETRYABLE, executed=Execution.NO, proof=proof)


def _evidence(outcome: Answer | Refusal) -> str:
    is_task = isinstance(outcome, Answer) and outcome.result.get("resultType") == _TASK
    return _TASK if is_task else ""


def _told(outcome: Answer | Refusal, state: OpState, verdict: Verdict) -> Answer | Refusal:
    """Say in the outcome what is known of the operation: no less, and no more."""
    if state is OpState.INDETERMINATE:
        if isinstance(outcome, Answer):
            note = f"nobody knows whether this took effect: {verdict.proof}"
            return replace(outcome, status=Status.INDETERMINATE, notes=(*outcome.notes, note))
        return replace(
            outcome, status=Status.INDETERMINATE, executed=Execution.UNKNOWN, next=_UNKNOWN
        )
    if isinstance(outcome, Refusal) and state is OpState.FAILED_RETRYABLE:
        return replace(outcome, executed=verdict.executed)
    return outcome


def _verification(outcome: Answer | Refusal) -> VerificationState:
    if isinstance(outcome, Answer):
        return outcome.verification.state
    if outcome.status in (Status.POSTCONDITION_FAILED, Status.RESULT_INVALID):
        return VerificationState.FAILED
    return VerificationState.NOT_DECLARED
