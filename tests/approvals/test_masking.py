"""Arguments as approvers may see them."""

import pytest

from gateway.approvals.masking import is_masked
from gateway.types.json import Json, JsonObject
from tests.helpers.presenting import a_digest, a_sight


def test_what_hides_nothing_is_shown_as_it_is() -> None:
    arguments: JsonObject = {"amount": 1.5, "to": ["a", {"b": None}], "flag": True}
    assert a_sight(arguments).masked(a_digest) == (arguments, ())


def test_a_secret_is_told_by_length_and_digest() -> None:
    sight = a_sight({"id": 1, "pin": "s3cret"}, pin="[redacted:secret]")
    shown, masked = sight.masked(a_digest)
    assert masked == ("/pin",)
    mask: JsonObject = {"$masked": "secret", "length": 6, "digest": a_digest("s3cret")}
    assert shown == {"id": 1, "pin": mask}
    assert "s3cret" not in str(shown)


def test_of_a_text_with_a_secret_in_it_the_rest_is_shown() -> None:
    sight = a_sight({"note": "use key k-1"}, note="use key [redacted:key]")
    shown, masked = sight.masked(a_digest)
    assert masked == ("/note",)
    assert isinstance(shown["note"], dict)
    assert shown["note"]["$masked"] == "part"
    assert shown["note"]["shown"] == "use key [redacted:key]"


def test_places_deep_inside_are_named() -> None:
    deep: Json = {"a/b": [{"k": "x"}, {"k": "y"}]}
    safe: Json = {"a/b": [{"k": "x"}, {"k": "[redacted:secret]"}]}
    shown, masked = a_sight({"deep": deep}, deep=safe).masked(a_digest)
    assert masked == ("/deep/a~1b/1/k",)
    assert "'x'" in str(shown)
    assert "'y'" not in str(shown)


@pytest.mark.parametrize(
    "safe", [{"[redacted:key]": 1}, [], "[redacted:secret]", None, {"key-1": 1, "b": 2}]
)
def test_an_object_of_another_shape_is_one_mask(safe: Json) -> None:
    shown, masked = a_sight({"map": {"key-1": 1}}, map=safe).masked(a_digest)
    assert masked == ("/map",)
    assert isinstance(shown["map"], dict)
    assert shown["map"]["length"] == len('{"key-1":1}')


def test_a_value_that_spells_a_mask_is_none() -> None:
    spelled: Json = {"$masked": "secret", "length": 6, "digest": "hmac"}
    assert a_sight({"x": spelled}).masked(a_digest) == ({"x": spelled}, ())


def test_true_is_not_one() -> None:
    assert a_sight({"x": True}, x=1).masked(a_digest)[1] == ("/x",)


def test_what_is_in_something_hidden_is_hidden() -> None:
    masks = frozenset({"/a", "/b/0"})
    assert [is_masked(each, masks) for each in ("/a", "/a/x/y", "/b/0/c")] == [True] * 3
    assert [is_masked(each, masks) for each in ("", "/ab", "/b", "/b/1")] == [False] * 4
