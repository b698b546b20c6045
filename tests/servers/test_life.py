"""Outages, as calls see them, and the one more try for what was lost."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from gateway.types.operations import Execution, Failure
from tests.helpers.fake_server import Script, record_of, text
from tests.helpers.fleets import QUICK, call, failed, first_text, running, stdio_entry, until_status


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_read_that_was_lost_in_flight_is_sent_once_more(tmp_path: Path, era: str) -> None:
    """case: HTT-03"""
    steps = [{"exit_once": str(tmp_path / "once")}, {"reply": text("ok")}]
    script = Script(eras=[era], on_call={"read": steps, "die": [{"exit": 1}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha, record = servers.server("alpha"), record_of(tmp_path, "alpha")
        assert first_text(await call(alpha, "read", is_read=True)) == "ok"
        got = failed(await call(alpha, "die", is_read=True))
        assert got.failure is Failure.CLOSED
        assert [message["params"]["name"] for message in record.calls()] == ["read"] * 2 + [
            "die"
        ] * 2


async def test_a_write_that_was_lost_in_flight_is_never_sent_again(tmp_path: Path) -> None:
    script = Script(on_call={"write": [{"exit": 1}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        got = failed(await call(servers.server("alpha"), "write"))
        assert (got.failure, got.executed) == (Failure.CLOSED, Execution.UNKNOWN)
        await until_status(servers.server("alpha"), "ready")
        assert first_text(await call(servers.server("alpha"))) == "echo"
    called = [message["params"]["name"] for message in record_of(tmp_path, "alpha").calls()]
    assert called == ["write", "echo"]


async def test_a_lost_read_waits_no_longer_than_its_deadline(tmp_path: Path) -> None:
    times = replace(QUICK, backoff_min_s=60, backoff_max_s=60, wake_gap_s=60)
    script = Script(on_call={"read": [{"exit": 1}]})
    async with running(stdio_entry(script, tmp_path, timeouts=times)) as servers:
        with anyio.fail_after(15):
            got = failed(await call(servers.server("alpha"), "read", is_read=True, deadline_s=0.5))
        assert got.failure is Failure.CLOSED


async def test_a_server_that_stays_away_is_told_with_the_reason_of_the_loss(
    tmp_path: Path,
) -> None:
    script = Script(on_call={"read": [{"exit": 9}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        path = tmp_path / "alpha.json"
        content = path.read_text()
        path.write_text("no script")
        got = failed(await call(servers.server("alpha"), "read", is_read=True))
        assert "exited with code 9" in got.detail
        path.write_text(content)
