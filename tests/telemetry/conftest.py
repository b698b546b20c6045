"""A collector on a real socket, for each test that wants one."""

from collections.abc import Iterator

import pytest

from tests.helpers.otlp_receiver import OtlpReceiver, otlp_receiver


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    """Receive spans and metrics until the test ends."""
    with otlp_receiver() as receiver:
        yield receiver
