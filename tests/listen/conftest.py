"""One front for all tests of a module that need nothing special of it."""

from collections.abc import AsyncGenerator

import pytest

from tests.listen.house import House, Place, serving


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Keep one event loop for a module, so that its front can be shared."""
    return "asyncio"


@pytest.fixture(scope="module")
async def shared_place() -> AsyncGenerator[Place]:
    """Serve with default options."""
    async with serving(House()) as place:
        yield place


@pytest.fixture
def place(shared_place: Place) -> Place:
    """Give the shared front, its house with no memory of other tests."""
    shared_place.house.forget()
    return shared_place
