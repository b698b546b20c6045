"""Texts that patterns cover."""

import re

import pytest

from gateway.policy.exemplars import of_glob, of_regex


@pytest.mark.parametrize(
    "pattern",
    [
        "^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}$",
        r"(a|b)+x?[^a-z]\d{2,3}",
        r"(?:EUR|USD) \w+\s\S",
        r"(?P<year>\d{4})-(\d\d)",
        r"^inv_[A-Z]*?\.pdf\b$",
        r"[\]x]y*",
        r"a{0}b|c",
        r"\tq\/",
    ],
)
def test_the_text_is_one_that_the_expression_covers(pattern: str) -> None:
    text = of_regex(pattern)
    assert text is not None
    assert re.search(pattern, text)


@pytest.mark.parametrize("pattern", ["(?=a)b", "[a", "(a", "a)", "a{2000}b{2000}", "\\", "[^ -~]"])
def test_what_is_not_understood_gives_nothing(pattern: str) -> None:
    assert of_regex(pattern) is None


def test_flags_are_left_out() -> None:
    assert of_regex("(?i)abc") == "abc"


def test_wild_signs_of_names_stand_for_something() -> None:
    assert of_glob("file:///handbook/*.m?") == "file:///handbook/x.mx"
