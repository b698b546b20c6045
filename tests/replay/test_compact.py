import sys
from random import Random

from gateway.replay.compact import Names, Sums

MANY = 5_000


def test_names_are_a_set() -> None:
    random, names, known = Random(1), Names(), set[str]()
    for _ in range(MANY):
        name = f"run_{random.randrange(MANY // 2)}"
        assert (name in names) is (name in known)
        assert names.add(name) is (name not in known)
        known.add(name)
        assert len(names) == len(known)
    assert all(each in names for each in known)
    assert "run_none" not in names


def test_sums_are_a_sum_for_each_name() -> None:
    random, sums, known = Random(2), Sums(), dict[tuple[str, str], float]()
    for _ in range(MANY):
        name = ("calls", f"of_run={random.randrange(MANY // 3)}")
        amount = float(random.randrange(10))
        sums.take(name, amount)
        known[name] = known.get(name, 0.0) + amount
        assert sums.of(name) == known[name]
    assert {name: sums.of(name) for name in known} == known
    assert sums.of("of nobody") == 0.0
    assert len(sums) == len(known)


def test_names_that_begin_to_look_for_their_places_at_the_same_one_are_kept_apart() -> None:
    class Same(int):
        def __hash__(self) -> int:
            return 8 * int(self)  # of few places always the first

    names = Names()
    assert [names.add(Same(each)) for each in range(1, 40)] == [True] * 39
    assert [names.add(Same(each)) for each in range(1, 40)] == [False] * 39
    assert Same(40) not in names


def test_a_hash_of_nothing_is_a_name_like_any() -> None:
    names = Names()
    assert 0 not in names
    assert names.add(0)
    assert 0 in names


def test_however_long_names_are_they_take_a_few_bytes() -> None:
    names = Names()
    for each in range(MANY):
        names.add(f"{each}-" + "x" * 500)
    held = sum(sys.getsizeof(getattr(names, each)) for each in Names.__slots__)
    assert held < 26 * MANY
