"""Ends of held calls, told to who asks after them as tasks."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.revision import Unreviewed
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import Choice, Execute
from gateway.types.calls import Method
from gateway.types.extensions import TASKS
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Finished
from gateway.types.tools import Sensitivity
from tests.helpers.approvals import an_approver
from tests.helpers.cases import AbsentCaller, a_principal
from tests.helpers.held import ASK, House, a_house
from tests.helpers.writes import Counting, said

pytestmark = pytest.mark.postgres

OPEN = ASK + "    output: {keep: [/id, /iban]}\n"
NARROW = ASK + "    output: {keep: [/id]}\n"
HASHED = ASK + "    output: {redact: [{path: /iban, as: hash}]}\n"
DENIED = (
    ASK
    + """
  - {id: never, decision: deny, reason: nobody may any more, match: {tools: ["crm.put"]}}
"""
)


class Knowing(AbsentCaller):
    """A client that declares tasks."""

    @property
    def capabilities(self) -> JsonObject:
        return {"extensions": {TASKS: {}}}


async def carried_out(store: Store, policy: str = OPEN, **contract: Any) -> tuple[House, str]:
    """Return a house with a task whose call was approved and sent."""
    data: dict[str, Json] = {"id": 1, "iban": "DE02100"}
    answer = said("customer 1 has DE02100", structuredContent=data)
    house = a_house(store, Counting(answers=[answer]), policy=policy, **contract)
    task = str((await house.call(caller=Knowing())).result["taskId"])
    [approval] = await store.approvals.find(ApprovalFilter())
    assert approval.execute is Execute.ON_APPROVAL
    await house.people.deciding.decide(
        an_approver(), approval.approval_id, Choice.APPROVE, approval.binding
    )
    assert house.server.count == 0
    await house.call()  # whoever comes first has it sent
    assert house.server.count == 1
    return house, task


async def asked(house: House, task: str, **changes: Any) -> Finished:
    call = house.writes.proposed(
        {}, task, method=Method.GET_TASK, params={"taskId": task}, caller=Knowing(), **changes
    )
    return await house.writes.pipeline.handle(call)


async def result(house: House, task: str, **changes: Any) -> dict[str, Any]:
    told = (await asked(house, task, **changes)).result
    assert told["status"] == "completed"
    inner = told["result"]
    assert isinstance(inner, dict)
    return inner


def outcome(told: dict[str, Any]) -> dict[str, Any]:
    return told["_meta"]["weighbridge/outcome"]


async def test_a_task_ends_with_the_answer_of_its_call(store: Store) -> None:
    house, task = await carried_out(store)
    told = await result(house, task)
    assert told["structuredContent"] == {"id": 1, "iban": "DE02100"}
    assert "replayed" not in outcome(told)


@pytest.mark.parametrize("policy", [NARROW, HASHED])
async def test_what_policy_keeps_back_by_now_is_in_no_answer_of_a_task(
    store: Store, policy: str
) -> None:
    house, task = await carried_out(store)
    house.rule(policy)
    told = await result(house, task)
    assert told["structuredContent"]["id"] == 1
    assert "DE02100" not in str(told)
    assert outcome(told)["redactions"] == 1


async def test_a_field_that_a_contract_calls_secret_by_now_is_in_no_answer_of_a_task(
    store: Store,
) -> None:
    house, task = await carried_out(store)
    house.rule(OPEN, sensitive_results={"/iban": Sensitivity.SECRET})
    assert "DE02100" not in str(await result(house, task))


async def test_who_may_not_use_the_tool_any_more_learns_only_that_it_was_carried_out(
    store: Store,
) -> None:
    house, task = await carried_out(store)
    house.rule(DENIED)
    told = await result(house, task)
    assert told["isError"] is True
    assert "DE02100" not in str(told)
    said_of = outcome(told)
    assert (said_of["status"], said_of["code"]) == ("denied", "answer_withheld")
    assert (said_of["executed"], said_of["rule"]) == ("yes", "never")
    assert "may not be told any more: nobody may any more" in said_of["reason"]


async def test_rights_are_those_of_who_asks_and_not_those_of_then(store: Store) -> None:
    house, task = await carried_out(store)
    house.rule(OPEN, scopes=frozenset({"crm:write"}))
    told = outcome(await result(house, task))
    assert (told["status"], told["executed"]) == ("forbidden", "yes")
    holder = a_principal(scopes=frozenset({"crm:write"}))
    assert (await result(house, task, principal=holder))["structuredContent"]["id"] == 1


async def test_of_a_tool_without_a_contract_there_is_no_answer_any_more(store: Store) -> None:
    house, task = await carried_out(store)
    house.law.revision = replace(house.law.revision, contracts={}, unreviewed=Unreviewed.REFUSE)
    assert outcome(await result(house, task))["code"] == "outcome_lost"
