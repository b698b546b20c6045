"""Rows that bring every two choices together."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.covering import Chance, pairs_of, rows

Sizes = st.lists(st.integers(min_value=1, max_value=6), min_size=2, max_size=7)


@given(Sizes, st.integers(min_value=0, max_value=2**40))
def test_every_two_values_are_together_in_some_row(sizes: list[int], seed: int) -> None:
    found = rows(sizes, seed=seed, most=200)
    together = frozenset[tuple[int, int, int, int]]().union(*map(pairs_of, found))
    wanted = {
        (left, a, right, b)
        for left, right in combinations(range(len(sizes)), 2)
        for a in range(sizes[left])
        for b in range(sizes[right])
    }
    assert together == wanted
    assert all(value < size for row in found for value, size in zip(row, sizes, strict=True))


def test_few_choices_are_all_made_and_many_are_not() -> None:
    assert len(rows([2, 3, 4], seed=0, most=24)) == 24
    assert len(rows([9, 7, 6, 4, 4, 3, 3, 2], seed=0, most=2000)) < 120


def test_a_seed_gives_the_same_rows() -> None:
    sizes = [5, 4, 4, 3, 3]
    assert rows(sizes, seed=7, most=100) == rows(sizes, seed=7, most=100)
    assert rows(sizes, seed=7, most=100) != rows(sizes, seed=8, most=100)
    assert len(rows(sizes, seed=7, most=3)) == 3


@pytest.mark.parametrize("sizes", [[3, 0, 2], [0]])
def test_an_axis_without_a_choice_leaves_nothing(sizes: list[int]) -> None:
    assert rows(sizes, seed=0, most=10) == []


def test_no_axis_at_all_is_one_row_and_no_room_is_none() -> None:
    assert rows([1, 1], seed=0, most=1) == [(0, 0)]
    assert rows([2, 2], seed=0, most=0) == []


def test_numbers_of_chance_stay_below_and_differ() -> None:
    chance = Chance(3)
    drawn = [chance.below(10) for _ in range(200)]
    assert set(drawn) == set(range(10))
