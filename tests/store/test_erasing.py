"""What operations and requests keep of calls whose sealed copies are destroyed, on both engines."""

from typing import Any

import pytest

from gateway import jsontext
from gateway.store.retention import Hold
from gateway.store.sealed_copies import Scope
from gateway.store.store import Store
from gateway.types.guarantees import CompensationClass
from gateway.types.operations import ASKS_FIRST, Met, Operation, OpState, VerificationState
from tests.helpers.cases import NOW
from tests.helpers.databases import OpenStore
from tests.helpers.events import an_event
from tests.helpers.operations import LATER, claim, settle, wanted
from tests.helpers.sealed import sealed, shred
from tests.helpers.tampering import tamper


async def sent(store: Store, call: str, **changes: Any) -> Operation:
    """Seal a call of the operation `call`, and send it."""
    await sealed(store, call=call)
    asked = wanted(key=call, call_id=call, arguments="v1.asked", shown='{"who": "ana"}', **changes)
    return (await claim(store, asked)).operation


async def kept(store: Store, op: Operation) -> tuple[str, str]:
    found = await store.operations.get(op.op_id)
    assert found is not None
    return found.arguments, found.outcome


@pytest.mark.parametrize("scope", [Scope(call="call_1"), Scope(tenant="acme")])
@pytest.mark.parametrize(
    "state", [OpState.SUCCEEDED, OpState.FAILED_FINAL, OpState.FAILED_RETRYABLE]
)
async def test_a_settled_operation_lets_go_of_what_was_sealed_of_its_call(
    store: Store, scope: Scope, state: OpState
) -> None:
    taken = await sent(store, "call_1")
    await settle(store, taken, state, outcome="v1.answer", replay_until=LATER)
    found = await shred(store, scope)
    assert (found.copies, found.operations, found.open) == (1, 1, ())
    assert await kept(store, taken) == ("", "")
    left = await store.operations.get(taken.op_id)
    assert left is not None
    assert jsontext.parse(left.shown) == "(shredded)"


async def test_the_same_call_is_still_met_and_not_sent(store: Store) -> None:
    taken = await sent(store, "call_1")
    await settle(store, taken, OpState.SUCCEEDED, outcome="v1.answer", replay_until=LATER)
    await shred(store, Scope(call="call_1"))
    again = await claim(store, wanted(key="call_1", call_id="call_2", arguments="v1.asked"))
    assert (again.met, again.operation.op_id) == (Met.SETTLED, taken.op_id)


async def test_what_can_still_be_sent_or_checked_stays_is_named_and_goes_once_settled(
    store: Store,
) -> None:
    under_way, unknown = await sent(store, "call_1"), await sent(store, "call_2")
    checked, asks = await sent(store, "call_3"), await sent(store, "call_4")
    await settle(store, unknown, OpState.INDETERMINATE, outcome="v1.answer")
    pending = VerificationState.PENDING
    await settle(store, checked, OpState.SUCCEEDED, outcome="v1.answer", verification=pending)
    await settle(store, asks, OpState.FAILED_RETRYABLE, evidence=ASKS_FIRST)
    found = await shred(store, Scope(tenant="acme"))
    everything = {each.op_id for each in (under_way, unknown, checked, asks)}
    assert (found.copies, found.operations, set(found.open)) == (4, 0, everything)
    assert await kept(store, unknown) == ("v1.asked", "v1.answer")
    await settle(store, under_way, OpState.SUCCEEDED, outcome="v1.answer")
    again = await shred(store, Scope(tenant="acme"))
    assert (again.copies, again.operations, len(again.open)) == (0, 1, 3)
    assert await kept(store, under_way) == ("", "")
    events = [each.json() async for each in store.events.tail()]
    told = [each["body"] for each in events if "log_shredded" in str(each["body"])]
    assert ['"operations": 0' in str(each).replace("'", '"') for each in told] == [True, False]


@pytest.mark.parametrize("outcome", [None, "v1.corrected"])
async def test_a_check_that_had_read_the_answer_does_not_bring_it_back(
    store: Store, outcome: str | None
) -> None:
    taken = await sent(store, "call_1")
    await settle(store, taken, OpState.SUCCEEDED, outcome="v1.answer", replay_until=LATER)
    read = await store.operations.get(taken.op_id)
    assert read is not None
    await shred(store, Scope(call="call_1"))
    failed = VerificationState.FAILED
    assert await store.operations.verified(read, failed, [], check_at=LATER, outcome=outcome)
    assert await kept(store, taken) == ("", "")
    left = await store.operations.get(taken.op_id)
    assert left is not None
    assert left.verification is failed


async def test_what_undid_it_goes_with_it_and_what_was_not_sealed_stays(store: Store) -> None:
    taken = await sent(store, "call_1", compensation=CompensationClass.COMPENSATABLE)
    undoing = (
        await claim(
            store, wanted(key="u", call_id="call_u", compensates=taken.op_id, arguments="v1.undo")
        )
    ).operation
    other = (await claim(store, wanted(key="o", call_id="call_o", arguments="v1.o"))).operation
    for each in (taken, undoing, other):
        await settle(store, each, OpState.SUCCEEDED, outcome="v1.answer")
    found = await shred(store, Scope(tenant="acme"))
    assert found.operations == 2
    assert await kept(store, undoing) == ("", "")
    assert await kept(store, other) == ("v1.o", "v1.answer")


async def test_a_hold_that_came_after_the_copy_had_gone_keeps_the_rest(store: Store) -> None:
    taken = await sent(store, "call_1")
    await shred(store, Scope(call="call_1"))
    await settle(store, taken, OpState.SUCCEEDED, outcome="v1.answer")
    hold = Hold(tenant="acme", run="", reason="suit", by="ada", at=NOW)
    await store.retention.hold(hold, an_event())
    found = await shred(store, Scope(call="call_1"))
    assert (found.is_any, found.open) == (False, ())
    assert await kept(store, taken) == ("v1.asked", "v1.answer")


async def test_closed_requests_let_go_of_what_people_were_shown_and_open_ones_do_not(
    open_store: OpenStore, store_url: str
) -> None:
    store = open_store()
    taken = await sent(store, "call_1")
    await settle(store, taken, OpState.SUCCEEDED)
    for number, state in enumerate(("consumed", "pending")):
        tamper(
            store_url,
            f"INSERT INTO approvals ({', '.join(_NAMES)}) "
            f"SELECT {_approval(number, taken.op_id, state)}",
        )
    found = await shred(store, Scope(call="call_1"))
    assert (found.operations, found.requests) == (1, 1)
    rows = tamper(
        store_url, "SELECT state, presented, proposal FROM approvals", keeps_triggers=True
    )
    assert sorted(rows) == [("consumed", "", ""), ("pending", "v1.shown", "v1.shown")]


_NUMBERS = (
    *("version", "not_before", "decide_by", "use_by", "answer_until", "created_at", "decided_at"),
    *("escalated", "is_told", "left_at"),
)
_TEXTS = (
    *("tenant", "requester", "client", "run_id", "server", "tool", "call_id", "trace", "binding"),
    *("revision", "rule", "clause", "risk", "execute", "closed_reason", "consumed_by"),
    *("proposal_hash", "proposed_by", "replaces", "presented_digest"),
)
_NAMES = ("approval_id", "op_id", "state", "presented", "proposal", *_NUMBERS, *_TEXTS)


def _approval(number: int, op: str, state: str) -> str:
    numbers, texts = ", ".join("0" for _ in _NUMBERS), ", ".join("'x'" for _ in _TEXTS)
    return f"'apr_{number}', '{op}', '{state}', 'v1.shown', 'v1.shown', {numbers}, {texts}"
