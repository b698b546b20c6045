"""Ids of tasks: whose they are travels with them."""

from dataclasses import replace

from gateway.relay.tasks import Task, Tasks
from gateway.types.calls import Method, ProposedCall
from gateway.types.decisions import (
    Decision,
    DecisionEffect,
    OutputPolicy,
    RedactAs,
    Redaction,
)
from gateway.types.operations import Delivered
from gateway.types.relay import Outbound
from tests.helpers.cases import a_call, a_case, a_principal
from tests.helpers.relays import some_states

TASKS = Tasks(seals=some_states().seals)
CREATED = Delivered(result={"resultType": "task", "taskId": "own-1", "status": "working"}, size=9)


def asking_after(token: str, **who: str) -> ProposedCall:
    return replace(a_call(), method=Method.GET_TASK, name=token, principal=a_principal(**who))


def test_a_caller_gets_an_id_of_its_own_for_a_task() -> None:
    sealed = TASKS.created(a_case(), CREATED).result
    assert sealed["status"] == "working"
    token = sealed["taskId"]
    assert isinstance(token, str)
    assert "own-1" not in token
    assert TASKS.find(asking_after(token)) == Task(
        server="crm", tool="find", id="own-1", output=OutputPolicy()
    )


def test_nobody_else_finds_it() -> None:
    token = str(TASKS.created(a_case(), CREATED).result["taskId"])
    assert TASKS.find(asking_after(token, user="eve")) is None
    assert TASKS.find(asking_after(token, tenant="globex")) is None
    assert TASKS.find(asking_after("own-1")) is None


def test_what_may_leave_was_decided_when_the_task_began() -> None:
    output = OutputPolicy(keep=("/a",), redact=(Redaction(path="/a/b", form=RedactAs.HASH),))
    case = a_case(decision=Decision(effect=DecisionEffect.ALLOW, output=output))
    token = str(TASKS.created(case, CREATED).result["taskId"])
    later = a_case(call=asking_after(token), decision=Decision(effect=DecisionEffect.ALLOW))
    assert TASKS.decided(later).decision.output == output


def test_a_caller_hears_of_a_task_under_its_own_name_for_it() -> None:
    case = a_case(call=asking_after("token"))
    told = TASKS.named(case, Delivered(result={"taskId": "own-1", "status": "working"}, size=1))
    assert told.result == {"taskId": "token", "status": "working"}
    empty = Delivered(result={}, size=1)
    assert TASKS.named(case, empty) is empty


def test_its_server_is_asked_by_its_own_id() -> None:
    token = str(TASKS.created(a_case(), CREATED).result["taskId"])
    call = asking_after(token)
    outbound = Outbound(
        method=Method.GET_TASK, params={"taskId": token, "x": 1}, deadline_s=1, is_read=True
    )
    assert TASKS.unsealed(call, outbound).params == {"taskId": "own-1", "x": 1}


def test_a_result_without_an_id_stays_as_it_is() -> None:
    odd = Delivered(result={"taskId": 7}, size=9)
    assert TASKS.created(a_case(), odd) is odd
