"""Markers of redacted values, for people."""

import pytest

from gateway import jsontext
from gateway.admin.redacted import in_words, pairs, shown
from gateway.types.json import Json

MARKER: Json = {"$redacted": "personal", "hmac": "hmac-sha256:9a53", "len": 20}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (MARKER, "[redacted: personal]"),
        ({"to": MARKER, "n": 1}, '{"to":[redacted: personal],"n":1}'),
        ([MARKER, {"$redacted": "secret"}], "[[redacted: personal],[redacted: secret]]"),
        ({"$redacted": "personal", "x": {"y": 1}}, '{"$redacted":"personal","x":{"y":1}}'),
        ({"a": "b"}, '{"a":"b"}'),
    ],
)
def test_only_a_whole_marker_is_put_in_words(value: Json, words: str) -> None:
    assert in_words(jsontext.dump(value).decode()) == words


def test_values_are_shown_by_name_and_hide_nothing() -> None:
    found = pairs({"to": "a\u202eb", "n": 1, "iban": MARKER, "x\u200b": ["y"]})
    assert [name for name, _ in found][:3] == ["to", "n", "iban"]
    assert [text for _, text in found][1:] == ["1", "[redacted: personal]", '["y"]']
    assert not any({"\u202e", "\u200b"} & {*name, *text} for name, text in found)
    assert pairs([1]) == [("", "[1]")]


def test_a_long_value_is_cut_with_its_length() -> None:
    assert shown("y" * 5000) == "y" * 2000 + "… (5000 characters)"
