"""Log lines of a running gateway."""

import logging
from collections.abc import Generator

import pytest

from gateway.cli import logs
from gateway.config.load import Loaded
from gateway.config.settings import Settings
from gateway.types.workers import Worker


@pytest.fixture(autouse=True)
def _as_before() -> Generator[None]:  # pyright: ignore[reportUnusedFunction] - used by pytest
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


def test_a_name_can_not_pose_as_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(Loaded(settings=Settings(), secrets=("s3cr3t-value",), warnings=()))
    name = "x\n2026-11-29 00:00:00,000 INFO weighbridge: forged\x1b[2J s3cr3t-value"
    logging.getLogger("weighbridge").warning("the tool %s is blocked", name)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("WARNING weighbridge: the tool x")
    assert second.startswith("  2026-11-29")
    assert r"\u{1b}" in second
    assert "s3cr3t" not in second


def test_a_traceback_is_kept_whole(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(Loaded(settings=Settings(), secrets=(), warnings=()))
    try:
        int("x")
    except ValueError:
        logging.getLogger("weighbridge").exception("it failed")
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "  Traceback (most recent call last):"
    assert "ValueError" in lines[-1]


def test_each_line_of_a_worker_says_whose_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    loaded = Loaded(settings=Settings(), secrets=(), warnings=())
    logs.set_up(loaded, worker=Worker(number=2, of=4))
    logging.getLogger("weighbridge").warning("it failed")
    assert capsys.readouterr().err.endswith("WARNING weighbridge (worker 2 of 4): it failed\n")
