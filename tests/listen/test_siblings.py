"""Requests go to the worker that they belong to, and marks in ids are seen by nobody else."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from starlette.types import Receive, Scope, Send

from gateway.cli.listeners import bound_at
from gateway.listen.handover import FROM
from gateway.listen.serve import serve
from gateway.listen.siblings import Siblings, socket_of
from gateway.types.workers import Worker
from tests.listen.test_handover import Client

Header = tuple[bytes, bytes]


class Front:
    """Answers with a session of its own, and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.seen.append(scope)
        await receive()
        headers = [(b"mcp-session-id", b"abc"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})

    @property
    def session(self) -> bytes:
        return dict(self.seen[-1]["headers"]).get(b"mcp-session-id", b"")


@asynccontextmanager
async def second(folder: Path) -> AsyncGenerator[Front]:
    """Let worker 2 of 2 take what is handed over to it."""
    front, stop, ready = Front(), anyio.Event(), anyio.Event()
    siblings = Siblings(Worker(number=2, of=2), folder)
    with bound_at(socket_of(folder, 2)) as sock:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                lambda: serve(siblings.siblings(front), sock, stop=stop, on_ready=ready.set)
            )
            await ready.wait()
            yield front
            stop.set()


async def asked(folder: Path, *headers: Header) -> tuple[Front, Client]:
    """Ask worker 1 of 2; returns its own front, and what its client saw."""
    front, client = Front(), Client(headers=[*headers])
    siblings = Siblings(Worker(number=1, of=2), folder)
    await siblings.agents(front)(client.scope, client.receive, client.send)
    siblings.close()
    return front, client


async def test_a_session_that_is_opened_here_is_marked_and_found_again(tmp_path: Path) -> None:
    front, client = await asked(tmp_path)
    assert dict(client.sent[0]["headers"])[b"mcp-session-id"] == b"w1-abc"
    front, _ = await asked(tmp_path, (b"mcp-session-id", b"w1-abc"))
    assert front.session == b"abc"


async def test_a_session_of_another_is_handed_over_with_its_clients_address(
    tmp_path: Path,
) -> None:
    async with second(tmp_path) as there:
        here, client = await asked(
            tmp_path, (b"mcp-session-id", b"w2-abc"), (b"host", b"a"), (FROM, b"6.6.6.6 1")
        )
    assert not here.seen
    assert there.session == b"abc"
    assert there.seen[0]["client"] == ("10.0.0.7", 4711)
    assert FROM not in dict(there.seen[0]["headers"])
    assert dict(client.sent[0]["headers"])[b"mcp-session-id"] == b"w2-abc"
    assert client.body == b"ok"


@pytest.mark.parametrize(
    "session", [b"w2-abc", b"w3-abc", b"w01-abc", b"w1234-abc", b"abc", b"w2-", b"\xff", b""]
)
async def test_what_leads_nowhere_is_a_session_that_nobody_has(
    tmp_path: Path, session: bytes
) -> None:
    front, _ = await asked(tmp_path, (b"mcp-session-id", session))
    assert front.session == b"-" + session  # which the front has never given out


async def test_two_sessions_in_one_request_stay_two_and_are_refused_where_they_arrive(
    tmp_path: Path,
) -> None:
    async with second(tmp_path) as there:
        here, _ = await asked(
            tmp_path, (b"mcp-session-id", b"w2-abc"), (b"mcp-session-id", b"w1-abc")
        )
    assert not there.seen
    assert [value for _, value in here.seen[0]["headers"]] == [b"-w2-abc", b"abc"]


@pytest.mark.parametrize(
    ("body", "is_elsewhere"),
    [
        (b'{"requestState":"wb1.w2.AAAA"}', True),
        (b'{"taskId": "wb1.w2.AAAA"}', True),
        (b'{"requestState":"wb1.w1.AAAA"}', False),
        (b'{"requestState":"wb1.w3.AAAA"}', False),
        (b'{"requestState":"wb1.AAAA"}', False),
        (b'{"text":"see wb1.w2.AAAA"}', False),
        (b"", False),
    ],
)
def test_a_token_shows_the_worker_that_made_it(
    tmp_path: Path, body: bytes, is_elsewhere: bool
) -> None:
    siblings = Siblings(Worker(number=1, of=2), tmp_path)
    assert (siblings.of_body(body) is not None) == is_elsewhere


async def test_a_listener_starts_and_stops_without_the_front(tmp_path: Path) -> None:
    front, sent = Front(), list[str]()
    events = ["lifespan.startup", "lifespan.shutdown"]

    async def receive() -> dict[str, str]:
        await asyncio.sleep(0)
        return {"type": events.pop(0)}

    async def send(event: object) -> None:
        assert isinstance(event, dict)
        sent.append(str(event["type"]))  # pyright: ignore[reportUnknownArgumentType] - a message

    siblings = Siblings(Worker(number=1, of=2), tmp_path)
    await siblings.agents(front)({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert not front.seen
