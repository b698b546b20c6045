"""Asking a server whether a write took place."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.case import Case
from gateway.crossing.lookups import Found, lookup
from gateway.crossing.reads import NotRead
from gateway.types.causes import Cause
from gateway.types.guarantees import CallTemplate, Idempotency, Lookup
from gateway.types.json import Json
from tests.helpers.cases import a_case, a_contract
from tests.helpers.operations import wanted
from tests.helpers.reads import BUSY, DENIED, NOT_FOUND, Scripted

SENT = 1_000_000_000
MINUTE = 60_000_000
SENT_ONCE = replace(wanted(), downstream_key="k-7", dispatched_at=SENT)
BY_KEY: dict[str, Json] = {"key": "$op.key", "about": "$op.id", "amount": "$args.amount"}


def a_write(found: str = "size(result.items) > 0", **changes: Any) -> Case:
    declared = Lookup(
        call=CallTemplate(tool="crm.search", args=BY_KEY), found=found, absent_after_s=60
    )
    contract = a_contract(idempotency=Idempotency(lookup=declared))
    fields: dict[str, Any] = {"contract": contract, "arguments": {"amount": 3}}
    return a_case(**(fields | changes))


async def test_a_lookup_is_told_from_a_check() -> None:
    reads = Scripted([{"items": [1]}])
    await lookup(reads, a_write(), SENT_ONCE, now_us=SENT, deadline_s=1)
    assert reads.causes == [Cause.LOOKUP]


async def asked(
    answer: Json | NotRead | Exception, case: Case | None = None, *, now_us: int = SENT + MINUTE
) -> Found:
    reads = Scripted([answer])
    return await lookup(reads, case or a_write(), SENT_ONCE, now_us=now_us, deadline_s=1)


async def test_what_is_found_has_happened_however_early() -> None:
    assert await asked({"items": [1]}, now_us=SENT) is Found.HAPPENED


async def test_a_server_is_asked_by_the_key_it_was_given() -> None:
    reads = Scripted([{"items": []}])
    await lookup(reads, a_write(), SENT_ONCE, now_us=SENT, deadline_s=1.5)
    args = {"key": "k-7", "about": SENT_ONCE.op_id, "amount": 3}
    assert (reads.asked, reads.deadlines) == ([("crm.search", args)], [1.5])


async def test_what_is_not_found_is_absent_once_nothing_can_be_under_way() -> None:
    assert await asked({"items": []}, now_us=SENT + MINUTE - 1) is Found.UNKNOWN
    assert await asked({"items": []}, now_us=SENT + MINUTE) is Found.ABSENT


async def test_a_clock_that_went_back_proves_nothing() -> None:
    assert await asked({"items": []}, now_us=SENT - MINUTE) is Found.UNKNOWN


async def test_nothing_is_absent_that_was_never_seen_sent() -> None:
    unsent = replace(SENT_ONCE, dispatched_at=0)
    reads = Scripted([{"items": []}])
    found = await lookup(reads, a_write(), unsent, now_us=SENT + MINUTE, deadline_s=1)
    assert found is Found.UNKNOWN


@pytest.mark.parametrize(
    "answer", [NOT_FOUND, BUSY, DENIED, None, {}, [], "none", {"items": 7}, RuntimeError("x")]
)
async def test_whatever_goes_wrong_proves_nothing(answer: Json | NotRead | Exception) -> None:
    assert await asked(answer) is Found.UNKNOWN


async def test_without_a_key_nobody_is_asked() -> None:
    reads = Scripted([{"items": []}])
    keyless = replace(SENT_ONCE, downstream_key="")
    found = await lookup(reads, a_write(), keyless, now_us=SENT + MINUTE, deadline_s=1)
    assert (found, reads.asked) == (Found.UNKNOWN, [])


async def test_a_condition_knows_arguments_and_operation() -> None:
    case = a_write("result.exists(x, x.key == op.key && x.amount == args.amount)")
    assert await asked([{"key": "k-7", "amount": 3}], case) is Found.HAPPENED
    assert await asked([{"key": "k-8", "amount": 3}], case) is Found.ABSENT


async def test_without_a_lookup_or_arguments_nothing_is_known() -> None:
    assert await asked({"items": []}, a_case(arguments={})) is Found.UNKNOWN
    assert await asked({"items": []}, a_write(arguments=None)) is Found.UNKNOWN


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
anything = st.recursive(
    leaves, lambda some: st.lists(some) | st.dictionaries(st.text(), some), max_leaves=8
)


@given(answer=anything)
async def test_only_a_list_without_items_proves_absence(answer: Json) -> None:
    for items in (answer, {"items": answer}):
        found = await asked(items)
        is_list = isinstance(items, dict) and items.get("items") in ([], {}, "")
        assert (found is Found.ABSENT) == is_list
