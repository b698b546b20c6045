"""Streams that end before the answer: the rest is fetched."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.servers.entry import Entry, Protocol
from gateway.types.operations import Execution, Failure
from tests.helpers.fleets import QUICK, call, failed, first_text, running

PRIMER = b"id: e1\nretry: 5\ndata: \n\n"


def an_event(message: dict[str, Any], event_id: str = "") -> bytes:
    name = f"id: {event_id}\n".encode() if event_id else b""
    return name + b"data: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n"


@dataclass
class Closing:
    """A server of the handshake era whose stream of a call ends early.

    `rest` says what a GET gets, by its number; None refuses it.
    """

    first: bytes
    rest: Callable[[int, dict[str, Any]], bytes | None]
    asked_after: list[str] = field(default_factory=list[str])
    called: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: int = 0

    async def __call__(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        try:
            head = (await reading.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:  # a connection for a request that can't be made
            writing.close()
            return
        fields = dict(
            line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
        )
        body = await reading.readexactly(int(fields.get("content-length", 0)))
        status, kind, answer = self._answer(head, fields, json.loads(body) if body else {})
        writing.write(
            f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode()
        )
        writing.write(answer)
        await writing.drain()
        writing.close()

    def _answer(
        self, head: str, fields: dict[str, str], message: dict[str, Any]
    ) -> tuple[str, str, bytes]:
        stream = "text/event-stream"
        if head.startswith("GET"):
            if "last-event-id" not in fields:
                return "405 no", "text/plain", b""
            self.asked_after.append(fields["last-event-id"])
            rest = self.rest(len(self.asked_after), self.called)
            return ("405 no", "text/plain", b"") if rest is None else ("200 OK", stream, rest)
        if "id" not in message:
            return "202 Accepted", "text/plain", b""
        if message["method"] == "tools/call":
            self.calls += 1
            self.called = message
            return "200 OK", stream, self.first
        result: dict[str, Any] = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return "200 OK", "application/json", json.dumps(answer).encode()


@asynccontextmanager
async def serving(server: Closing) -> AsyncGenerator[Entry]:
    async with await asyncio.start_server(server, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        yield Entry(
            name="alpha",
            url=f"http://127.0.0.1:{port}/mcp",
            protocol=Protocol.LEGACY,
            timeouts=QUICK,
        )


def the_answer(called: dict[str, Any]) -> bytes:
    content = [{"type": "text", "text": "late"}]
    return an_event({"id": called["id"], "result": {"content": content}}, "e9")


async def test_the_answer_is_fetched_after_the_last_event() -> None:
    server = Closing(PRIMER, lambda _, called: the_answer(called))
    async with serving(server) as entry, running(entry) as servers:
        assert first_text(await call(servers.server("alpha"))) == "late"
    assert (server.asked_after, server.calls) == (["e1"], 1)


async def test_a_rest_that_ends_early_as_well_is_fetched_from_where_it_ended() -> None:
    note = an_event({"method": "notifications/message", "params": {}}, "e2")
    server = Closing(PRIMER, lambda time, called: note if time == 1 else the_answer(called))
    async with serving(server) as entry, running(entry) as servers:
        assert first_text(await call(servers.server("alpha"))) == "late"
    assert server.asked_after == ["e1", "e2"]


@pytest.mark.parametrize("first", [PRIMER, b": nothing with an id\n\n"])
async def test_a_server_that_keeps_no_rest_leaves_the_call_open(first: bytes) -> None:
    """case: HTT-05"""
    server = Closing(first, lambda _, __: None)
    async with serving(server) as entry, running(entry) as servers:
        lost = failed(await call(servers.server("alpha")))
    assert (lost.failure, lost.executed) == (Failure.CLOSED, Execution.UNKNOWN)
    assert server.calls == 1
    assert server.asked_after == (["e1"] if first == PRIMER else [])


async def test_an_id_that_no_header_can_carry_leaves_the_call_open() -> None:
    """case: HTT-05"""
    server = Closing(b"id: a\x01b\ndata: \n\n", lambda _, __: None)
    async with serving(server) as entry, running(entry) as servers:
        lost = failed(await call(servers.server("alpha")))
    assert (lost.failure, lost.executed) == (Failure.CLOSED, Execution.UNKNOWN)
    assert (server.calls, server.asked_after) == (1, [])


async def test_a_stream_that_ends_for_ever_is_given_up() -> None:
    server = Closing(PRIMER, lambda _, __: PRIMER)
    async with serving(server) as entry, running(entry) as servers:
        failed(await call(servers.server("alpha")))
    assert len(server.asked_after) == 16
