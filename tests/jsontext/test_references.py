"""References in texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.jsontext.references import BadReference, Reference, parse, references


def reference(text: str, root: str, *steps: str | int) -> Reference:
    return Reference(text=text, root=root, steps=steps)


@pytest.mark.parametrize(
    ("text", "root", "steps"),
    [
        ("$args", "args", ()),
        ("$args.customer_id", "args", ("customer_id",)),
        ("$result.refund.id", "result", ("refund", "id")),
        ("$result.items[0].id", "result", ("items", 0, "id")),
        ('$old["a b"].c', "old", ("a b", "c")),
        ('$args["0"]', "args", ("0",)),
        ("$op.id", "op", ("id",)),
        ("$op.key", "op", ("key",)),
    ],
)
def test_a_reference_names_a_value(text: str, root: str, steps: tuple[str | int, ...]) -> None:
    assert parse(text) == (reference(text, root, *steps),)


def test_references_stand_inside_of_texts() -> None:
    assert parse("undo $op.id. It cost $$5 for $args.name!") == (
        "undo ",
        reference("$op.id", "op", "id"),
        ". It cost $5 for ",
        reference("$args.name", "args", "name"),
        "!",
    )
    assert parse("$args.a$args.b") == (
        reference("$args.a", "args", "a"),
        reference("$args.b", "args", "b"),
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [("", ""), ("plain", "plain"), ("$$", "$"), ("$$args.x", "$args.x"), ("a$$$$b", "a$$b")],
)
def test_other_texts_stand_for_themselves(text: str, plain: str) -> None:
    assert parse(text) == (plain,)


@pytest.mark.parametrize(
    "text",
    ["$", "$5", "a $ b", "$$$", "$foo.x", "$Args.x", "${args.x}", "$op", "$op.state", "$op.id.x",
     "$op[0]", "$argsx"],
)  # fmt: skip
def test_any_other_dollar_sign_is_a_mistake(text: str) -> None:
    with pytest.raises(BadReference, match="write"):
        parse(text)


def test_references_are_found_wherever_they_are() -> None:
    found = references({"a": ["$args.x", 1, {"b": "for $op.id"}], "$args.key": None, "c": "$$args"})
    assert [each.text for each in found] == ["$args.x", "$op.id"]
    with pytest.raises(BadReference):
        references(["$nothing"])


@given(st.text())
def test_a_doubled_dollar_sign_keeps_any_text(text: str) -> None:
    assert parse(text.replace("$", "$$")) == (text,)
