"""Fixtures and settings that every test may use."""

import gc
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers.databases import (
    blank_url,
    connect,
    engine_name,
    open_log,
    open_store,
    outage,
    postgres_server,
    prepared_file,
    store,
    store_url,
)
from tests.helpers.names import resolve_as_browsers_do

# Stores on both engines, for every test that asks for one.
__all__ = [
    "blank_url",
    "connect",
    "engine_name",
    "open_log",
    "open_store",
    "outage",
    "postgres_server",
    "prepared_file",
    "store",
    "store_url",
]

# No deadline: a busy machine is slow, and a test that asserts times proves nothing.
settings.register_profile("quiet", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=1000)  # --hypothesis-profile
settings.load_profile("quiet")
# A shell makes what it starts in the background deaf to Ctrl-C, and that would be inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
resolve_as_browsers_do()  # what `weighbridge serve` prints for people


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio only: it is what uvicorn runs on."""
    return "asyncio"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep each folder's tests together, in whatever order: what they share is made only once."""
    order: dict[Path, int] = {}
    for item in items:
        order.setdefault(item.path.parent, len(order))
    items.sort(key=lambda item: order[item.path.parent])


def pytest_collection_finish() -> None:
    """Never look through modules and collected tests for garbage: they stay to the end."""
    gc.collect()
    gc.freeze()
