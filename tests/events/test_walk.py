import pytest

from gateway import jsontext
from gateway.events.profile import EVENTS, RESULTS
from gateway.events.redact import Redactor
from gateway.types.json import Json

REDACTOR = Redactor(lambda _: b"key")


def test_it_lists_where_it_changed_what() -> None:
    redacted = REDACTOR.value({"a/b": ["x a@x.org"], "password": 1, "t": '{"otp":"123"}'})
    assert redacted.masked == ("/a~1b/0", "/t")
    assert redacted.erased == ("/password",)
    assert redacted.count == 3


def test_it_lists_a_hundred_places_and_counts_all() -> None:
    value: Json = ["x a@x.org" for _ in range(150)]
    redacted = REDACTOR.value(value)
    assert len(redacted.masked) == 100
    assert redacted.count == 150


def test_a_card_as_a_number_is_personal() -> None:
    redacted = REDACTOR.value({"pan": 4111111111111111})
    assert redacted.masked == ("/pan",)


@pytest.mark.parametrize(
    "text",
    [
        '{ "at": 1764406800000, "s": "say \\"x\\": y" }',
        '[ {"id": 1, "line": "one\\ntwo"} ]',
        '{"ratio": 0.1000000000000000055511, "key": 1}',
    ],
)
def test_json_text_without_secrets_keeps_every_byte(text: str) -> None:
    assert REDACTOR.text(text, profile=RESULTS) == text


def test_of_two_equal_keys_the_one_that_is_read_over_goes() -> None:
    text = '{"a": "AKIAIOSFODNN7EXAMPLE", "a": "x"}'
    assert REDACTOR.text(text, profile=RESULTS) == '{"a":"x"}'


def test_json_that_is_nested_in_texts_too_often_is_read_as_text() -> None:
    value: Json = {"password": "MARK3"}
    for _ in range(7):
        value = {"t": jsontext.dump(value).decode()}
    assert "MARK3" not in str(REDACTOR.value(value).value)


def test_text_that_only_begins_like_json_is_read_as_text() -> None:
    assert REDACTOR.text("[warn] password=hunter2 {") == "[warn] password=[redacted:assigned] {"


def test_a_text_longer_than_what_is_read_is_cut_before() -> None:
    text = "y" * 2_000_000 + " AKIAIOSFODNN7EXAMPLE"
    kept = REDACTOR.text(text)
    assert len(kept) <= EVENTS.max_text
    assert "more characters]" in kept
