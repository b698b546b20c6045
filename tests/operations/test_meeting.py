from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gateway.operations.meeting import Meeting, meet
from gateway.types.guarantees import OnVariant
from gateway.types.operations import FAILED, IntentKey, KeySource, Operation, OpState, RetryClass

NOW = 1_000
KEY = IntentKey(key="k", source=KeySource.DERIVED, scope="s", intent="i", arguments="a")
FOUND = Operation(
    op_id="op_1",
    tenant="acme",
    server="desk",
    tool="desk.refund",
    pin="p",
    revision="r",
    key=KEY,
    retry=RetryClass.NEVER,
    state=OpState.DISPATCHING,
    call_id="call_1",
    lease_until=NOW + 1,
    replay_until=NOW + 1,
)
WANTED = replace(FOUND, op_id="op_2", call_id="call_2", state=OpState.READY)
SETTLED = (
    OpState.SUCCEEDED,
    OpState.FAILED_FINAL,
    OpState.DENIED,
    OpState.COMPENSATING,
    OpState.COMPENSATED,
)


def met(
    state: OpState, wanted: Operation = WANTED, on: OnVariant = OnVariant.CONFLICT, **found: Any
) -> Meeting:
    return meet(replace(FOUND, state=state, **found), wanted, on_variant=on, now=NOW)


@pytest.mark.parametrize(
    ("state", "meeting"),
    [
        *((state, Meeting.SETTLED) for state in SETTLED),
        (OpState.PROPOSED, Meeting.JOIN),
        (OpState.AWAITING_APPROVAL, Meeting.JOIN),
        (OpState.DISPATCHING, Meeting.JOIN),
        (OpState.READY, Meeting.AGAIN),
        (OpState.FAILED_RETRYABLE, Meeting.AGAIN),
        (OpState.INDETERMINATE, Meeting.UNKNOWN),
        (OpState.ABANDONED, Meeting.NEW),
    ],
)
def test_the_same_call_meets(state: OpState, meeting: Meeting) -> None:
    assert met(state) is meeting


@pytest.mark.parametrize("state", OpState)
def test_no_other_intent_ever_gets_an_answer_of_this_one(state: OpState) -> None:
    """case: IDM-04"""
    other = replace(WANTED, key=replace(KEY, intent="i2", arguments="a2"))
    expected = Meeting.NEW if state is OpState.ABANDONED else Meeting.CONFLICT
    assert met(state, other) is expected
    assert met(state, replace(WANTED, tool="desk.close")) is expected


@pytest.mark.parametrize("state", [*SETTLED, OpState.DISPATCHING, OpState.INDETERMINATE])
def test_other_words_for_the_same_intent_are_a_variant(state: OpState) -> None:
    assert met(state, replace(WANTED, key=replace(KEY, arguments="a2"))) is Meeting.VARIANT


def test_a_contract_may_answer_other_words_with_what_is_there() -> None:
    other = replace(WANTED, key=replace(KEY, arguments="a2"))
    assert met(OpState.SUCCEEDED, other, OnVariant.REPLAY) is Meeting.SETTLED
    assert met(OpState.DISPATCHING, other, OnVariant.REPLAY) is Meeting.VARIANT


@pytest.mark.parametrize("state", OpState)
def test_time_makes_something_new_only_out_of_what_is_settled(state: OpState) -> None:
    """case: IDM-06"""
    expected = {*SETTLED, OpState.ABANDONED}
    assert (met(state, replay_until=NOW) is Meeting.NEW) == (state in expected)


def test_a_lease_that_ran_out_is_unknown_first() -> None:
    assert met(OpState.DISPATCHING, lease_until=NOW) is Meeting.LOST


def test_a_claim_that_is_repeated_finds_itself() -> None:
    assert met(OpState.DISPATCHING, replace(WANTED, call_id="call_1")) is Meeting.MINE


@pytest.mark.parametrize(
    ("retry", "key", "meeting"),
    [
        (RetryClass.NEVER, "d", Meeting.UNKNOWN),
        (RetryClass.QUERY, "d", Meeting.UNKNOWN),
        (RetryClass.NATURAL, "", Meeting.AGAIN),
        (RetryClass.KEYED, "d", Meeting.AGAIN),
        (RetryClass.KEYED, "", Meeting.UNKNOWN),
    ],
)
def test_an_unknown_outcome_is_sent_again_only_where_twice_is_once(
    retry: RetryClass, key: str, meeting: Meeting
) -> None:
    place = "header:Idempotency-Key"
    wanted = replace(WANTED, retry=retry, injection=place)
    sent: dict[str, Any] = {"retry": retry, "injection": place, "downstream_key": key}
    assert met(OpState.INDETERMINATE, wanted, lease_until=0, **sent) is meeting


def test_a_natural_change_is_not_sent_beside_a_request_that_is_still_open() -> None:
    natural = replace(WANTED, retry=RetryClass.NATURAL)
    for lease, meeting in ((NOW, Meeting.AGAIN), (NOW + 1, Meeting.JOIN)):
        sent: dict[str, Any] = {"retry": RetryClass.NATURAL, "lease_until": lease}
        assert met(OpState.INDETERMINATE, natural, **sent) is meeting


@pytest.mark.parametrize(
    ("before", "now", "meeting"),
    [
        ("arg:/reference", "arg:/reference", Meeting.AGAIN),
        ("arg:/reference", "arg:/idem_key", Meeting.UNKNOWN),
        ("arg:/reference", "", Meeting.UNKNOWN),
        ("", "", Meeting.UNKNOWN),
    ],
)
def test_a_key_is_known_again_only_in_the_place_that_it_had(
    before: str, now: str, meeting: Meeting
) -> None:
    keyed = RetryClass.KEYED
    wanted = replace(WANTED, retry=keyed, injection=now)
    sent: dict[str, Any] = {"retry": keyed, "downstream_key": "d", "injection": before}
    assert met(OpState.INDETERMINATE, wanted, **sent) is meeting
    assert met(OpState.FAILED_RETRYABLE, wanted, **sent) is Meeting.AGAIN


@pytest.mark.parametrize(("age", "meeting"), [(9, Meeting.AGAIN), (10, Meeting.UNKNOWN)])
def test_a_key_is_known_again_only_as_long_as_its_server_remembers_it(
    age: int, meeting: Meeting
) -> None:
    wanted = replace(WANTED, retry=RetryClass.KEYED, injection="meta:key")
    found = replace(
        FOUND,
        state=OpState.INDETERMINATE,
        retry=RetryClass.KEYED,
        injection="meta:key",
        downstream_key="d",
        created_at=NOW - age,
    )
    assert meet(found, wanted, on_variant=OnVariant.CONFLICT, now=NOW, known_for=10) is meeting
    natural = replace(WANTED, retry=RetryClass.NATURAL)
    sent = replace(found, retry=RetryClass.NATURAL, lease_until=NOW)
    assert meet(sent, natural, on_variant=OnVariant.CONFLICT, now=NOW, known_for=0) is Meeting.AGAIN


@pytest.mark.parametrize(
    ("now", "meeting"),
    [
        ({}, Meeting.AGAIN),
        ({"retry": RetryClass.NATURAL}, Meeting.AGAIN),
        ({"retry": RetryClass.READ}, Meeting.AGAIN),
        ({"retry": RetryClass.NEVER}, Meeting.SETTLED),
        ({"injection": "meta:other"}, Meeting.SETTLED),
    ],
)
def test_an_error_is_made_again_only_where_it_still_does_no_harm(
    now: dict[str, Any], meeting: Meeting
) -> None:
    sent = replace(
        FOUND,
        state=OpState.FAILED_RETRYABLE,
        evidence=FAILED,
        retry=RetryClass.KEYED,
        injection="meta:key",
        downstream_key="d",
        created_at=NOW - 9,
    )
    wanted = replace(WANTED, **({"retry": RetryClass.KEYED, "injection": "meta:key"} | now))
    met = partial(meet, on_variant=OnVariant.CONFLICT, now=NOW)
    assert met(sent, wanted) is meeting
    forgotten = Meeting.AGAIN if wanted.retry is RetryClass.READ else Meeting.SETTLED
    assert met(sent, wanted, known_for=9) is forgotten
    assert met(replace(sent, evidence="it was never sent"), wanted) is Meeting.AGAIN
    if meeting is Meeting.SETTLED:
        assert met(replace(sent, replay_until=NOW), wanted) is Meeting.NEW
        assert met(sent, wanted, on_purpose=True) is Meeting.NEW


def test_a_contract_that_became_safer_frees_nothing_that_was_sent_before() -> None:
    wanted = replace(WANTED, retry=RetryClass.NATURAL)
    assert met(OpState.INDETERMINATE, wanted) is Meeting.UNKNOWN
    stricter = met(OpState.INDETERMINATE, WANTED, retry=RetryClass.NATURAL)
    assert stricter is Meeting.UNKNOWN


def test_a_natural_change_is_made_again_once_it_is_done() -> None:
    natural = replace(WANTED, retry=RetryClass.NATURAL)
    assert met(OpState.SUCCEEDED, natural) is Meeting.NEW
    assert met(OpState.FAILED_FINAL, natural) is Meeting.SETTLED


def test_the_same_request_of_a_host_is_answered_whatever_time_has_passed() -> None:
    """case: IDM-01"""
    key = replace(KEY, transport="t")
    wanted = replace(WANTED, key=key, retry=RetryClass.NATURAL)
    assert met(OpState.SUCCEEDED, wanted, key=key, replay_until=0) is Meeting.SETTLED
    other = replace(wanted, key=replace(key, transport="t2"))
    assert met(OpState.SUCCEEDED, other, key=key, replay_until=0) is Meeting.NEW


@pytest.mark.parametrize("state", OpState)
def test_on_purpose_only_what_is_settled_and_stands_is_made_anew(state: OpState) -> None:
    found = replace(FOUND, state=state)
    usual = meet(found, WANTED, on_variant=OnVariant.CONFLICT, now=NOW)
    met_again = meet(found, WANTED, on_variant=OnVariant.CONFLICT, now=NOW, on_purpose=True)
    stands = (OpState.SUCCEEDED, OpState.FAILED_FINAL, OpState.COMPENSATED)
    assert met_again is (Meeting.NEW if state in stands else usual)


@pytest.mark.parametrize("on", OnVariant)
def test_on_purpose_other_words_or_another_intent_are_what_they_are_otherwise(
    on: OnVariant,
) -> None:
    found = replace(FOUND, state=OpState.SUCCEEDED)
    for key in (replace(KEY, arguments="b"), replace(KEY, intent="j", arguments="b")):
        wanted = replace(WANTED, key=key)
        usual = meet(found, wanted, on_variant=on, now=NOW)
        assert meet(found, wanted, on_variant=on, now=NOW, on_purpose=True) is usual
