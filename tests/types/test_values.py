import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from gateway.types.values import maker, replaced, value


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """What a value has to equal in all but speed."""

    name: str
    size: int = 3
    parts: list[str] = field(default_factory=list[str])


@value
class Quick:
    """The same."""

    name: str
    size: int = 3
    parts: list[str] = field(default_factory=list[str])


WRONG: list[dict[str, Any]] = [{}, {"size": 1}, {"name": "a", "other": 1}]


def test_a_value_is_what_the_dataclass_is() -> None:
    quick, plain = Quick(name="a", size=4), Plain(name="a", size=4)
    assert repr(quick) == repr(plain).replace("Plain", "Quick")
    assert quick == Quick(name="a", size=4)
    assert quick != Quick(name="a")
    assert [each.name for each in fields(quick)] == [each.name for each in fields(plain)]
    assert list(inspect.signature(Quick).parameters) == list(inspect.signature(Plain).parameters)
    assert not hasattr(quick, "__dict__")


def test_a_value_can_not_be_changed() -> None:
    quick = Quick(name="a")
    with pytest.raises(FrozenInstanceError):
        quick.name = "b"  # type: ignore[misc] - what is tried here
    with pytest.raises(FrozenInstanceError):
        del quick.name  # type: ignore[misc] - what is tried here


def test_every_value_gets_a_default_of_its_own() -> None:
    assert Quick(name="a").parts == []
    assert Quick(name="a").parts is not Quick(name="a").parts


@pytest.mark.parametrize("given", WRONG)
def test_a_missing_or_unknown_field_is_an_error(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Quick(**given)
    with pytest.raises(TypeError):
        Plain(**given)


def test_a_maker_makes_what_the_class_makes() -> None:
    make = maker(Quick)
    assert make(name="a", size=4) == Quick(name="a", size=4)
    assert type(make(name="a")) is Quick
    assert make(name="a").parts is not make(name="a").parts
    with pytest.raises(FrozenInstanceError):
        make(name="a").name = "b"  # type: ignore[misc] - what is tried here


@pytest.mark.parametrize("given", WRONG)
def test_a_maker_wants_what_the_class_wants(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        maker(Quick)(**given)


def test_a_copy_has_the_other_fields_and_leaves_the_original_alone() -> None:
    quick = Quick(name="a", parts=["x"])
    assert replaced(quick, name="b", size=5) == Quick(name="b", size=5, parts=["x"])
    assert replace(quick, name="b") == replaced(quick, name="b")
    assert quick == Quick(name="a", parts=["x"])
    with pytest.raises(KeyError):
        replaced(quick, other=1)


def test_a_value_is_copied_and_pickled_like_any() -> None:
    quick = Quick(name="a", parts=["x"])
    assert copy.deepcopy(quick) == quick
    assert pickle.loads(pickle.dumps(quick)) == quick


def test_a_class_that_wants_more_of_its_constructor_is_refused() -> None:
    with pytest.raises(TypeError, match="does more than to set its fields"):

        @value
        class Late:  # pyright: ignore[reportUnusedClass] - it never comes to be
            size: int = field(default=1, init=False)
