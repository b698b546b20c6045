"""Who acts."""

import pytest

from gateway.types.actors import person


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sam", "sam"),
        ("jos\u00e9", "jose\u0301"),
        ("JOS\u00c9", "jose\u0301"),
        ("\uff53am", "sam"),
        ("stra\u00dfe", "STRASSE"),
        ("i\u0307lker", "\u0130lker"),
        ("sa\u200bm", "sam"),
        ("jose\u200d\u0301", "jos\u00e9"),
        ("\u1fb3", "\u0391\u0399"),
    ],
)
def test_one_name_in_two_spellings_is_one_person(one: str, other: str) -> None:
    assert person(one) == person(other)
    assert person(person(one)) == person(one)


@pytest.mark.parametrize(
    ("one", "other"), [("sam", "sam@acme.example"), ("jose", "jos\u00e9"), ("sam", "s\u0430m")]
)
def test_other_names_are_other_people(one: str, other: str) -> None:
    assert person(one) != person(other)
