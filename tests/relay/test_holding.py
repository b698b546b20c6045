"""Calls that wait for a decision: held, asked, told to come back."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.errors import AskRefused, AskUnanswered
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import (
    Approval,
    ApprovalNotes,
    ApprovalState,
    Assurance,
    Cast,
    Channel,
    Choice,
)
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Status
from gateway.types.own import Own
from tests.helpers.approvals import an_approver
from tests.helpers.cases import AbsentCaller, a_principal
from tests.helpers.held import House, a_house
from tests.helpers.writes import outcome_of, text_of

pytestmark = pytest.mark.postgres

_OPEN = ApprovalFilter(is_open=True)
SELF = """rules:
  - id: confirm
    decision: require_approval
    match: {tools: ["crm.put"]}
    approval: {approvers: {users: [self]}, expires: 1h}
"""


async def test_a_call_that_is_held_goes_on_by_itself_once_it_is_approved(store: Store) -> None:
    house = a_house(store, hold_s=30)
    async with asyncio.TaskGroup() as tasks:
        held = tasks.create_task(house.call())
        [approval] = await _until_asked(store)
        await house.people.deciding.decide(
            an_approver(), approval, Choice.APPROVE, (await _binding(store, approval))
        )
        done = await held
    assert done.status is Status.OK
    assert house.server.count == 1


async def test_who_leaves_while_nobody_has_decided_finds_the_request_again(store: Store) -> None:
    """case: APR-04"""
    house = a_house(store, hold_s=30)
    held = asyncio.ensure_future(house.call())
    [approval] = await _until_asked(store)
    held.cancel()
    await asyncio.wait({held})
    found = await store.approvals.get(approval)
    assert found is not None
    assert found.state is ApprovalState.PENDING
    await house.people.deciding.decide(an_approver(), approval, Choice.APPROVE, found.binding)
    assert (await house.call()).status is Status.OK
    assert house.server.count == 1


async def test_who_waits_at_one_gateway_gets_the_answer_of_what_another_has_sent(
    store: Store,
) -> None:
    """case: APR-08"""
    here, there, used = a_house(store, hold_s=30), a_house(store), asyncio.Event()

    async def look_late(approval_id: str) -> Approval | None:
        await used.wait()
        return await store.approvals.get(approval_id)

    here.people.holding.find = look_late
    async with asyncio.TaskGroup() as tasks:
        held = tasks.create_task(here.call())
        [approval] = await _until_asked(store)
        await there.people.deciding.decide(
            an_approver(), approval, Choice.APPROVE, await _binding(store, approval)
        )
        sent = await there.call()
        used.set()
        told = await held
    assert (sent.status, text_of(sent)) == (Status.OK, "done 1")
    assert (told.status, text_of(told)) == (Status.OK, "done 1")
    assert outcome_of(told)["replayed"] is True
    assert (here.server.count, there.server.count) == (0, 1)


@dataclass(kw_only=True)
class Asked(AbsentCaller):
    """A client that shows forms, and answers them from a list."""

    answers: list[JsonObject | AskRefused] = field(default_factory=list[JsonObject | AskRefused])
    asked: list[JsonObject] = field(default_factory=list[JsonObject])
    told: list[str] = field(default_factory=list[str])
    era: Era = Era.LEGACY
    wants_progress: bool = True
    form: JsonObject = field(default_factory=dict[str, Json])

    @property
    def capabilities(self) -> JsonObject:
        return {"elicitation": self.form}

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        self.told.append(message or "")

    async def ask(self, method: str, params: JsonObject, *, within_s: float) -> JsonObject:
        assert method == "elicitation/create"
        assert within_s <= 600
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, AskRefused):
            raise answer
        return answer


def accepted(**content: Json) -> JsonObject:
    return {"action": "accept", "content": content}


async def test_a_caller_of_the_handshake_era_is_asked_while_its_call_is_open(store: Store) -> None:
    house, caller = a_house(store, policy=SELF), Asked(answers=[accepted(decision="approve")])
    done = await house.call(caller=caller)
    assert done.status is Status.OK
    [vote] = await _votes(house)
    assert (vote.channel, vote.assurance) == (Channel.ELICITATION, Assurance.CLIENT_ASSERTED)
    schema = caller.asked[0]["requestedSchema"]
    assert isinstance(schema, dict)
    assert schema["required"] == ["decision"]
    assert "default" not in str(schema)


async def test_a_stateless_caller_is_asked_by_an_answer_and_decides_by_its_next_request(
    store: Store,
) -> None:
    house, caller = a_house(store, policy=SELF), Asked(era=Era.MODERN)
    asked = await house.call(caller=caller)
    assert asked.status is Status.INPUT_REQUIRED
    assert house.server.count == 0
    done = await house.call(caller=caller, params=_back(asked, accepted(decision="approve")))
    assert done.status is Status.OK
    assert house.server.count == 1
    replayed = await house.call(caller=caller, params=_back(asked, accepted(decision="approve")))
    assert outcome_of(replayed)["replayed"] is True
    assert house.server.count == 1


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"action": "decline"}, Status.APPROVAL_DENIED),
        (accepted(decision="deny"), Status.APPROVAL_DENIED),
        ({"action": "cancel"}, Status.APPROVAL_PENDING),
        (accepted(), Status.APPROVAL_PENDING),
        ({"action": "accept"}, Status.APPROVAL_PENDING),
        (accepted(decision="yes"), Status.APPROVAL_PENDING),
        (accepted(decision="approve", more="than asked"), Status.OK),
        (AskUnanswered(-32001, "too late"), Status.APPROVAL_PENDING),
        (AskRefused(-32600, "broken"), Status.APPROVAL_PENDING),
    ],
)
@pytest.mark.parametrize("era", list(Era))
async def test_only_a_clear_word_of_the_client_decides(
    store: Store, era: Era, answer: JsonObject | AskRefused, status: Status
) -> None:
    house, caller = a_house(store, policy=SELF), Asked(era=era, answers=[answer])
    finished = await house.call(caller=caller)
    if era is Era.MODERN:
        if isinstance(answer, AskRefused):
            return  # nobody asks in this era
        finished = await house.call(caller=caller, params=_back(finished, answer))
    assert finished.status is status
    assert house.server.count == (1 if status is Status.OK else 0)


async def test_a_client_that_shows_no_forms_is_not_asked(store: Store) -> None:
    house, caller = a_house(store, policy=SELF), Asked(form={"url": {}})
    assert (await house.call(caller=caller)).status is Status.APPROVAL_PENDING
    assert caller.asked == []


async def test_a_rule_may_want_no_other_way_than_the_client(store: Store) -> None:
    policy = SELF.replace("expires: 1h", "expires: 1h, fallback: deny")
    house = a_house(store, policy=policy)
    denied = await house.call(caller=Asked(form={"url": {}}))
    assert (denied.status, outcome_of(denied)["code"]) == (
        Status.APPROVAL_DENIED,
        "client_cannot_ask",
    )


async def test_where_the_rule_names_others_the_client_is_never_asked(store: Store) -> None:
    """case: APR-03"""
    house, caller = a_house(store), Asked(answers=[accepted(decision="approve")])
    assert (await house.call(caller=caller)).status is Status.APPROVAL_PENDING
    assert caller.asked == []


async def test_the_answer_to_another_call_decides_nothing(store: Store) -> None:
    house, caller = a_house(store, policy=SELF), Asked(era=Era.MODERN)
    asked = await house.call({"v": 1}, caller=caller)
    stolen = await house.call(
        {"v": 2}, caller=caller, params=_back(asked, accepted(decision="approve"))
    )
    assert stolen.error is not None
    assert stolen.error.code == -32602
    assert house.server.count == 0


async def test_a_held_call_tells_what_it_waits_for(store: Store) -> None:
    house, caller = a_house(store, hold_s=0.3), Asked()
    await house.call(caller=caller)
    [told] = caller.told
    assert told.startswith("waiting for approval by lead (apr_")


async def test_a_request_that_is_taken_back_ends_the_wait_and_asks_nobody_anew(
    store: Store,
) -> None:
    house = a_house(store, hold_s=30)
    async with asyncio.TaskGroup() as tasks:
        held = tasks.create_task(house.call())
        [approval] = await _until_asked(store)
        found = await store.approvals.get(approval)
        assert found is not None
        await house.people.deciding.call_off(found, "no longer needed")
        told = await held
    assert (told.status, outcome_of(told)["code"]) == (
        Status.APPROVAL_DENIED,
        "approval_cancelled",
    )
    assert await store.approvals.find(_OPEN) == []


async def test_who_leaves_ends_the_request_where_the_contract_wants_that(store: Store) -> None:
    """case: APR-04"""
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    held = asyncio.ensure_future(house.call())
    [approval] = await _until_asked(store)
    held.cancel()
    await asyncio.wait({held})
    found = await store.approvals.get(approval)
    assert found is not None
    assert (found.state, found.closed_reason) == (
        ApprovalState.CANCELLED,
        "its caller went away while it was held",
    )
    late = await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, found.binding
    )
    assert late.cast is Cast.ALREADY_DECIDED
    assert house.server.count == 0


async def test_a_request_for_which_another_caller_still_waits_stays(store: Store) -> None:
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    first = asyncio.ensure_future(house.call())
    [approval] = await _until_asked(store)
    seen: list[str] = []
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    second = asyncio.ensure_future(house.call())
    await _until(lambda: seen)
    first.cancel()
    await asyncio.wait({first})
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await _binding(store, approval)
    )
    assert (await second).status is Status.OK
    assert house.server.count == 1


@pytest.mark.parametrize("leaves", [True, False])
async def test_a_gateway_that_stops_lets_its_callers_go_and_ends_no_request(
    store: Store, leaves: bool
) -> None:
    """case: APR-07"""
    house = a_house(store, hold_s=30, approval=ApprovalNotes(cancel_on_disconnect=True))
    held = asyncio.ensure_future(house.call())
    [approval] = await _until_asked(store)
    house.people.holding.close()
    if leaves:
        held.cancel()
        await asyncio.wait({held})
    else:
        told = outcome_of(await held)
        assert (told["status"], told["approval_id"]) == ("approval_pending", approval)
    found = await store.approvals.get(approval)
    assert found is not None
    assert found.state is ApprovalState.PENDING


async def test_of_one_request_four_calls_are_held_and_one_more_is_told_at_once(
    store: Store,
) -> None:
    house, seen = a_house(store, hold_s=30), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = [asyncio.ensure_future(house.call()) for _ in range(4)]
    await _until(lambda: len(seen) == 4)
    async with asyncio.timeout(10):
        told = await house.call()
    assert told.status is Status.APPROVAL_PENDING
    held[0].cancel()  # and gives its place back
    await asyncio.wait({held[0]})
    fifth = asyncio.ensure_future(house.call())
    await _until(lambda: len(seen) == 6)
    [approval] = await _until_asked(store)
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await _binding(store, approval)
    )
    assert [(await each).status for each in (*held[1:], fifth)] == [Status.OK] * 4
    assert house.server.count == 1


async def test_one_principal_takes_up_a_quarter_of_the_places_also_by_waiting_for_requests(
    store: Store,
) -> None:
    settings = {"hold": {"default": "30s", "most": 4}}
    house, seen = a_house(store, settings=settings, own_tools=True), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = asyncio.ensure_future(house.call({"v": 1}))
    await _until(lambda: seen)
    async with asyncio.timeout(10):
        assert (await house.call({"v": 2})).status is Status.APPROVAL_PENDING
        waited = await house.writes.call({"approval_id": seen[0]}, Own.WAIT)
    assert waited.result["structuredContent"]["status"] == "pending"  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue, reportOptionalSubscript] - JSON
    other = asyncio.ensure_future(house.call({"v": 3}, principal=a_principal(user="kim")))
    await _until(lambda: len(seen) == 3)
    assert not other.done()
    held.cancel()
    other.cancel()
    await asyncio.wait({held, other})


async def test_a_client_that_comes_back_by_itself_does_not_where_no_place_is_free(
    store: Store,
) -> None:
    settings = {"hold": {"default": "30s", "rounds": ["driver-*"], "most": 1}}
    house, seen = a_house(store, settings=settings), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = asyncio.ensure_future(house.call())
    await _until(lambda: seen)
    caller = Asked(era=Era.MODERN, form={"url": {}})
    async with asyncio.timeout(10):
        told = await house.call(caller=caller, client_name="driver-1")
    assert told.status is Status.APPROVAL_PENDING
    held.cancel()
    await asyncio.wait({held})


async def test_a_client_is_not_asked_live_where_no_place_is_free(store: Store) -> None:
    settings = {"hold": {"default": "30s", "most": 1}}
    house, seen = a_house(store, policy=SELF, settings=settings), list[str]()
    house.people.holding.held = lambda call_id, held: seen.append(held.approval_id)
    held = asyncio.ensure_future(house.call(caller=Asked(form={"url": {}})))
    await _until(lambda: seen)
    caller = Asked(answers=[accepted(decision="approve")])
    async with asyncio.timeout(10):
        assert (await house.call(caller=caller)).status is Status.APPROVAL_PENDING
    assert caller.asked == []
    held.cancel()
    await asyncio.wait({held})


ROUNDS = {"hold": {"default": "0s", "rounds": ["driver-*"]}}


async def _rounds(house: House, caller: Asked, name: str = "driver-1", **changes: Any) -> Any:
    """Come back with each bare state, as drivers do; return all results."""
    results = [await house.call(caller=caller, client_name=name)]
    while results[-1].status is Status.INPUT_REQUIRED:
        assert "inputRequests" not in results[-1].result
        params = {"requestState": results[-1].result["requestState"]}
        again = await house.call(caller=caller, client_name=name, params=params, **changes)
        results.append(again)
    return results


async def test_a_client_that_comes_back_by_itself_does_so_eight_times_and_is_then_told(
    store: Store,
) -> None:
    house, caller = a_house(store, settings=ROUNDS), Asked(era=Era.MODERN, form={"url": {}})
    *rounds, last = await _rounds(house, caller)
    assert len(rounds) == 8
    assert last.status is Status.APPROVAL_PENDING
    assert len(await store.approvals.find(_OPEN)) == 1


@pytest.mark.parametrize(
    ("name", "era"), [("driver-1", Era.LEGACY), ("other", Era.MODERN), ("", Era.MODERN)]
)
async def test_other_clients_are_told_at_once(store: Store, name: str, era: Era) -> None:
    house, caller = a_house(store, settings=ROUNDS), Asked(era=era, form={"url": {}})
    [told] = await _rounds(house, caller, name)
    assert told.status is Status.APPROVAL_PENDING


async def test_a_round_after_the_decision_sends_the_call_and_one_more_gets_the_same_answer(
    store: Store,
) -> None:
    house, caller = a_house(store, settings=ROUNDS), Asked(era=Era.MODERN, form={"url": {}})
    asked = await house.call(caller=caller, client_name="driver-1")
    back: JsonObject = {"requestState": asked.result["requestState"]}
    [approval] = await _until_asked(store)
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await _binding(store, approval)
    )
    done = await house.call(caller=caller, client_name="driver-1", params=back)
    again = await house.call(caller=caller, client_name="driver-1", params=back)
    assert (done.status, again.status) == (Status.OK, Status.OK)
    assert outcome_of(again)["replayed"] is True
    assert house.server.count == 1


async def test_the_state_of_another_principal_is_refused_and_tells_nothing(store: Store) -> None:
    """case: APR-03"""
    house, caller = a_house(store, settings=ROUNDS), Asked(era=Era.MODERN, form={"url": {}})
    asked = await house.call(caller=caller, client_name="driver-1")
    [approval] = await _until_asked(store)
    await house.people.deciding.decide(
        an_approver(), approval, Choice.APPROVE, await _binding(store, approval)
    )
    stolen = await house.call(
        caller=caller,
        client_name="driver-1",
        principal=a_principal(user="eve"),
        params={"requestState": asked.result["requestState"]},
    )
    assert stolen.error is not None
    assert stolen.error.code == -32602
    assert approval not in str(stolen)
    assert house.server.count == 0


def _back(asked: Any, answer: JsonObject) -> JsonObject:
    """Return the params of the next round."""
    return {
        "requestState": asked.result["requestState"],
        "inputResponses": {"confirm": answer},
    }


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(15):
        while not condition():
            await asyncio.sleep(0.01)


async def _votes(house: House) -> Any:
    [approval] = await house.writes.store.approvals.find(ApprovalFilter())
    return await house.writes.store.approvals.votes(approval.approval_id)


async def _until_asked(store: Store) -> list[str]:
    async with asyncio.timeout(15):
        while True:
            found = await store.approvals.find(_OPEN)
            if found:
                return [each.approval_id for each in found]
            await asyncio.sleep(0.01)


async def _binding(store: Store, approval_id: str) -> str:
    found = await store.approvals.get(approval_id)
    assert found is not None
    return found.binding
