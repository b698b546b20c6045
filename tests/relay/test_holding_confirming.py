"""Calls that their own user confirms: only a clear word of the client decides."""

import pytest

from gateway.errors import AskRefused, AskUnanswered
from gateway.store.store import Store
from gateway.types.approvals import (
    Assurance,
    Channel,
)
from gateway.types.calls import Era
from gateway.types.json import JsonObject
from gateway.types.outcomes import Status
from tests.helpers.held import a_house
from tests.helpers.writes import outcome_of
from tests.relay.waiting import SELF, Asked, accepted, back, votes

pytestmark = pytest.mark.postgres


async def test_a_caller_of_the_handshake_era_is_asked_while_its_call_is_open(store: Store) -> None:
    house, caller = a_house(store, policy=SELF), Asked(answers=[accepted(decision="approve")])
    done = await house.call(caller=caller)
    assert done.status is Status.OK
    [vote] = await votes(house)
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
    done = await house.call(caller=caller, params=back(asked, accepted(decision="approve")))
    assert done.status is Status.OK
    assert house.server.count == 1
    replayed = await house.call(caller=caller, params=back(asked, accepted(decision="approve")))
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
        finished = await house.call(caller=caller, params=back(finished, answer))
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
        {"v": 2}, caller=caller, params=back(asked, accepted(decision="approve"))
    )
    assert stolen.error is not None
    assert stolen.error.code == -32602
    assert house.server.count == 0
