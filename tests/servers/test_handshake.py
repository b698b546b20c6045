"""Which revision is spoken."""

from pathlib import Path
from typing import Any

import pytest

from gateway.servers.entry import Protocol
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, record_of
from tests.helpers.fleets import call, first_text, http_entry, running, stdio_entry, until_status

UNSUPPORTED = {"code": -32022, "message": "no", "data": {"supported": ["2099-01-01"]}}


@pytest.mark.parametrize(
    ("eras", "asked", "expected"),
    [
        (["legacy", "modern"], Protocol.AUTO, "2026-07-28"),
        (["legacy"], Protocol.AUTO, "2025-11-25"),
        (["modern"], Protocol.AUTO, "2026-07-28"),
        (["legacy", "modern"], Protocol.LEGACY, "2025-11-25"),
        (["legacy", "modern"], Protocol.MODERN, "2026-07-28"),
    ],
)
async def test_the_newest_common_revision_is_spoken(
    tmp_path: Path, eras: list[str], asked: Protocol, expected: str
) -> None:
    entry = stdio_entry(Script(eras=eras), tmp_path, protocol=asked)
    with FakeHttp(Script(eras=eras)) as fake:
        other = http_entry(fake, "beta", protocol=asked)
        async with running(entry, other) as servers:
            assert [state.version for state in servers.states()] == [expected, expected]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
async def test_an_older_revision_is_taken_up(tmp_path: Path, version: str) -> None:
    script = Script(eras=["legacy"], version=version)
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert servers.states()[0].version == version


async def test_an_unknown_revision_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    script = Script(eras=["legacy"], version="2031-01-01")
    async with running(stdio_entry(script, tmp_path)) as servers:
        (state,) = servers.states()
        assert state.status == "failed"
        assert "protocol version" in state.reason


async def test_a_refusal_that_names_the_very_revision_is_asked_once_more(tmp_path: Path) -> None:
    refusal = {**UNSUPPORTED, "data": {"supported": ["2026-07-28"]}}
    script = Script(eras=["legacy"], on_discover=[{"error": refusal}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert servers.states()[0].version == "2025-11-25"
    assert len(record_of(tmp_path, "alpha").calls("server/discover")) == 2


async def test_a_server_of_other_revisions_only_is_not_asked_again(tmp_path: Path) -> None:
    script = Script(on_discover=[{"error": UNSUPPORTED}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert "-32022" in servers.states()[0].reason
    assert not record_of(tmp_path, "alpha").calls("initialize")


@pytest.mark.parametrize(
    "steps",
    [
        [{"error": {"code": -32601, "message": "?"}}],
        [{"reply": {"supportedVersions": ["2025-11-25"]}}],
        [{"reply": {}}],
        [{"raw": '{"jsonrpc":"2.0","id":$ID,"result":7}'}],
        [{"delay_ms": 60_000}],
    ],
)
async def test_anything_but_a_modern_answer_leads_to_initialize(
    tmp_path: Path, steps: list[Any]
) -> None:
    async with running(stdio_entry(Script(on_discover=steps), tmp_path)) as servers:
        assert servers.states()[0].era == "legacy"
        assert first_text(await call(servers.server("alpha"))) == "echo"


async def test_a_server_that_ends_on_an_unknown_first_message_is_started_the_old_way(
    tmp_path: Path,
) -> None:
    script = Script(on_discover=[{"exit": 1}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        await until_status(alpha, "ready")
        assert servers.states()[0].era == "legacy"
    assert len(record_of(tmp_path, "alpha").pids()) == 2


async def test_a_slow_modern_server_that_refuses_initialize_is_asked_again(tmp_path: Path) -> None:
    again: list[Any] = [{"set": {"on_discover": []}}, {"delay_ms": 60_000}]
    refused = {"code": -32022, "message": "modern", "data": {"supported": ["2026-07-28"]}}
    script = Script(on_discover=again, on_initialize=[{"error": refused}])
    async with running(stdio_entry(script, tmp_path)) as servers:
        assert servers.states()[0].era == "modern"


async def test_no_cancellation_is_sent_for_a_handshake(tmp_path: Path) -> None:
    script = Script(on_discover=[{"delay_ms": 60_000}])
    async with running(stdio_entry(script, tmp_path)):
        pass
    assert not record_of(tmp_path, "alpha").calls("notifications/cancelled")
