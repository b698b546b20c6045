"""Calls that people decide about, at real gateways: all at once, and through their death.

`scripts/chaos decisions` does the same hundreds of times.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from gateway.ids import ulid
from tests.helpers.databases import ENGINES
from tests.helpers.deciders import town
from tests.helpers.deciding_kills import TURNS, kills
from tests.helpers.deciding_rounds import CALLERS, rounds
from tests.helpers.postgres import OwnPostgres, own_postgres


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store: its URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: OwnPostgres = request.getfixturevalue("postgres")
    return server.create(f"t{ulid().lower()}")


async def test_whoever_decides_and_comes_back_at_once_an_approved_call_is_sent_once(
    tmp_path: Path, store: str
) -> None:
    """case: APR-03, APR-06, APR-08, APR-10"""
    async with town(tmp_path, store) as found:
        tally = await rounds(found, 2)
    assert tally.wrong == []
    assert sum(tally.ends.values()) == 2
    assert tally.answers == 2 * CALLERS


async def test_a_gateway_that_dies_on_the_way_of_a_held_call_loses_nothing_and_sends_nothing_twice(
    tmp_path: Path, store: str
) -> None:
    """case: APR-07"""
    async with town(tmp_path, store) as found:
        toll = await kills(found, 1)
    assert toll.wrong == []
    assert sum(toll.ends.values()) == len(TURNS)
