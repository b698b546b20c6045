"""What leaves of what came back: of results, of the states of tasks, and of refusals."""

from dataclasses import replace

from gateway import jsontext
from gateway.case import Case
from gateway.relay.tasks import Tasks
from gateway.steps import verify
from gateway.steps.normalise import Normalise
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.values import value


@value
class Shaping:
    """Lets through what may leave, by what is decided now and was when a task began."""

    normalise: Normalise
    tasks: Tasks

    def leaving(self, case: Case, outcome: Answer | Refusal) -> Answer | Refusal:
        """Let go along with a refusal only what of the result may leave."""
        if isinstance(outcome, Answer):
            return outcome
        if case.call.method.is_task:
            outcome = self.normalise.refused(self.tasks.decided(case), outcome)
        return self.normalise.refused(case, outcome)

    def going_on(self, case: Case, answer: Answer) -> Answer | Refusal:
        """Let through what stands in place of a result, as far as that could leave."""
        size = len(jsontext.dump(answer.result))
        delivered = Delivered(result=answer.result, size=size)
        verified = verify.Verified(delivered=delivered, verification=answer.verification)
        left = self.normalise(case, verified)
        if isinstance(left, Refusal):
            executed = Execution.NO if case.is_plain_read else Execution.UNKNOWN
            return replace(left, executed=executed)
        return replace(answer, result=left.result, redactions=left.redactions)

    def shaped(self, case: Case, delivered: Delivered) -> Answer | Refusal:
        """Check what came back and let through what may leave."""
        method = case.call.method
        if method is Method.GET_TASK:
            ended = delivered.result.get("result")
            if isinstance(ended, dict):
                return self._task_ended(case, replace(delivered, result=ended), delivered.result)
            if ended is not None:
                reason = f"`{case.tool.server}` answered with a task whose result is no object"
                return Refusal(status=Status.RESULT_INVALID, code="result", reason=reason)
        verified = verify.check(case, delivered)
        if isinstance(verified, Refusal):
            return verified
        if method is not Method.CALL_TOOL and method.is_task:
            return self._as_then_and_now(case, verified)
        return self.normalise(case, verified)

    def _task_ended(self, case: Case, delivered: Delivered, task: JsonObject) -> Answer | Refusal:
        """Let through the result of a call that went on as a task, and what is said around it."""
        verified = verify.check(replace(case, call=_of_tool(case.call)), delivered)
        if isinstance(verified, Refusal):
            return verified
        answer = self._as_then_and_now(case, verified, _of_tool(case.call))
        if isinstance(answer, Refusal):
            return answer
        around = {name: member for name, member in task.items() if name != "result"}
        left = self.normalise.around(self.tasks.decided(case), around)
        left = left.joined(self.normalise.around(case, left.result))
        return replace(
            answer,
            result={**left.result, "result": answer.result},
            redactions=answer.redactions + left.count,
        )

    def _as_then_and_now(
        self, case: Case, verified: verify.Verified, call: ProposedCall | None = None
    ) -> Answer | Refusal:
        """Let through what may leave by what was decided when a task began, and by what is now."""
        then, call = self.tasks.decided(case), call or case.call
        answer = self.normalise(replace(then, call=call), verified)
        if isinstance(answer, Refusal):
            return answer
        left = replace(verified.delivered, result=answer.result, redactions=answer.redactions)
        return self.normalise(replace(case, call=call), replace(verified, delivered=left))


def _of_tool(call: ProposedCall) -> ProposedCall:
    return replace(call, method=Method.CALL_TOOL)
