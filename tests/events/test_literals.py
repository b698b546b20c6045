import re2  # pyright: ignore[reportMissingTypeStubs] - the real engine, not ours, reads the pattern

from gateway.events import literals


def matches(pattern: str, text: str) -> bool:
    return re2.search(pattern, text) is not None  # pyright: ignore[reportUnknownMemberType] - untyped


def test_no_secrets_make_no_pattern() -> None:
    assert literals.pattern([]) == ""


def test_texts_that_are_too_short_or_too_common_are_left_out() -> None:
    assert literals.pattern(["1234", "false", "Bearer", "redacted", "email"]) == ""


def test_characters_of_patterns_stand_for_themselves() -> None:
    pattern = literals.pattern(["a.b*c(d"])
    assert matches(pattern, "x a.b*c(d x")
    assert not matches(pattern, "x aXbbc(d x")


def test_what_follows_a_scheme_is_a_secret_of_its_own() -> None:
    assert matches(literals.pattern(["Bearer MARK1"]), "token MARK1")


def test_a_url_gives_away_its_password_and_its_query() -> None:
    pattern = literals.pattern(["https://u:MARK%2B5@h/mcp?token=MARK6"])
    assert matches(pattern, "MARK+5")
    assert matches(pattern, "MARK6")


def test_what_only_begins_like_a_url_is_hidden_whole() -> None:
    assert matches(literals.pattern(["http://[broken"]), "http://[broken")
