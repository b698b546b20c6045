"""Markers of redacted values, for people."""

import pytest

from gateway import jsontext
from gateway.admin.redacted import in_words
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
