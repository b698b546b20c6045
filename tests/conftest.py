"""Fixtures and settings that every test may use."""

import pytest
from hypothesis import settings

from tests.helpers.names import resolve_as_browsers_do

# No deadline: a busy machine is slow, and a test that asserts times proves nothing.
settings.register_profile("quiet", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=1000)  # --hypothesis-profile
settings.load_profile("quiet")
resolve_as_browsers_do()  # what `weighbridge serve` prints for people


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio only: it is what uvicorn runs on."""
    return "asyncio"
