"""Keys of operations."""

from typing import Any

import pytest
from hypothesis import strategies as st

from gateway.operations.keys import (
    CALLERS,
    KeyRefused,
    of_caller,
)
from gateway.types.guarantees import Idempotency, Injection, InjectPlace, Normal
from gateway.types.json import Json, JsonObject
from gateway.types.operations import KeySource
from tests.operations.keyed import key

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
ARGUMENTS = st.dictionaries(NAMES, JSON, max_size=4)


def test_every_part_of_a_key_is_a_digest() -> None:
    found = key({"v": 1}, transport_id="toolu_1")
    for part in (found.key, found.scope, found.intent, found.arguments, found.transport):
        assert part.startswith("sha256:")
        assert len(part) == 71
    assert key({}).transport == ""


# --- sources ---------------------------------------------------------------------------------


def test_the_callers_key_comes_first_then_the_contracts_then_the_intent() -> None:
    named = Idempotency(key_from="/order")
    assert key({"order": "o1"}, named, caller_key="k1").source is KeySource.CALLER
    assert key({"order": "o1"}, named).source is KeySource.CONTRACT
    assert key({"order": "o1"}).source is KeySource.DERIVED


def test_a_callers_key_is_the_same_key_on_other_arguments_and_other_tools_of_a_server() -> None:
    """case: IDM-04"""
    first = key({"v": 1}, caller_key="k1")
    other = key({"v": 2}, caller_key="k1")
    tool = key({"v": 1}, caller_key="k1", tool="desk.del_item")
    assert first.key == other.key == tool.key
    assert len({first.intent, other.intent, tool.intent}) == 3
    reordered = key({"v": 1, "w": None}, caller_key="k1")
    assert reordered.arguments == key({"w": None, "v": 1}, caller_key="k1").arguments
    assert reordered.arguments != first.arguments


@pytest.mark.parametrize(
    "other",
    [{"tenant": "t2"}, {"principal": ("issuer", "B")}, {"server": "crm"}],
)
@pytest.mark.parametrize("caller_key", ["order-1", None])
def test_no_key_meets_that_of_another_tenant_principal_or_server(
    other: dict[str, Any], caller_key: str | None
) -> None:
    """case: IDM-05"""
    mine = key({"v": 1}, caller_key=caller_key)
    theirs = key({"v": 1}, caller_key=caller_key, **other)
    assert mine.key != theirs.key
    assert mine.scope != theirs.scope


def test_keys_that_are_made_of_arguments_are_per_run_or_conversation() -> None:
    """case: IDM-05"""
    named = Idempotency(key_from="/order")
    for idempotency in (named, Idempotency()):
        found = {
            key({"order": "o1"}, idempotency, within=within).key
            for within in ((), ("run", "1"), ("run", "2"), ("conversation", "1"))
        }
        assert len(found) == 4


def test_what_a_host_calls_a_request_is_the_same_in_every_run() -> None:
    """A run ends and another begins between two attempts of one request."""
    one, other = (
        key({"v": 1}, caller_key="order-1", transport_id="toolu_1", within=within)
        for within in (("run", "1"), ())
    )
    assert one == other
    assert key({"v": 1}, transport_id="toolu_1", within=("run", "1")).transport == one.transport


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("k" * 201, "longer than 200"),
        ("schlüssel", "printable ASCII"),
        ("a\nb", "printable ASCII"),
        ("a\n", "printable ASCII"),
        ("\ud800", "printable ASCII"),
    ],
)
def test_a_callers_key_has_a_length_and_characters(text: str, why: str) -> None:
    """case: IDM-05"""
    with pytest.raises(KeyRefused, match=why):
        key({}, caller_key=text)


def test_a_callers_key_may_have_200_characters() -> None:
    assert key({}, caller_key="k" * 200).source is KeySource.CALLER


@pytest.mark.parametrize(
    ("meta", "header", "expected"),
    [
        ({}, None, None),
        ({CALLERS: None}, None, None),
        ({CALLERS: "k1"}, None, "k1"),
        ({}, "k1", "k1"),
        ({}, '"k1"', "k1"),
        ({}, r'"a\"b\\c, d"', r'a"b\c, d'),
        ({CALLERS: "k1"}, '"k1"', "k1"),
        ({}, "", ""),
    ],
)
def test_a_host_gives_its_key_in_meta_or_in_a_header_bare_or_quoted(
    meta: JsonObject, header: str | None, expected: str | None
) -> None:
    assert of_caller(meta, header) == expected


@pytest.mark.parametrize(
    ("meta", "header", "why"),
    [
        ({CALLERS: 7}, None, "not a text"),
        ({CALLERS: 7}, "7", "not a text"),
        ({CALLERS: "k1"}, "k2", "is not the key in `_meta"),
        ({CALLERS: "k1"}, "", "is not the key in `_meta"),
        ({}, "k1, k2", "not one key"),
        ({}, '"k1", "k2"', "not one key"),
        ({}, '"k1', "not one key"),
        ({}, '"k1";v=1', "not one key"),
    ],
)
def test_a_host_that_gives_two_keys_or_none_that_can_be_read_is_refused(
    meta: JsonObject, header: str | None, why: str
) -> None:
    """case: IDM-05"""
    with pytest.raises(KeyRefused, match=why):
        of_caller(meta, header)


def test_a_business_key_of_the_contract_counts_per_tool_and_whatever_else_was_asked() -> None:
    named = Idempotency(key_from="/order")
    first = key({"order": "o1", "v": 1}, named)
    assert first.key == key({"order": "o1", "v": 2}, named).key
    assert first.key != key({"order": "o2", "v": 1}, named).key
    assert first.key != key({"order": "o1", "v": 1}, named, tool="desk.del_item").key
    assert first.intent != key({"order": "o1", "v": 2}, named).intent


@pytest.mark.parametrize("value", [None, "", [], ["o1"], {}, {"id": 1}])
def test_a_business_key_that_is_none_leaves_the_intent_as_the_key(value: Json) -> None:
    named = Idempotency(key_from="/order")
    assert key({"order": value}, named).source is KeySource.DERIVED
    assert key({}, named) == key({})


def test_a_business_key_is_normalised() -> None:
    named = Idempotency(key_from="/order", normalise={"/order": Normal.UPPER})
    assert key({"order": "o1"}, named).key == key({"order": "O1"}, named).key


def test_the_id_of_a_tool_use_counts_within_its_scope() -> None:
    mine = key({"v": 1}, transport_id="toolu_1")
    assert mine.transport == key({"v": 2}, transport_id="toolu_1").transport
    assert mine.transport != key({"v": 1}, transport_id="toolu_2").transport
    assert mine.transport != key({"v": 1}, transport_id="toolu_1", tenant="t2").transport
    assert mine.key == key({"v": 1}).key


# --- intent ----------------------------------------------------------------------------------


def test_only_the_fields_of_the_intent_identify_a_call() -> None:
    chosen = Idempotency(intent=("/customer", "/amount"))
    first = key({"customer": "c1", "amount": 1, "note": "please"}, chosen)
    again = key({"customer": "c1", "amount": 1, "note": "now!"}, chosen)
    assert first.key == again.key
    assert first.intent == again.intent
    assert first.arguments != again.arguments
    assert first.key != key({"customer": "c1", "amount": 2, "note": "please"}, chosen).key


def test_an_absent_field_is_not_a_null() -> None:
    chosen = Idempotency(intent=("/customer", "/amount"))
    assert (
        key({"customer": "c1"}, chosen).key != key({"customer": "c1", "amount": None}, chosen).key
    )
    assert key({"v": 1}).key != key({"v": 1, "w": None}).key


def test_a_value_at_another_place_is_another_intent() -> None:
    chosen = Idempotency(intent=("/from", "/to"))
    assert key({"from": "a"}, chosen).intent != key({"to": "a"}, chosen).intent


def test_ignored_fields_don_t_count_wherever_they_are() -> None:
    ignoring = Idempotency(ignore=("/at", "/items/*/note", "/tags/*"))
    first: JsonObject = {"at": 1, "items": [{"id": 1, "note": "a"}, {"id": 2}], "tags": ["x", "y"]}
    again: JsonObject = {"at": 2, "items": [{"id": 1}, {"id": 2, "note": "b"}], "tags": []}
    assert key(first, ignoring).key == key(again, ignoring).key
    other: JsonObject = {"items": [{"id": 1}, {"id": 3}], "tags": []}
    assert key(first, ignoring).key != key(other, ignoring).key


def test_a_wildcard_chooses_every_item() -> None:
    chosen = Idempotency(intent=("/items/*/id",))
    first: JsonObject = {"items": [{"id": 1, "note": "a"}]}
    assert key(first, chosen).key == key({"items": [{"id": 1}]}, chosen).key
    assert key(first, chosen).key != key({"items": [{"id": 1}, {"id": 2}]}, chosen).key


@pytest.mark.parametrize(
    ("normal", "one", "other"),
    [
        (Normal.UPPER, "eur", "EUR"),
        (Normal.LOWER, "Ann@Example.org", "ann@example.ORG"),
        (Normal.TRIM, " a\u0301 ", "\u00e1"),
        (Normal.UPPER, "a\u0301", "\u00c1"),
    ],
)
def test_named_texts_are_made_comparable(normal: Normal, one: str, other: str) -> None:
    alike = Idempotency(normalise={"/v": normal})
    assert key({"v": one}, alike).key == key({"v": other}, alike).key
    assert key({"v": one}).key != key({"v": other}).key
    assert key({"v": one}, alike).arguments != key({"v": other}, alike).arguments


def test_only_texts_are_made_comparable() -> None:
    alike = Idempotency(normalise={"/v": Normal.UPPER})
    values: list[Json] = [1, True, None, ["eur"]]
    for value in values:
        assert key({"v": value}, alike).intent == key({"v": value}).intent


def test_what_is_overwritten_with_a_key_for_the_server_counts_for_nothing() -> None:
    place = Injection(place=InjectPlace.ARGUMENT, name="/options/key")
    keyed = Idempotency(inject=place)
    first: JsonObject = {"v": 1, "options": {"key": "model-1"}}
    assert key(first, keyed) == key({"v": 1, "options": {"key": "model-2"}}, keyed)
    assert key(first, keyed).key != key({"v": 2, "options": {"key": "model-1"}}, keyed).key
    elsewhere = Idempotency(inject=Injection(place=InjectPlace.META, name="/options/key"))
    assert key(first, elsewhere).key != key({"v": 1, "options": {"key": "b"}}, elsewhere).key
