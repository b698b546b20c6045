import pytest

from gateway.config.expand import expand
from gateway.types.json import Json

ENVIRONMENT = {"A": "alpha", "EMPTY": "", "TRICK": "${A}"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("${A}", "alpha"),
        ("x-${A}-${A}", "x-alpha-alpha"),
        ("${NONE:-d}", "d"),
        ("${A:-d}", "alpha"),
        ("${EMPTY:-}", ""),
        ("${NONE:-a:-b}", "a:-b"),
        ("$${A}", "${A}"),
        ("$A $ $$ {A} $HOME", "$A $ $$ {A} $HOME"),
        ("${TRICK}", "${A}"),
    ],
)
def test_references_are_expanded_once(text: str, expanded: str) -> None:
    result = expand({"k": [text]}, ENVIRONMENT)
    assert result.value == {"k": [expanded]}
    assert (result.missing, result.malformed) == ([], [])


@pytest.mark.parametrize(
    ("text", "reason"), [("${NONE}", "NONE is not set"), ("${EMPTY}", "EMPTY is empty")]
)
def test_a_reference_without_a_value_is_missing_and_its_place_is_told(
    text: str, reason: str
) -> None:
    """case: CFG-03"""
    (missing,) = expand({"k": [1, f"Bearer {text}"]}, ENVIRONMENT).missing
    assert (missing.path, missing.reason) == (("k", 1), reason)


@pytest.mark.parametrize(
    "text", ["${", "${A", "${}", "${1A}", "${A B}", "${env:A}", "${A:?}", "${a.b}"]
)
def test_what_is_no_reference_is_an_error_and_never_sent_as_it_stands(text: str) -> None:
    (malformed,) = expand({"k": text}, ENVIRONMENT).malformed
    assert malformed.path == ("k",)
    assert "write" in malformed.message


def test_keys_and_other_values_stay_as_they_are() -> None:
    value: Json = {"${A}": [1, 2.5, True, None]}
    assert expand(value, ENVIRONMENT).value == value


def test_extensions_stay_as_written_but_chosen_names_are_no_extensions() -> None:
    value: Json = {
        "x-note": "${NONE}",
        "servers": {
            "x-y": {"x-note": "${NONE}", "headers": {"x-key": "${A}"}, "env": {"x-e": "${A}"}}
        },
    }
    result = expand(value, ENVIRONMENT)
    assert result.missing == []
    assert result.value == {
        "x-note": "${NONE}",
        "servers": {
            "x-y": {"x-note": "${NONE}", "headers": {"x-key": "alpha"}, "env": {"x-e": "alpha"}}
        },
    }


def test_values_from_the_environment_are_told_with_their_places() -> None:
    assert expand({"a": "${A}", "b": "${NONE:-d}"}, ENVIRONMENT).taken == [(("a",), "alpha")]
