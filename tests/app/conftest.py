"""Some modules start a gateway once, so their fixtures live on one event loop a module."""

import pytest

from tests.helpers.databases import (
    engine_name,
    open_store,
    outage,
    postgres_server,
    store,
    store_url,
)

__all__ = ["engine_name", "open_store", "outage", "postgres_server", "store", "store_url"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run on asyncio, with fixtures that outlive a test."""
    return "asyncio"
