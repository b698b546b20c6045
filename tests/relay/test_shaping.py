"""What leaves of what came back."""

from gateway.relay.shaping import Shaping
from gateway.steps.normalise import Normalise
from gateway.types.calls import Method
from gateway.types.operations import Delivered, Execution
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.tools import Effect
from tests.helpers.cases import a_call, a_case
from tests.helpers.pipelines import a_relay, digest

SHAPING = Shaping(
    normalise=Normalise(max_result_bytes=200, digest=digest), tasks=a_relay().rounds.tasks
)
CASE = a_case(effect=Effect.READ)
MARKED = {"_meta": {"weighbridge/untrusted": {"server": "crm"}}}


def test_an_answer_leaves_as_it_is_shaped() -> None:
    delivered = Delivered(result={"content": []}, size=10)
    answer = SHAPING.shaped(CASE, delivered)
    assert isinstance(answer, Answer)
    assert answer.result == {"content": [], **MARKED}
    assert SHAPING.leaving(CASE, answer) is answer


def test_a_task_whose_result_is_no_object_is_no_answer() -> None:
    case = a_case(effect=Effect.READ, call=a_call(method=Method.GET_TASK))
    met = SHAPING.shaped(case, Delivered(result={"result": "done"}, size=10))
    assert isinstance(met, Refusal)
    assert met.status is Status.RESULT_INVALID


def test_what_stands_in_place_of_a_result_is_held_against_the_same_bounds() -> None:
    small = Answer(result={"content": []}, status=Status.INPUT_REQUIRED)
    going_on = SHAPING.going_on(CASE, small)
    assert isinstance(going_on, Answer)
    assert (going_on.status, going_on.result) == (
        Status.INPUT_REQUIRED,
        {"content": [], **MARKED},
    )
    large = Answer(result={"content": [], "structuredContent": {"x": "x" * 999}})
    met = SHAPING.going_on(CASE, large)
    assert isinstance(met, Refusal)
    assert met.executed is Execution.UNKNOWN
