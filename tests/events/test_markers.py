import pytest

from gateway.events import markers
from gateway.types.json import Json


def test_a_personal_marker_keeps_a_keyed_digest_and_the_length() -> None:
    marker = markers.personal("sam@example.com", b"k")
    assert markers.is_marker(marker)
    assert marker["len"] == 15
    assert marker != markers.personal("sam@example.com", b"other")


def test_numbers_and_structures_have_digests_too() -> None:
    assert markers.is_marker(markers.personal({"a": [1]}, b"k"))


@pytest.mark.parametrize(
    "value",
    [
        {"$redacted": "mine"},
        {"$redacted": {}},
        {"$redacted": "secret", "note": 1},
        {"$redacted": "personal", "hmac": "hmac-sha256:xyz", "len": 1},
        {"$redacted": "personal", "hmac": "hmac-sha256:" + "0" * 32, "len": True},
        {"$redacted": "personal", "hmac": "hmac-sha256:" + "0" * 32, "len": -1},
        "secret",
        {},
    ],
)
def test_only_what_the_redactor_writes_is_a_marker(value: Json) -> None:
    assert not markers.is_marker(value)


def test_a_marker_has_a_form_for_texts() -> None:
    assert markers.in_text(markers.erased("size")) == "[redacted:size]"
    assert markers.in_text([]) == "[redacted:secret]"
