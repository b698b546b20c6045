"""Servers of the demo are started once a module, so their fixtures live on one event loop."""

import pytest


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run on asyncio, with fixtures that outlive a test."""
    return "asyncio"
