"""Ids of tasks: whose they are travels with them."""

from dataclasses import replace

from gateway.relay.tasks import Task, Tasks
from gateway.types.calls import Method
from gateway.types.operations import Delivered
from gateway.types.relay import Outbound
from tests.helpers.cases import a_call, a_case, a_principal
from tests.helpers.relays import some_states

TASKS = Tasks(seals=some_states().seals)
CREATED = Delivered(result={"resultType": "task", "taskId": "own-1", "status": "working"}, size=9)


def test_a_caller_gets_an_id_of_its_own_for_a_task() -> None:
    sealed = TASKS.sealed(a_case(), CREATED).result
    assert sealed["status"] == "working"
    token = sealed["taskId"]
    assert isinstance(token, str)
    assert "own-1" not in token
    assert TASKS.find(token, a_principal()) == Task(server="crm", tool="find", id="own-1")


def test_nobody_else_finds_it() -> None:
    token = str(TASKS.sealed(a_case(), CREATED).result["taskId"])
    assert TASKS.find(token, a_principal(user="eve")) is None
    assert TASKS.find(token, a_principal(tenant="globex")) is None
    assert TASKS.find("own-1", a_principal()) is None


def test_its_server_is_asked_by_its_own_id() -> None:
    token = str(TASKS.sealed(a_case(), CREATED).result["taskId"])
    call = replace(a_call(), method=Method.GET_TASK, name=token)
    outbound = Outbound(
        method=Method.GET_TASK, params={"taskId": token, "x": 1}, deadline_s=1, is_read=True
    )
    assert TASKS.unsealed(call, outbound).params == {"taskId": "own-1", "x": 1}


def test_a_result_without_an_id_stays_as_it_is() -> None:
    odd = Delivered(result={"taskId": 7}, size=9)
    assert TASKS.sealed(a_case(), odd) is odd
