"""From watching to governing: everything passes, people review, then decisions are carried out."""

import asyncio
import os
import pty
import sys
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest

from gateway.types.tools import Effect
from tests.helpers import forked
from tests.helpers.fake_server import Script, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house

POLICY = """\
rules:
  - {id: all, decision: allow, match: {tools: ["alpha.*"]}}
  - {id: no-bans, decision: deny, match: {tools: [alpha.ban]}}
  - id: pay-asks
    decision: require_approval
    match: {tools: [alpha.pay]}
    approval: {approvers: {roles: [lead]}}
"""
FAULT = {"code": -32050, "message": "no luck", "data": {"why": [1, "two"]}}
RESULT: house.Json = {
    "content": [{"type": "text", "text": "wörds\u200b"}, {"type": "text", "text": "more"}],
    "structuredContent": {"n": 12345678901234567890, "half": 0.5},
}
NAMES = ("ban", "broken", "new", "note", "pay", "wipe")
WIPE = tool("wipe", description="Wipes\u202e everything.")
STRANGE = {"name": "strange", "inputSchema": {"type": "nothing that there is"}}


@pytest.fixture(scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    folder = tmp_path_factory.mktemp("observing")
    script = Script(
        tools=[*(tool(name) for name in NAMES if name != "wipe"), WIPE, STRANGE],
        on_call={"broken": [{"error": FAULT}], "*": [{"reply": RESULT}]},
    )
    config = house.config({"alpha": house.stdio(script, folder)}, mode="observe")
    reviewed = house.contracts(
        *(house.contract(tool(name), effect=Effect.WRITE) for name in ("ban", "broken", "pay")),
        house.contract(tool("note"), effect=Effect.WRITE, reviewed=False),
        house.contract(tool("wipe", description="Wipes."), effect=Effect.DESTRUCTIVE),
    )
    async with running(folder, config, policy=POLICY, contracts=reviewed) as started:
        await started.listed(*(f"alpha__{name}" for name in NAMES))
        yield started


def weighbridge(gateway: Gateway, *words: str) -> Any:
    return forked.ran([*words, "--config", str(gateway.folder / "config.yaml")])


def _denied(gateway: Gateway) -> int:
    """Return how many calls the newest snapshot says would have been denied."""
    observed: house.Json = house.status(gateway.folder)["observed"]
    sums: dict[str, int] = observed["sums"]
    return sums.get("deny", 0)


async def test_everything_passes_then_people_review_and_then_rules_hold(gateway: Gateway) -> None:
    for era in ("modern", "legacy"):
        await _passes_as_without_a_gateway(gateway, era)
    await _tells_what_would_have_been(gateway)
    await _is_reviewed_and_enforced(gateway)


async def _passes_as_without_a_gateway(gateway: Gateway, era: str) -> None:
    async with house.client(gateway, era) as client:
        assert sorted(await house.names_of(client)) == [
            *(f"alpha__{name}" for name in sorted((*NAMES, "strange"))),
        ]
        for name in ("ban", "ban", "new", "note", "pay", "strange", "wipe"):
            result = await house.call(client, f"alpha__{name}", {"any": ["thing"]})
            for member, value in RESULT.items():
                assert result[member] == value, name
            assert result.get("isError") is None
        failed = await house.call_for_error(client, "alpha__broken")
        assert failed == FAULT


async def _tells_what_would_have_been(gateway: Gateway) -> None:
    result = await gateway.call("alpha__ban", {"for": "the log"})
    await house.end(gateway.folder, outcome(result)["call_id"])
    log = house.events(gateway.folder, kind="authorization", call=outcome(result)["call_id"])
    assert log[0]["body"]["observed"]["rule"] == "no-bans"
    stages = house.events(gateway.folder, kind="tool_call", call=outcome(result)["call_id"])
    assert [each["stage"] for each in stages] == ["started", "finished"]
    await until_async(lambda: _denied(gateway) > 0, house.WITHIN_S)
    status = weighbridge(gateway, "status").stdout
    assert "OBSERVING every call passes" in status
    assert "alpha.ban denied by no-bans" in status
    assert "alpha.pay held by pay-asks" in status
    assert "alpha.wipe denied by pin_mismatch" in status
    assert "every call passes" in (gateway.folder / "log.txt").read_text()
    assert "mode: observe" in weighbridge(gateway, "doctor").stdout
    async with aiohttp.ClientSession() as session, session.get(gateway.admin) as page:
        assert "Every call passes" in await page.text()


async def _is_reviewed_and_enforced(gateway: Gateway) -> None:
    said = await _typed(gateway, "tools", "review", answers="s\na\nc\nread\nlow\n\n\na\nq\n")
    assert "alpha.strange can't be reviewed" in said
    assert "Wipes\\u{202E} everything." in said
    assert "2 tools accepted, 1 still to review" in said
    said = (await asyncio.to_thread(weighbridge, gateway, "enforce", "--yes")).stdout
    assert "denied" in said
    assert "alpha.ban" in said
    assert "alpha.new  (no contract)" in said
    assert "1 running gateway took it over" in said
    assert outcome(await gateway.call("alpha__ban"))["status"] == "unknown_tool"
    assert outcome(await gateway.call("alpha__new"))["status"] == "unknown_tool"
    for name in ("note", "wipe"):  # were reviewed
        assert outcome(await gateway.call(f"alpha__{name}"))["status"] == "ok"
    assert outcome(await gateway.call("alpha__pay"))["status"] == "approval_pending"
    assert await gateway.names() == [
        *(f"alpha__{name}" for name in ("broken", "note", "pay", "wipe")),
        "gateway_wait",
    ]


async def _typed(gateway: Gateway, *words: str, answers: str) -> str:
    """Run a command on a terminal of its own, with what somebody types; returns what it shows."""
    ours, theirs = pty.openpty()
    command = ["-m", "gateway", *words, "--config", str(gateway.folder / "config.yaml")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    shown = bytearray()

    def read() -> None:
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:  # its end, where nobody holds the other side any more
                return
            if not some:
                return
            shown.extend(some)

    try:
        async with asyncio.timeout(house.WITHIN_S * 3):
            await asyncio.to_thread(read)
            await process.wait()
    finally:
        os.close(ours)
    text = shown.decode()
    assert process.returncode == 0, text
    return text
