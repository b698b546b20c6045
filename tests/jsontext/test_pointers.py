"""JSON Pointers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.jsontext import escape, get, remove, replace, tokens, walk
from gateway.types.json import Json

VALUE: Json = {"a": [{"id": 1}, {"id": 2}], "a/b": {"~": 3}, "": 4, "n": None}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [("", VALUE), ("/a/1/id", 2), ("/a~1b/~0", 3), ("/", 4), ("/n", None)],
)
def test_a_pointer_finds_its_value(pointer: str, found: Json) -> None:
    assert get(VALUE, pointer) == found


@pytest.mark.parametrize("pointer", ["/x", "/a/2", "/a/-", "/a/01", "/a/+1", "/n/x", "/a/²"])
def test_a_missing_value_is_a_key_error(pointer: str) -> None:
    for lookup in (get, remove):
        with pytest.raises(KeyError):
            lookup(VALUE, pointer)


@pytest.mark.parametrize("pointer", ["a", "a/b", "/~", "/~2", "#/a"])
def test_a_text_that_is_no_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(ValueError, match="not a JSON Pointer"):
        tokens(pointer)


@given(st.text())
def test_escaping_is_undone_by_tokens(key: str) -> None:
    assert tokens("/" + escape(key)) == (key,)


def test_a_star_matches_each_key_and_index() -> None:
    assert list(walk(VALUE, "/a/*/id")) == [("/a/0/id", 1), ("/a/1/id", 2)]
    assert [pointer for pointer, _ in walk(VALUE, "/*")] == ["/a", "/a~1b", "/", "/n"]
    assert list(walk(VALUE, "/n/*")) == []
    assert list(walk(VALUE, "/a/7/id")) == []
    assert list(walk(VALUE, "")) == [("", VALUE)]


def test_replacing_copies_only_what_is_on_the_way() -> None:
    changed = replace(VALUE, "/a/1/id", 9)
    assert get(changed, "/a/1/id") == 9
    assert get(VALUE, "/a/1/id") == 2
    assert get(changed, "/a~1b") is get(VALUE, "/a~1b")
    assert replace(VALUE, "", 1) == 1


def test_replacing_may_add_a_key_but_no_parent() -> None:
    assert replace({"a": {}}, "/a/b", 1) == {"a": {"b": 1}}
    for pointer in ("/x/y", "/a/2", "/n/x"):
        with pytest.raises(KeyError):
            replace(VALUE, pointer, 1)


def test_removing_leaves_the_original_alone() -> None:
    value: Json = {"a": [1, 2, 3], "b": 4}
    assert remove(value, "/a/0") == {"a": [2, 3], "b": 4}
    assert remove(value, "/b") == {"a": [1, 2, 3]}
    assert value == {"a": [1, 2, 3], "b": 4}
    with pytest.raises(KeyError):
        remove(value, "")
