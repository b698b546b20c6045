import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.replay.aligning import Pair, aligned


def alike(old: str, new: str) -> float:
    """Letters are tools, in capitals or not arguments."""
    return 1.0 if old == new else 0.4 if old.lower() == new.lower() else 0.0


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        ("abc", "abc", ["aa", "bb", "cc"]),
        ("abc", "aBc", ["aa", "bB", "cc"]),
        ("abc", "ac", ["aa", "b-", "cc"]),
        ("ac", "abc", ["aa", "-b", "cc"]),
        ("abc", "bca", ["bb", "cc", "aa!"]),
        ("aab", "ab", ["aa", "a-", "bb"]),
        ("", "ab", ["-a", "-b"]),
        ("ab", "", ["a-", "b-"]),
        ("aA", "A", ["a-", "AA"]),
    ],
)
def test_calls_stand_beside_what_is_most_like_them(old: str, new: str, pairs: list[str]) -> None:
    found = aligned(old, new, alike)
    told = [
        ("-" if each.old is None else old[each.old])
        + ("-" if each.new is None else new[each.new])
        + ("!" if each.is_moved else "")
        for each in found
    ]
    assert sorted(told) == sorted(pairs)
    assert [each.new for each in found if each.new is not None] == [*range(len(new))]


@given(st.text("abAB", max_size=12), st.text("abAB", max_size=12))
def test_every_place_of_both_is_in_one_pair(old: str, new: str) -> None:
    found = aligned(old, new, alike)
    assert sorted(each.old for each in found if each.old is not None) == [*range(len(old))]
    assert sorted(each.new for each in found if each.new is not None) == [*range(len(new))]
    kept = [each.old for each in found if each.old is not None and each.new is not None]
    in_order = [
        each.old
        for each in found
        if each.old is not None and each.new is not None and not each.is_moved
    ]
    assert in_order == sorted(in_order)
    assert all(alike(old[each.old or 0], new[each.new or 0]) for each in found if each.old in kept)


def test_what_moved_is_the_very_same() -> None:
    assert aligned("ab", "bA", alike) == (
        Pair(old=0, new=None),
        Pair(old=1, new=0),
        Pair(old=None, new=1),
    )
