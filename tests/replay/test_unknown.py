import pytest

from gateway.events.redact import Redactor
from gateway.replay import unknown
from gateway.replay.types import Gone
from gateway.types.json import Json
from gateway.types.tools import Sensitivity

REDACTOR = Redactor(lambda tenant: tenant.encode())


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"mail": "jane@example.org"}, "/mail"),
        ({"password": "hunter2"}, "/password"),
        ({"to": ["x", "write to jane@example.org now"]}, "/to/1"),
        ({"deep": {"a/b": "DE89370400440532013000"}}, "/deep/a~1b"),
        ({"text": '{"password": "hunter2"}'}, "/text"),
    ],
)
def test_what_the_redactor_hides_is_unknown_and_nothing_else(value: Json, place: str) -> None:
    kept = REDACTOR.value({"more": "plain", "all": value}, tenant="acme").value
    assert unknown.places(kept) == {f"/all{place}": Gone.REDACTED}


def test_what_a_contract_hides_is_unknown() -> None:
    kept = REDACTOR.value({"a": 1, "b": 2}, tags={"/b": Sensitivity.PERSONAL}).value
    assert unknown.places(kept) == {"/b": Gone.REDACTED}


def test_a_text_that_was_shortened_is_cut() -> None:
    kept = REDACTOR.value({"text": "word " * 10_000}).value
    assert unknown.places(kept) == {"/text": Gone.CUT}


def test_of_arguments_that_are_too_large_all_is_unknown() -> None:
    assert unknown.places({"$cut": {"digest": "", "bytes": 9, "head": ""}}) == {"": Gone.CUT}


def test_an_object_with_a_hidden_key_is_unknown_as_a_whole() -> None:
    kept = REDACTOR.value({"map": {"jane@example.org": 1, "b": 2}}).value
    assert unknown.places(kept) == {"/map": Gone.REDACTED}


def test_plain_values_are_known() -> None:
    assert unknown.places({"a": [1, None, True, "x"], "$cut": 1}) == {}


def test_an_event_names_places_below_its_arguments() -> None:
    named = ["/arguments/a", "/arguments", "/changes/0", "/argumentsx"]
    assert unknown.noted(named, "/arguments") == {"/a": Gone.REDACTED, "": Gone.REDACTED}


def test_a_place_is_touched_by_what_is_around_it_and_inside_of_it() -> None:
    assert unknown.touches(["/a", "/b/c", "/ab"], "/a/x") == ("/a",)
    assert unknown.touches(["/a", "/b/c", "/ab"], "/b") == ("/b/c",)


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("plain", True),
        ("this was redacted by hand", True),
        ("and 12 more characters]", True),
        ("abc… [12 more characters]", False),
        ("abc… [12 more characters] and on", True),
        ("a [redacted] word", False),
        ("a [redacted:iban] word", False),
        ('{"$redacted": "secret"}', False),
        ("$redacted", True),
    ],
)
def test_a_text_is_whole_unless_a_mark_stands_in_it(text: str, is_whole: bool) -> None:
    assert unknown.is_text_whole(text) is is_whole
    assert bool(unknown.places([text])) is not is_whole


def test_an_object_with_a_redacted_name_is_unknown_as_a_whole() -> None:
    assert unknown.places({"a": {"[redacted:email]": 1, "b": 2}}) == {"/a": Gone.REDACTED}
