"""Results that are no end yet: a stateless server wants input, or goes on as a task.

A stateless caller is handed the questions and comes back with the answers; a caller of the
handshake era is asked live, and the server gets its request again with the answers.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gateway.case import Case
from gateway.errors import AskFailed, AskRefused
from gateway.relay import visits
from gateway.relay.questions import Question, QuestionDenied, Questions
from gateway.relay.seals import LONGEST
from gateway.relay.states import RESPONSES, STATE, States
from gateway.relay.tasks import Tasks
from gateway.types.calls import Era, Method
from gateway.types.decisions import Decision
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Execution, Rejected
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.relay import AskOutcome, Inquiry, Outbound, Turns, Underway
from gateway.types.tools import Sensitivity

INPUT_REQUIRED: Final = "input_required"
TASK: Final = "task"
COMPLETE: Final = "complete"
_MOST_ROUNDS: Final = 16
MOST_QUESTIONS: Final = 16  # of one round
_MAY_ASK: Final = frozenset({Method.CALL_TOOL, Method.READ_RESOURCE, Method.GET_PROMPT})

Send = Callable[[Outbound], Awaitable[Delivered | Refusal]]


def brought(case: Case, turns: Turns) -> None:
    """Keep the answers that a stateless caller brings back: what became of earlier questions."""
    responses = case.call.params.get(RESPONSES)
    if not isinstance(responses, dict):
        return
    said = [(key, each) for key, each in responses.items() if isinstance(each, dict)]
    for key, answer in said[:MOST_QUESTIONS]:  # no round has more
        method = _asked_by(answer)
        outcome = AskOutcome.of(answer)
        turns.inquired(Inquiry(outcome=outcome, method=method, result=answer, key=key))
        if method is Method.SAMPLE:
            turns.sampled({}, answer, "")


def _asked_by(answer: JsonObject) -> Method | None:
    """Tell a question by the form of its answer."""
    if "action" in answer:
        return Method.ELICIT
    if "model" in answer and "role" in answer:
        return Method.SAMPLE
    return Method.LIST_ROOTS if "roots" in answer else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Sees a request through until its result is one."""

    questions: Questions
    states: States
    tasks: Tasks

    async def settle(
        self, case: Case, underway: Underway, delivered: Delivered, send: Send
    ) -> Delivered | Answer | Refusal:
        """Return the end, or an answer that carries what isn't one; `send` asks the server."""
        outbound, ear, turns = underway.outbound, underway.ear, underway.turns
        for _ in range(_MOST_ROUNDS):
            kind = delivered.result.get("resultType", COMPLETE)
            if kind == COMPLETE:
                return self._complete(case, turns, delivered)
            if kind != INPUT_REQUIRED:
                return self._going_on(case, kind, delivered)
            asked = self._asked(case, turns, delivered)
            if isinstance(asked, Refusal):
                return asked
            if case.call.caller.era is Era.MODERN:
                return self._handed_on(case, turns, asked, delivered)
            if ear is None:
                return _refused(case, "asks although it was told that nobody answers")
            try:
                answers: dict[str, Json] = {
                    key: await ear.ask(question.method, question.params)
                    for key, question in asked.items()
                }
            except AskRefused as refused:
                told = refused.summary if isinstance(refused, AskFailed) else refused.message
                return _refused(case, f"needs an answer that it did not get: {told}")
            again = await send(_with_answers(outbound, answers, delivered.result.get(STATE)))
            if isinstance(again, Refusal):
                return again
            delivered = again
        return _refused(case, f"asked more than {_MOST_ROUNDS} times in one call")

    def visits(self, case: Case, turns: Turns, wanted: Rejected) -> Rejected | Delivered | Refusal:
        """Hold the URLs that a server wants visited against the rules for its questions.

        A caller of the handshake era gets the error, naming the server; a stateless one, whose
        revision has no such error, is asked by a result that `settle` goes on with.
        """
        asking = visits.as_questions(wanted)
        if asking is None:
            return _refused(case, "wants something else visited than URLs")
        if case.call.caller.era is Era.MODERN:
            return asking
        asked = self._asked(case, turns, asking)
        if isinstance(asked, Refusal):
            return asked
        put = self._put(case, turns, asked, asking.result)
        return put if isinstance(put, Refusal) else visits.as_error(wanted, put)

    def _complete(self, case: Case, turns: Turns, delivered: Delivered) -> Delivered | Refusal:
        if not case.call.method.is_task:
            return delivered
        if "inputRequests" in delivered.result:
            asked = self._questions(case, turns, delivered)
            if isinstance(asked, Refusal):
                return asked
            result = self._put(case, turns, asked, delivered.result)
            if isinstance(result, Refusal):
                return result
            delivered = replace(delivered, result=result)
        return self.tasks.named(case, delivered)

    def _going_on(self, case: Case, kind: Json, delivered: Delivered) -> Answer | Refusal:
        """Pass what an extension defines to a caller that declared one; it alone can read it."""
        is_begun = kind == TASK and case.call.method is Method.CALL_TOOL
        if is_begun and not (_is_minimised(case) and "result" in delivered.result):
            delivered = self.tasks.created(case, delivered)
            return Answer(result=delivered.result, notes=("the work goes on as a task",))
        if _is_minimised(case):
            return _refused(case, "answered in a form that policy can't minimise")
        return Answer(result=delivered.result, notes=("a result of an extension",))

    def _asked(
        self, case: Case, turns: Turns, delivered: Delivered
    ) -> dict[str, Question] | Refusal:
        if case.call.method not in _MAY_ASK:
            return _refused(case, "asks for input where it may not")
        if "inputRequests" not in delivered.result and STATE in delivered.result:
            return {}
        return self._questions(case, turns, delivered)

    def _questions(
        self, case: Case, turns: Turns, delivered: Delivered
    ) -> dict[str, Question] | Refusal:
        """Read the questions of a result and hold each against caller and policy."""
        requests = delivered.result.get("inputRequests")
        if not isinstance(requests, dict) or not 0 < len(requests) <= MOST_QUESTIONS:
            return _refused(case, "asks for input without a question, or with too many")
        found: dict[str, Question] = {}
        for key, request in requests.items():
            asked = request if isinstance(request, dict) else {}
            try:
                found[key] = self.questions.admit(case, asked.get("method"), asked.get("params"))
            except QuestionDenied as denied:
                turns.inquired(denied.question.became(AskOutcome.FORBIDDEN, key=key))
                return _denied(case, denied.question.decision)
            except AskRefused as refused:
                return _refused(case, f"asks what the caller can't be asked: {refused.message}")
        return found

    def _put(
        self, case: Case, turns: Turns, asked: Mapping[str, Question], result: JsonObject
    ) -> JsonObject | Refusal:
        """Return a result whose questions name their server; each is recorded before it leaves."""
        requests = result.get("inputRequests")
        if not isinstance(requests, dict):
            return result
        put: JsonObject = {}
        for key, question in asked.items():
            if not turns.inquired(question.became(AskOutcome.ASKED, key=key)):
                return _refused(case, "asks what could not be recorded")
            request = requests[key]
            assert isinstance(request, dict)  # noqa: S101 - a question was read from it
            put[key] = {**request, "params": self.questions.shown(case, question)}
        return {**result, "inputRequests": put}

    def _handed_on(
        self, case: Case, turns: Turns, asked: Mapping[str, Question], delivered: Delivered
    ) -> Answer | Refusal:
        result = self._put(case, turns, asked, delivered.result)
        if isinstance(result, Refusal):
            return result
        if STATE in result:  # a server that keeps none gets its answers without
            token = self.states.pass_on(case.call, result[STATE])
            if len(token) > LONGEST:
                return _refused(case, "has more state than its caller can bring back")
            result = {**result, STATE: token}
        return Answer(result=result, status=Status.INPUT_REQUIRED)


def _denied(case: Case, decision: Decision) -> Refusal:
    """Say that policy forbids the question, which the call can't go on without."""
    return Refusal(
        status=Status.DENIED,
        code=decision.code,
        rule=decision.rule,
        reason=decision.reason or f"the policy does not let `{case.tool.server}` ask this",
        executed=Execution.NO if case.is_plain_read else Execution.UNKNOWN,
    )


def _is_minimised(case: Case) -> bool:
    """Whether something of a result must not leave."""
    output, sensitive = case.decision.output, case.contract.sensitive_results
    return output.holds_back or Sensitivity.SECRET in sensitive.values()


def _with_answers(outbound: Outbound, answers: JsonObject, state: Json) -> Outbound:
    params: JsonObject = {key: value for key, value in outbound.params.items() if key != STATE}
    params[RESPONSES] = answers
    if state is not None:
        params[STATE] = state
    return replace(outbound, params=params)


def _refused(case: Case, why: str) -> Refusal:
    return Refusal(
        status=Status.RESULT_INVALID,
        code="input_required",
        reason=f"`{case.tool.server}` {why}",
        executed=Execution.NO if case.is_plain_read else Execution.UNKNOWN,
    )
