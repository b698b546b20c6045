"""What pydantic finds, in words for people."""

from typing import Annotated, Any

import pytest
from pydantic import AwareDatetime, BaseModel, Field, StrictBool, StrictInt, create_model
from pydantic import ValidationError as Invalid

from gateway.types.json import Json
from gateway.yamltext.wording import found


class Inner(BaseModel):
    name: Annotated[str, Field(pattern="^a")]


def said(kind: Any, value: Json) -> list[str]:
    with pytest.raises(Invalid) as refused:
        create_model("File", x=(kind, ...)).model_validate({"x": value})
    details = refused.value.errors(include_url=False)
    return [
        f"{'.'.join(map(str, each.path))} {each.message}" for each in found(details, {"x": value})
    ]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (str, 1, "x has to be a text"),
        (int, "many", "x has to be a whole number"),
        (int, 1.5, "x has to be a whole number"),
        (bool, "perhaps", "x has to be `true` or `false`"),
        (list[str], "a", "x has to be a list, such as `[a, b]`"),
        (dict[str, str], "a", "x has to be a map of keys"),
        (
            Annotated[str, Field(min_length=1)],
            "",
            "x is empty; write something, or leave the key out",
        ),
        (Annotated[str, Field(max_length=2)], "abc", "x is longer than 2 characters; shorten it"),
        (
            Annotated[list[str], Field(max_length=1)],
            ["a", "b"],
            "x has more than 1; leave some out",
        ),
        (Annotated[int, Field(ge=1)], 0, "x has to be at least `1`"),
        (Annotated[int, Field(lt=9)], 9, "x has to be less than `9`"),
        (
            AwareDatetime,
            "noon",
            "x has to be a time with its offset, such as `2026-11-30T09:00:00Z`",
        ),
        (Inner, {"name": "b"}, "x.name has to match `^a`"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_what_it_has_to_be(
    kind: Any, value: Json, message: str
) -> None:
    assert said(kind, value) == [message]


def test_alternatives_are_told_as_one() -> None:
    assert said(StrictBool | StrictInt | str, []) == [
        "x has to be `true` or `false`, a whole number or a text"
    ]


def test_what_is_wrong_deeper_is_told_instead_of_the_other_alternatives() -> None:
    assert said(list[str] | Inner, {"name": "b"}) == ["x.name has to match `^a`"]


def test_a_list_is_not_called_empty_because_its_items_are_wrong() -> None:
    assert said(Annotated[tuple[int, ...], Field(min_length=1)], ["a"]) == [
        "x.0 has to be a whole number"
    ]
    assert said(Annotated[tuple[int, ...], Field(min_length=1)], []) == [
        "x is empty; write at least one, or leave the key out"
    ]
