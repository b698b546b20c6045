"""Templates of calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.operations.templates import (
    BadReference,
    Known,
    Unfilled,
    fill,
    references,
    value_of,
)
from gateway.types.json import Json, JsonObject

KNOWN = Known(
    args={"id": 7, "big": 2**70, "note": "hello", "none": None, "list": [1, {"a b": True}]},
    result={"refund": {"id": "re_1"}},
    old=[{"status": "paid"}],
    op={"id": "op_1", "key": "k-1"},
)


def test_a_lone_reference_keeps_the_type_of_its_value() -> None:
    template: JsonObject = {
        "n": "$args.id",
        "big": "$args.big",
        "none": "$args.none",
        "refund": "$result.refund",
        "was": "$old[0].status",
        "flag": '$args.list[1]["a b"]',
        "all": ["$args.list", {"deep": "$op.key"}],
    }
    assert fill(template, KNOWN) == {
        "n": 7,
        "big": 2**70,
        "none": None,
        "refund": {"id": "re_1"},
        "was": "paid",
        "flag": True,
        "all": [[1, {"a b": True}], {"deep": "k-1"}],
    }


def test_inside_of_other_text_a_value_is_text() -> None:
    template: JsonObject = {
        "reason": "undo $op.id: $args.note",
        "path": "/refunds/$result.refund.id/$args.id",
        "json": "was $old, $args.list[1]",
        "price": "$$5",
    }
    assert fill(template, KNOWN) == {
        "reason": "undo op_1: hello",
        "path": "/refunds/re_1/7",
        "json": 'was [{"status":"paid"}], {"a b":true}',
        "price": "$5",
    }


def test_what_is_no_text_stays_as_it_is() -> None:
    plain: JsonObject = {"$args.id": 1, "f": 1.5, "b": False, "n": None, "l": [2]}
    assert fill(plain, KNOWN) == plain


@pytest.mark.parametrize(
    "text",
    ["$args.other", "$result.refund.id.x", "$old[1]", "$old.status", "$args.list.a", "$args[0]",
     "no $args.other", "/items/$args.none"],
)  # fmt: skip
def test_what_is_not_known_is_never_left_out(text: str) -> None:
    with pytest.raises(Unfilled, match=r"there is no `\$") as caught:
        fill({"x": text}, KNOWN)
    assert caught.value.reference in text


@pytest.mark.parametrize("text", ["$result", "$result.x", "$old", "$op.id"])
def test_without_an_answer_or_a_read_before_it_there_is_nothing_of_them(text: str) -> None:
    with pytest.raises(Unfilled):
        fill({"x": text}, Known(args={}))


def test_a_bad_reference_is_told_from_one_that_is_not_known() -> None:
    with pytest.raises(BadReference):
        fill({"x": "$nobody.id"}, KNOWN)


def test_one_text_can_be_asked_for_its_value() -> None:
    assert value_of("$args.id", KNOWN) == 7
    assert value_of("$args.note", KNOWN) == "hello"


def test_the_references_of_a_template_are_named_as_written() -> None:
    assert references({"a": '$args.list[1]["a b"]', "b": ["x $op.id"]}) == (
        '$args.list[1]["a b"]',
        "$op.id",
    )


@given(st.dictionaries(st.text(max_size=3), st.integers() | st.none() | st.booleans()))
def test_a_template_without_texts_is_filled_with_nothing(template: JsonObject) -> None:
    assert fill(template, Known(args={})) == template


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=5))
def test_any_value_comes_through_a_reference_unchanged(value: Json) -> None:
    assert fill({"x": "$args.v"}, Known(args={"v": value})) == {"x": value}
