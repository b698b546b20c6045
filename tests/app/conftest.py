"""Some modules start a gateway once, so their fixtures live on one event loop a module."""

import pytest


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run on asyncio, with fixtures that outlive a test."""
    return "asyncio"
