"""What counts as the same write: keys, other words, and a second time on purpose."""

import asyncio
from dataclasses import replace

import anyio
import pytest

from gateway import ids
from gateway.pipeline import Pipeline
from gateway.store.events import EventFilter
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.types import repeats
from gateway.types.guarantees import Idempotency, Injection, InjectPlace, OnVariant, Repeat
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Delivery,
    Execution,
    Failure,
    OpState,
    RetryClass,
    Undelivered,
)
from gateway.types.outcomes import Status
from tests.helpers.cases import a_principal
from tests.helpers.writes import Counting, outcome_of, said, text_of, writes

KEY = "weighbridge/idempotencyKey"
LOST = Undelivered(failure=Failure.CLOSED, executed=Execution.UNKNOWN, detail="gone")
UNSENT = Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail="away")


@pytest.mark.parametrize("place", InjectPlace)
async def test_a_key_goes_where_the_server_wants_it(store: Store, place: InjectPlace) -> None:
    name = "/note" if place is InjectPlace.ARGUMENT else "Idempotency-Key"
    inject = Injection(place=place, name=name)
    alpha = writes(store, idempotency=Idempotency(retry=RetryClass.KEYED, inject=inject))
    finished = await alpha.call({"v": 1, "note": "the model's own"})
    key = (await alpha.operation(finished)).downstream_key
    assert key
    asked = alpha.server.asked[0]
    sent = {
        InjectPlace.ARGUMENT: asked.params["arguments"],
        InjectPlace.META: asked.params.get("_meta"),
        InjectPlace.HEADER: asked.headers,
    }[place]
    assert isinstance(sent, dict)
    assert sent["note" if place is InjectPlace.ARGUMENT else "Idempotency-Key"] == key
    again = await alpha.call({"v": 1, "note": "another of the model's"})
    assert again.status is Status.OK
    # What the model wrote in the key's place is no part of what it asked for.
    assert alpha.server.count == (1 if place is InjectPlace.ARGUMENT else 2)


async def test_a_key_of_the_caller_counts_for_one_request(store: Store) -> None:
    """case: IDM-04"""
    alpha = writes(store)
    meta = {KEY: "k1"}
    first = await alpha.call({"v": 1}, meta=meta)
    other = await alpha.call({"v": 2}, meta=meta)
    null = await alpha.call({"v": 1, "note": "x"}, meta=meta)
    tool = await alpha.call({"v": 1}, "crm__drop", meta=meta)
    assert [each.status for each in (other, null, tool)] == [Status.IDEMPOTENCY_CONFLICT] * 3
    assert outcome_of(other)["details"] == [{"pointer": "/v"}]
    assert "new idempotency key" in outcome_of(other)["next"]
    again = await alpha.call({"v": 1}, meta=meta)
    assert (text_of(again), alpha.server.count) == (text_of(first), 1)


async def test_keys_of_different_callers_never_meet(store: Store) -> None:
    """case: IDM-05"""
    alpha = writes(store)
    for principal in (
        a_principal(),
        a_principal(subject="other", user="bo"),
        a_principal(tenant="globex"),
    ):
        finished = await alpha.call(meta={KEY: "order-1"}, principal=principal)
        assert "replayed" not in outcome_of(finished)
    assert alpha.server.count == 3


@pytest.mark.parametrize("key", ["", " ", "k" * 300, "ä", 7])
async def test_a_key_that_is_none_is_refused(store: Store, key: str | int) -> None:
    """case: IDM-05"""
    alpha = writes(store)
    finished = await alpha.call(meta={KEY: key})
    assert (finished.status, alpha.server.count) == (Status.INVALID_ARGUMENTS, 0)


@pytest.mark.parametrize("on", [OnVariant.CONFLICT, OnVariant.REPLAY])
async def test_other_words_for_the_same_intent_write_nothing(store: Store, on: OnVariant) -> None:
    idempotency = Idempotency(ignore=("/note",), on_variant=on, is_declared=True)
    alpha = writes(store, idempotency=idempotency)
    await alpha.call({"v": 1, "note": "please"})
    again = await alpha.call({"v": 1, "note": "now!"})
    assert alpha.server.count == 1
    if on is OnVariant.REPLAY:
        assert outcome_of(again)["replayed"] is True
    else:
        assert (again.status, outcome_of(again)["details"]) == (
            Status.VARIANT_OF,
            [{"pointer": "/note"}],
        )


def again_on_purpose(op_id: str, reason: str = "two are wanted") -> JsonObject:
    return {repeats.KEY: {"op_id": op_id, "reason": reason}}


async def test_a_host_may_repeat_a_settled_write_on_purpose_where_the_contract_lets_it(
    store: Store,
) -> None:
    inject = Injection(place=InjectPlace.META, name="key")
    alpha = writes(store, idempotency=Idempotency(repeat=Repeat.ALLOW, inject=inject))
    first = await alpha.operation(await alpha.call())
    meta = again_on_purpose(first.op_id, "two, says password=hunter22")
    second = await alpha.call(meta=meta)
    made = await alpha.operation(second)
    assert (second.status, alpha.server.count) == (Status.OK, 2)
    assert (made.generation, made.key.key) == (1, first.key.key)
    assert made.downstream_key != first.downstream_key
    # The same request once more, or the call itself, is no third one.
    for said_again in (meta, {}):
        repeated = await alpha.call(meta=said_again)
        assert outcome_of(repeated)["op_id"] == made.op_id
        assert outcome_of(repeated)["replayed"] is True
    assert alpha.server.count == 2
    [event] = [
        each.json()
        for each in await store.events.query(EventFilter(call=str(outcome_of(second)["call_id"])))
        if each.json()["kind"] == "authorization"
    ]
    body = event["body"]
    assert isinstance(body, dict)
    said = body["repeats"]
    assert isinstance(said, dict)
    assert said["op"] == first.op_id
    assert "hunter22" not in str(said["reason"])


@pytest.mark.parametrize(
    ("repeat", "status", "code"),
    [
        (Repeat.DENY, Status.DENIED, "repeat_denied"),
        (Repeat.APPROVE, Status.APPROVAL_DENIED, "no_approver"),
    ],
)
async def test_otherwise_nobody_may(
    store: Store, repeat: Repeat, status: Status, code: str
) -> None:
    alpha = writes(store, idempotency=Idempotency(repeat=repeat))
    first = await alpha.operation(await alpha.call())
    refused = await alpha.call(meta=again_on_purpose(first.op_id))
    assert (refused.status, outcome_of(refused)["code"]) == (status, code)
    assert alpha.server.count == 1


async def test_what_is_no_operation_of_this_call_is_not_repeated_nor_told_of(store: Store) -> None:
    alpha = writes(store, idempotency=Idempotency(repeat=Repeat.ALLOW))
    await alpha.call()
    others = await alpha.operation(await alpha.call({"v": 2}))
    strangers = await alpha.operation(await alpha.call(principal=a_principal(subject="other")))
    told: set[str] = set()
    for op_id in (others.op_id, strangers.op_id, ids.new("op")):
        refused = await alpha.call(meta=again_on_purpose(op_id))
        assert refused.status is Status.INVALID_ARGUMENTS
        assert "op_id" not in outcome_of(refused)
        told.add(text_of(refused))
    assert len(told) == 1
    unreadable = await alpha.call(meta={repeats.KEY: "again"})
    assert unreadable.status is Status.INVALID_ARGUMENTS
    assert alpha.server.count == 3


async def test_what_is_unknown_or_under_way_is_not_repeated(store: Store) -> None:
    alpha = writes(store, Counting(answers=[LOST]), idempotency=Idempotency(repeat=Repeat.ALLOW))
    lost = await alpha.operation(await alpha.call())
    refused = await alpha.call(meta=again_on_purpose(lost.op_id))
    assert (refused.status, alpha.server.count) == (Status.INDETERMINATE, 1)
    alpha.server.go.clear()
    alpha.server.came.clear()
    async with anyio.create_task_group() as tasks:
        other: JsonObject = {"v": 2}
        tasks.start_soon(alpha.call, other)
        await alpha.server.came.wait()
        [under_way] = await store.operations.find(OperationFilter(state="dispatching"))

        async def joins() -> None:
            joined = await alpha.call(other, meta=again_on_purpose(under_way.op_id))
            assert outcome_of(joined)["replayed"] is True

        tasks.start_soon(joins)
        alpha.server.go.set()
    assert alpha.server.count == 2


async def test_other_words_that_a_person_would_have_to_allow_write_nothing(store: Store) -> None:
    idempotency = Idempotency(ignore=("/note",), on_variant=OnVariant.APPROVE, is_declared=True)
    alpha = writes(store, idempotency=idempotency)
    await alpha.call({"v": 1, "note": "please"})
    again = await alpha.call({"v": 1, "note": "now!"})
    assert (again.status, outcome_of(again)["code"]) == (
        Status.APPROVAL_DENIED,
        "no_approver",
    )
    assert alpha.server.count == 1


NEVER = Idempotency(is_declared=True)


@pytest.mark.parametrize(
    "changed",
    [Idempotency(is_declared=True, ignore=("/note",)), Idempotency(key_from="/v")],
    ids=["fields", "business key"],
)
async def test_a_contract_that_changes_the_key_sends_nothing_a_second_time_that_nobody_knows(
    store: Store, changed: Idempotency
) -> None:
    """case: IDM-03"""
    asked: JsonObject = {"v": 1, "note": "x"}
    before = writes(store, Counting(answers=[LOST]), idempotency=NEVER)
    first = await before.call(asked)
    after = writes(store, idempotency=changed)
    again = await after.call(asked)
    assert (again.status, outcome_of(again)["op_id"]) == (
        Status.INDETERMINATE,
        outcome_of(first)["op_id"],
    )
    assert (await after.call({"v": 2, "note": "x"})).status is Status.OK
    assert after.server.count == 1
    unknown = await before.operation(first)
    assert await store.operations.mark(unknown, OpState.FAILED_RETRYABLE, "a person looked", [])
    assert (await after.call(asked)).status is Status.OK


async def test_a_renewed_credential_of_the_same_user_is_no_second_intent(store: Store) -> None:
    """case: IDM-03"""
    alpha = writes(store, Counting(answers=[LOST]), idempotency=NEVER)
    old, renewed = a_principal(client="key-2026"), a_principal(client="key-2027")
    first = await alpha.call(principal=old)
    again = await alpha.call(principal=renewed)
    assert (again.status, outcome_of(again)["op_id"]) == (
        Status.INDETERMINATE,
        outcome_of(first)["op_id"],
    )
    other = await alpha.call(principal=a_principal(user="bo", client="key-2027"))
    assert (other.status, alpha.server.count) == (Status.OK, 2)


async def test_what_is_under_way_under_another_key_is_neither_given_up_nor_sent_beside(
    store: Store,
) -> None:
    server = Counting()
    server.go.clear()
    alpha = writes(store, server, idempotency=NEVER)
    waiting = asyncio.ensure_future(alpha.call(principal=a_principal(client="key-2026")))
    await server.came.wait()
    again = await alpha.call(principal=a_principal(client="key-2027"))
    assert (again.status, server.count) == (Status.INDETERMINATE, 1)
    server.go.set()
    assert (await waiting).status is Status.OK


async def test_a_key_of_the_callers_own_says_that_a_call_is_another_one(store: Store) -> None:
    alpha = writes(store, Counting(answers=[LOST]), idempotency=NEVER)
    await alpha.call()
    assert (await alpha.call(meta={KEY: "k2"})).status is Status.OK
    assert alpha.server.count == 2


async def test_what_does_no_harm_twice_is_sent_beside_an_unknown_one(store: Store) -> None:
    alpha = writes(store, Counting(answers=[LOST]), idempotency=NEVER)
    asked: JsonObject = {"v": 1, "note": "x"}
    await alpha.call(asked)
    natural = writes(store, idempotency=Idempotency(retry=RetryClass.NATURAL, ignore=("/note",)))
    assert (await natural.call(asked)).status is Status.OK


async def test_a_key_that_has_moved_is_no_proof_that_the_server_knows_it_again(
    store: Store,
) -> None:
    def keyed(place: InjectPlace, name: str) -> Idempotency:
        inject = Injection(place=place, name=name)
        return Idempotency(retry=RetryClass.KEYED, inject=inject, is_declared=True)

    before = writes(
        store, Counting(answers=[LOST]), idempotency=keyed(InjectPlace.META, "reference")
    )
    first = await before.call()
    moved = writes(store, idempotency=keyed(InjectPlace.HEADER, "Idempotency-Key"))
    again = await moved.call()
    assert (again.status, outcome_of(again)["op_id"]) == (
        Status.INDETERMINATE,
        outcome_of(first)["op_id"],
    )
    assert (await before.call()).status is Status.OK
    assert (moved.server.count, before.server.count) == (0, 2)


@pytest.mark.parametrize(("known_for_s", "sends"), [(60.0, 2), (0.001, 1)])
async def test_a_key_that_its_server_has_forgotten_makes_nothing_sendable(
    store: Store, known_for_s: float, sends: int
) -> None:
    inject = Injection(place=InjectPlace.META, name="key", known_for_s=known_for_s)
    alpha = writes(
        store,
        Counting(answers=[LOST]),
        idempotency=Idempotency(retry=RetryClass.KEYED, inject=inject),
    )
    lost = await alpha.call()
    assert lost.status is Status.INDETERMINATE
    again = await alpha.call()
    assert again.status is (Status.OK if sends == 2 else Status.INDETERMINATE)
    assert alpha.server.count == sends


@pytest.mark.parametrize("answer", [LOST, said("no such customer", isError=True)])
async def test_a_key_that_goes_nowhere_makes_nothing_sendable(
    store: Store, answer: Delivery
) -> None:
    inject = Injection(place=InjectPlace.HEADER, name="Idempotency-Key")
    keyed = Idempotency(retry=RetryClass.KEYED, inject=inject, is_declared=True)

    def over_stdio(pipeline: Pipeline) -> Pipeline:
        return replace(pipeline, claim=replace(pipeline.claim, over_stdio=frozenset({"crm"})))

    alpha = writes(store, Counting(answers=[answer]), idempotency=keyed, change=over_stdio)
    first = await alpha.call()
    row = await alpha.operation(first)
    assert (row.retry, row.downstream_key, row.injection) == (RetryClass.NEVER, "", "")
    await alpha.call()
    assert alpha.server.count == 1


async def test_other_words_for_what_nobody_knows_are_not_told_to_repeat_it(store: Store) -> None:
    """case: IDM-02"""
    idempotency = Idempotency(ignore=("/note",), is_declared=True)
    alpha = writes(store, Counting(answers=[LOST]), idempotency=idempotency)
    assert (await alpha.call({"v": 1, "note": "a"})).status is Status.INDETERMINATE
    other = await alpha.call({"v": 1, "note": "b"})
    assert other.status is Status.VARIANT_OF
    assert "not known yet" in outcome_of(other)["next"]
