"""Journeys start a gateway once a module, so their fixtures live on one event loop a module."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.helpers.selfcheck import checked_folder


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run on asyncio, with fixtures that outlive a test."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def replays_to_the_same(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have all that the gateways of these journeys have decided judged again at the end.

    Under the revisions of then it has to be the same; a difference is a bug of one of the two.
    """
    yield
    for store in sorted(tmp_path_factory.getbasetemp().rglob("store.db")):
        found = asyncio.run(checked_folder(store.parent))
        assert not found.other, f"{store.parent}:\n{found.told}"
