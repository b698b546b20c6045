"""Samples: of all rows, without favour, and the same again."""

from collections import Counter
from collections.abc import AsyncIterator

from gateway.actions.sampling import Sample
from gateway.types.json import JsonObject


async def population(count: int) -> AsyncIterator[JsonObject]:
    for number in range(count):
        yield {"n": number}


async def drawn(count: int, size: int, seed: int) -> tuple[list[object], int]:
    sample = Sample(size=size, seed=seed)
    found: list[object] = [row["n"] async for row in sample.of(population(count))]
    return found, sample.population


async def test_a_sample_is_in_order_without_repeats_and_the_same_by_its_seed() -> None:
    found, count = await drawn(1_000, 25, 7)
    assert (len(set(found)), count) == (25, 1_000)
    assert found == sorted(found, key=lambda each: int(str(each)))
    assert (await drawn(1_000, 25, 7))[0] == found
    assert (await drawn(1_000, 25, 8))[0] != found


async def test_of_a_small_population_all_is_drawn() -> None:
    assert await drawn(3, 25, 1) == ([0, 1, 2], 3)
    assert await drawn(0, 25, 1) == ([], 0)


async def test_no_row_is_favoured() -> None:
    counts = Counter[object]()
    for seed in range(2_000):
        counts.update((await drawn(10, 3, seed))[0])
    assert all(480 < counts[number] < 720 for number in range(10))  # 600 each, within 5 deviations
