import pytest
from pydantic import ValidationError

from gateway.config.section import Many, Section, Unique


class Shelf(Section):
    """A section with lists."""

    books: Many[str] = ()
    tags: Unique[str] = frozenset()


def test_keys_that_begin_with_x_are_dropped_and_others_refused() -> None:
    """case: CFG-01"""
    assert Shelf.model_validate({"x-note": 1, "books": ["a"]}).books == ("a",)
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Shelf.model_validate({"xnote": 1})


@pytest.mark.parametrize("value", [None, [], "off", False, 0])
def test_a_section_that_is_no_map_is_refused_and_never_taken_as_off(value: object) -> None:
    """case: CFG-01"""
    with pytest.raises(ValidationError, match="has to be a map of keys"):
        Shelf.model_validate(value)


@pytest.mark.parametrize("value", ["a", None, {"a": 1}])
def test_a_list_is_written_as_a_list(value: object) -> None:
    with pytest.raises(ValidationError, match="has to be a list"):
        Shelf.model_validate({"books": value})


def test_an_error_never_shows_what_was_written() -> None:
    with pytest.raises(ValidationError) as caught:
        Shelf.model_validate({"books": [{"password": "hunter2"}]})
    assert "hunter2" not in str(caught.value)


def test_a_section_that_was_made_already_is_taken_as_it_is() -> None:
    shelf = Shelf.model_validate({"books": ["a"]})
    assert Shelf.model_validate(shelf) is shelf
