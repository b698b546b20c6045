"""Servers over HTTP, running while a test does."""

from collections.abc import Generator

import pytest

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script


@pytest.fixture(params=["legacy", "modern"])
def fake(request: pytest.FixtureRequest) -> Generator[FakeHttp]:
    with FakeHttp(Script(eras=[request.param])) as server:
        yield server


@pytest.fixture
def legacy() -> Generator[FakeHttp]:
    with FakeHttp(Script(eras=["legacy"])) as server:
        yield server
