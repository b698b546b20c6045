"""Requests that never became calls: each leaves a trace, none its text, a flood is a count."""

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import aiohttp

from tests.helpers.fake_server import until_async
from tests.helpers.gateway import ALLOW, MODERN, Gateway, running
from tests.journeys import house

BODY_TEXT = "hunter2-in-a-body"
TOKEN = "wb_made-up_" + "5" * 64
KEY, ENTRY = house.key("ada", "acme")
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": MODERN,
}


async def posted(gateway: Gateway, body: str, **headers: str) -> tuple[int, str]:
    """Send a body as it is; returns status and answer."""
    sent = (
        HEADERS | gateway.headers | {key.replace("_", "-"): each for key, each in headers.items()}
    )
    async with (
        aiohttp.ClientSession() as session,
        session.post(gateway.url, data=body.encode(), headers=sent) as answer,
    ):
        return answer.status, await answer.text()


async def test_malformed_messages_and_bad_credentials_are_in_the_log_without_their_text(
    tmp_path: Path,
) -> None:
    """case: OBS-05"""
    config = house.config({}, identity={"api_keys": [ENTRY]})
    auth = {"Authorization": f"Bearer {KEY}"}
    async with running(tmp_path, config, headers=auth) as gateway:
        broken = '{"jsonrpc": "2.0", "' + BODY_TEXT
        assert (await posted(gateway, broken))[0] == 400
        assert (await posted(gateway, broken, MCP_Protocol_Version=house.LEGACY))[0] == 400
        assert (await posted(gateway, "{}", Authorization=f"Bearer {TOKEN}"))[0] == 401
        malformed = await house.event(tmp_path, action="request_refused", reason="parse_error")
        rejected = await house.event(tmp_path, action="auth_rejected", reason="invalid_credential")
    assert malformed["kind"] == rejected["kind"] == "admin"
    assert malformed["body"] | {"since": ""} == {
        "action": "request_refused",
        "reason": "parse_error",
        "count": 1,
        "since": "",
        "peers": ["127.0.0.1"],
        "transport": "http",
        "methods": [],
    }
    assert rejected["body"]["details"] == ["the API key is not valid"]
    counts = [one["body"]["count"] for one in house.events(tmp_path, reason="parse_error")]
    assert sum(counts) == 2
    for path in (*tmp_path.glob("store.db*"), tmp_path / "log.txt"):
        data = path.read_bytes()
        assert BODY_TEXT.encode() not in data
        assert TOKEN.encode() not in data


async def test_a_flood_of_bad_requests_costs_a_few_events_and_no_count_is_lost(
    tmp_path: Path,
) -> None:
    """case: OBS-05"""
    async with running(tmp_path, house.config({})) as gateway:
        began = time.monotonic()
        async with aiohttp.ClientSession(headers=HEADERS) as session:

            async def knock(number: int) -> int:
                body = json.dumps({"jsonrpc": "2.0", "id": number, "method": f"no/{number}"})
                async with session.post(gateway.url, data=body.encode()) as answer:
                    return answer.status

            for _ in range(10):
                statuses = await asyncio.gather(*(knock(number) for number in range(100)))
                assert set(statuses) == {400}
        took = time.monotonic() - began
        assert await gateway.stop() == 0
    found = house.events(tmp_path, action="request_refused")
    assert sum(one["body"]["count"] for one in found) == 1000
    assert len(found) <= 2 + took
    assert {tuple(one["body"]["methods"]) for one in found} == {()}


async def test_a_host_that_sends_nonsense_over_stdio_leaves_a_trace(tmp_path: Path) -> None:
    """case: OBS-05"""
    async with house.hosted(tmp_path, house.config({}), policy=ALLOW) as host:
        assert host.process.stdin
        host.process.stdin.write(b"hello " + BODY_TEXT.encode() + b"\n")
        assert (await host.read())["error"]["code"] == -32700
        found = await house.event(tmp_path, action="request_refused", transport="stdio")
        assert (found["body"]["reason"], found["body"]["peers"]) == ("parse_error", [])


async def test_a_log_that_is_away_changes_no_answer(tmp_path: Path) -> None:
    """case: OBS-05"""
    async with running(tmp_path, house.config({})) as gateway:
        before = await posted(gateway, "[")
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert await posted(gateway, "[") == before
            assert await posted(gateway, "[") == before
            other.execute("ROLLBACK")
        await until_async(lambda: house.events(tmp_path, action="request_refused"), house.WITHIN_S)
