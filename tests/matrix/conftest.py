"""One house for the whole matrix: starting it takes longer than all that is asked of it."""

from collections.abc import AsyncGenerator

import pytest

from tests.matrix.houses import KINDS, House, built


@pytest.fixture(scope="package")
def anyio_backend() -> str:
    """Run on asyncio, with fixtures that outlive a test and a module."""
    return "asyncio"


@pytest.fixture(scope="package")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[House]:
    """The servers, and the gateways before them."""
    async with built(tmp_path_factory.mktemp("matrix")) as house:
        yield house


@pytest.fixture(params=KINDS)
def caller(request: pytest.FixtureRequest) -> str:
    """The kind of the client that talks to the gateway."""
    return request.param


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest) -> str:
    """The kind of the server behind the gateway."""
    return request.param
