"""What is tagged at one place is hidden wherever else a call has it."""

import pytest

from gateway.events import concealed
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Sensitivity

SECRET, PERSONAL = Sensitivity.SECRET, Sensitivity.PERSONAL
SENT: JsonObject = {"token": "zorkmid-9", "pin": 4711, "who": {"mail": "a@b.example"}, "ok": True}
TAGS = {"/token": SECRET, "/pin": SECRET, "/who": PERSONAL, "/ok": SECRET}
HIDDEN = concealed.values(SENT, TAGS)


def test_texts_and_numbers_at_tagged_places_are_known_by_value() -> None:
    assert HIDDEN == {"zorkmid-9": SECRET, "4711": SECRET, "a@b.example": PERSONAL}
    assert concealed.values({"a": "xy", "b": None}, {"/a": SECRET, "/b": SECRET}) == {}


def test_what_is_secret_anywhere_is_secret() -> None:
    for tags in ({"/a": SECRET, "/b": PERSONAL}, {"/b": PERSONAL, "/a": SECRET}):
        assert concealed.values({"a": "same", "b": "same"}, tags) == {"same": SECRET}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("no such person zorkmid-9!", "no such person [redacted:secret]!"),
        ("mail a%40b.example", "mail [redacted:personal]"),
        ("pin 4711 is wrong", "pin [redacted:secret] is wrong"),
        ("row 147110", "row 147110"),
        ('says: "it was zorkmi…"', 'says: "it was [redacted:secret]…"'),
        ("nothing of it", "nothing of it"),
    ],
)
def test_a_text_is_kept_without_them(text: str, kept: str) -> None:
    assert concealed.in_text(text, HIDDEN) == kept


def test_other_places_that_hold_them_are_tagged_too() -> None:
    value: Json = {"t": "zorkmid-9", "n": [4711, 5], "u": "Bearer zorkmid-9", "mail": "a@b.example"}
    assert concealed.tagged(value, {"/x": SECRET}, HIDDEN) == {
        "/t": SECRET,
        "/n/0": SECRET,
        "/u": SECRET,
        "/mail": PERSONAL,
        "/x": SECRET,
    }


def test_a_row_keeps_them_as_they_were() -> None:
    assert concealed.from_json(concealed.to_json(HIDDEN)) == HIDDEN
    assert concealed.from_json(None) == {}


def test_values_under_keys_of_secrets_are_found_at_any_depth_and_words_are_not() -> None:
    sent: JsonObject = {
        "password": "hunter-two",
        "deep": [{"apiKey": {"of": "desk-4711", "n": 1234567}}],
        "token": "page",
        "note": "plain enough",
    }
    assert concealed.named(sent) == dict.fromkeys(
        ("hunter-two", "desk-4711", "1234567"), Sensitivity.SECRET
    )


def test_a_telling_key_in_json_inside_of_a_text_counts_and_what_is_hidden_already_does_not() -> (
    None
):
    inside: JsonObject = {"body": '{"a": "{\\"password\\": \\"hunter-two\\"}"}', "b": '{"token": 1'}
    assert concealed.named(inside) == {"hunter-two": SECRET}
    done: JsonObject = {"password": {"$redacted": "secret"}, "token": "[redacted:secret]"}
    assert concealed.named(done) == {}


def test_there_is_an_end_to_what_is_looked_for() -> None:
    many: JsonObject = {"rows": [{"password": f"secret-{n}"} for n in range(5_000)]}
    assert concealed.are_too_many(concealed.named(many))
    assert concealed.are_too_many(concealed.named({"token": [f"t-{n:06}" for n in range(5_000)]}))
    assert concealed.are_too_many(concealed.named({"token": "x" * 20_000}))
    assert not concealed.are_too_many(HIDDEN)
