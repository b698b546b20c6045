"""Clients that write and read JSON and nothing else: both eras, over HTTP and over stdio.

They talk to a server and to the gateway alike. Numbers with a fraction are read as texts such as
`1.0 (real)`, so that 1 and 1.0 are two things and no digit is lost.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import aiohttp

from tests.helpers.forked import Hosted
from tests.matrix.fixtures import Json

LEGACY, MODERN = "2025-11-25", "2026-07-28"
WITHIN_S = 30.0  # a busy machine is slow, and starting is the slowest
_NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_NEWS = (
    "list_changed",
    "resources/updated",
    "subscriptions/acknowledged",
    "elicitation/complete",
    "notifications/tasks",
)

# What a task declares and which headers it adds, where others speak over the same wire.
_CAPABLE: ContextVar[Json | None] = ContextVar("_CAPABLE", default=None)
_HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("_HEADERS", default=None)

# Answers a question of the server: the `result` or `error` of the response; None: not at all.
Answer = Callable[[Json], Json | None]


def exact(text: bytes | str) -> Json:
    """Read one message without losing a digit."""
    return json.loads(text, parse_float=lambda digits: f"{Decimal(digits).normalize()} (real)")


@dataclass
class Heard:
    """What came back from one request."""

    message: Json = field(default_factory=dict[str, Any])
    notes: list[Json] = field(default_factory=list[Json])
    asked: list[Json] = field(default_factory=list[Json])

    @property
    def result(self) -> Json:
        """The result; the request must not have failed."""
        assert "result" in self.message, self.message
        return self.message["result"]

    @property
    def error(self) -> Json:
        """The error; the request must have failed."""
        assert "error" in self.message, self.message
        return self.message["error"]

    def told(self, method: str) -> list[Json]:
        """Return the params of the notifications of a method."""
        return [note["params"] for note in self.notes if note["method"] == method]


class Wire:
    """A client; each kind says how it sends."""

    is_modern = False
    within_s = WITHIN_S

    def __init__(self, capabilities: Json) -> None:
        self.capabilities = capabilities
        self.log_level = ""
        self.news: asyncio.Queue[Json] = asyncio.Queue()  # what belongs to no request
        self.tap: Callable[[bytes], None] = _ignored  # hears all that arrives, as it arrives
        self.makes_keys = False
        """Whether each call of a tool gets a key, so that no call is taken for one before it."""
        self._number = 0

    async def request(
        self, method: str, params: Json | None = None, *, answer: Answer | None = None, **meta: Any
    ) -> Heard:
        """Send a request, answer what is asked, and return what came; `meta` goes into `_meta`."""
        heard = Heard()
        sent: Json = dict(params or {})
        if self.makes_keys and method == "tools/call":
            meta = {"weighbridge/idempotencyKey": f"key-{id(self)}-{self._number}", **meta}
        for _ in range(8):
            async with asyncio.timeout(self.within_s):
                await self._once(method, self._params(sent, meta), heard, answer)
            result = heard.message.get("result", {})
            if answer is None or result.get("resultType") != "input_required":
                break
            responses: Json = {}
            for key, asked in result["inputRequests"].items():
                heard.asked.append(asked)
                responses[key] = answer(asked)
            if None in responses.values():
                break
            sent["inputResponses"] = {k: v["result"] for k, v in responses.items()}
            sent.pop("requestState", None)
            if "requestState" in result:
                sent["requestState"] = result["requestState"]
        return heard

    def _params(self, params: Json, meta: Mapping[str, Any]) -> Json:
        said: Json = {**params.get("_meta", {}), **meta}
        if self.is_modern:
            said["io.modelcontextprotocol/protocolVersion"] = MODERN
            capable = _CAPABLE.get()
            said["io.modelcontextprotocol/clientCapabilities"] = (
                self.capabilities if capable is None else capable
            )
            if self.log_level:
                said["io.modelcontextprotocol/logLevel"] = self.log_level
        return {**params, "_meta": said} if said else params

    def _message(self, method: str, params: Json) -> Json:
        self._number += 1
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}

    async def _once(self, method: str, params: Json, heard: Heard, answer: Answer | None) -> None:
        raise NotImplementedError

    async def note(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        await self._post({"method": method, **({} if params is None else {"params": params})})

    async def _post(self, message: Json) -> None:
        raise NotImplementedError

    async def hello(self) -> None:
        """Do what the era wants first."""
        if not self.is_modern:
            client = {"name": "matrix", "version": "1"}
            params = {"protocolVersion": LEGACY, "capabilities": self.capabilities}
            (await self.request("initialize", {**params, "clientInfo": client})).result  # noqa: B018
            await self.note("notifications/initialized")

    async def set_level(self, level: str) -> None:
        """Ask for log messages from a level on."""
        self.log_level = level
        if not self.is_modern:
            (await self.request("logging/setLevel", {"level": level})).result  # noqa: B018

    @asynccontextmanager
    async def listening(self, *uris: str, tasks: Sequence[str] = ()) -> AsyncGenerator[None]:
        """Follow the lists, these resources and tasks; news come into `news`."""
        if not self.is_modern:
            for uri in uris:
                (await self.request("resources/subscribe", {"uri": uri})).result  # noqa: B018
            yield
            for uri in uris:
                (await self.request("resources/unsubscribe", {"uri": uri})).result  # noqa: B018
            return
        lists = dict.fromkeys(
            ("toolsListChanged", "resourcesListChanged", "promptsListChanged"), True
        )
        wanted: Json = {**lists, "resourceSubscriptions": [*uris]}
        if tasks:
            wanted["taskIds"] = [*tasks]
        params = self._params({"notifications": wanted}, {})
        work = asyncio.ensure_future(self._once("subscriptions/listen", params, Heard(), None))
        try:
            began = await self.told("notifications/subscriptions/acknowledged")
            assert began["params"]["notifications"].get("taskIds", []) == [*tasks]
            yield
        finally:
            work.cancel()
            await asyncio.wait({work})

    async def told(self, method: str) -> Json:
        """Wait for news of a kind, dropping others."""
        async with asyncio.timeout(self.within_s):
            while True:
                news = await self.news.get()
                if news["method"] == method:
                    return news

    def _take(self, message: Json, heard: Heard) -> None:
        if any(message["method"].endswith(end) for end in _NEWS):
            self.news.put_nowait(message)
        else:
            heard.notes.append(message)


@contextmanager
def saying(
    capabilities: Json | None = None, headers: Mapping[str, str] | None = None
) -> Generator[None]:
    """Have the requests of this task, and of no other, declare and say something else."""
    tokens = _CAPABLE.set(capabilities), _HEADERS.set(headers)
    try:
        yield
    finally:
        _CAPABLE.reset(tokens[0])
        _HEADERS.reset(tokens[1])


def reply(question: Json, said: Json) -> Json:
    """Return the response to a question."""
    return {"id": question["id"], **said}


class Http(Wire):
    """A client over Streamable HTTP."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        url: str,
        capabilities: Json,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(capabilities)
        self._session = session
        self._url = url
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **headers,
        }

    def _headers_of(self, message: Json) -> dict[str, str]:
        raise NotImplementedError

    def _whole(self, response: aiohttp.ClientResponse, body: bytes) -> Json:
        self.tap(body)
        if response.content_type == "application/json":
            return exact(body)
        return {"error": {"code": response.status, "message": body.decode()}}

    async def _once(self, method: str, params: Json, heard: Heard, answer: Answer | None) -> None:
        message = self._message(method, params)
        try:
            headers = {**self._headers_of(message), **(_HEADERS.get() or {})}
            async with self._session.post(
                self._url, data=json.dumps(message).encode(), headers=headers
            ) as response:
                self._note_session(response)
                if response.content_type != "text/event-stream":
                    heard.message = self._whole(response, await response.read())
                    return
                # To its end, so that the connection can be used again.
                answered = [
                    await self._event(event, heard, answer)
                    async for event in events(response, self.tap)
                ]
                assert any(answered), f"no answer to {method}"
        except asyncio.CancelledError:
            await asyncio.shield(self._cancelled(message["id"]))
            raise

    async def _event(self, event: Json, heard: Heard, answer: Answer | None) -> bool:
        if "method" not in event:
            heard.message = event
            return True
        if "id" not in event:
            self._take(event, heard)
            return False
        heard.asked.append({"method": event["method"], "params": event.get("params")})
        said = answer(event) if answer else None
        if said is not None:
            await self._post(reply(event, said))
        return False

    async def _post(self, message: Json) -> None:
        whole = {"jsonrpc": "2.0", **message}
        async with self._session.post(
            self._url, data=json.dumps(whole).encode(), headers=self._headers_of(whole)
        ) as response:
            assert response.status == 202, await response.text()

    def _note_session(self, response: aiohttp.ClientResponse) -> None:
        del response

    async def _cancelled(self, number: int) -> None:
        del number


class ModernHttp(Http):
    """2026-07-28: a request is cancelled by closing its response."""

    is_modern = True

    def _headers_of(self, message: Json) -> dict[str, str]:
        method = message["method"]
        headers = {**self._headers, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if method in _NAMED_BY:
            headers["Mcp-Name"] = message["params"][_NAMED_BY[method]]
        return headers


class LegacyHttp(Http):
    """2025-11-25: a session, with a stream for what belongs to no request."""

    def _headers_of(self, message: Json) -> dict[str, str]:
        if message.get("method") == "initialize":
            return self._headers
        return {**self._headers, "MCP-Protocol-Version": LEGACY}

    @property
    def session(self) -> str:
        """The id that the server has given."""
        return self._headers.get("Mcp-Session-Id", "")

    def _note_session(self, response: aiohttp.ClientResponse) -> None:
        if "Mcp-Session-Id" in response.headers:
            self._headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]

    async def _cancelled(self, number: int) -> None:
        await self.note("notifications/cancelled", {"requestId": number})

    async def follow(self) -> None:
        """Read the session's own stream."""
        async with self._session.get(self._url, headers=self._headers_of({})) as response:
            assert response.status == 200, await response.text()
            async for event in events(response, self.tap):
                self.news.put_nowait(event)

    async def end(self) -> None:
        """End the session."""
        async with self._session.delete(self._url, headers=self._headers_of({})):
            pass


def _ignored(arrived: bytes) -> None:
    del arrived


async def events(
    response: aiohttp.ClientResponse, tap: Callable[[bytes], None]
) -> AsyncGenerator[Json]:
    """Yield the messages of an event stream; `tap` hears each line first."""
    data: list[bytes] = []
    async for line in response.content:
        tap(line)
        if line.startswith(b"data:"):
            data.append(line[5:].strip())
        elif not line.strip() and data:
            said, data = b"\n".join(data), []
            if said:
                yield exact(said)


class Stdio(Wire):
    """A client that started its server."""

    def __init__(self, process: asyncio.subprocess.Process | Hosted, capabilities: Json) -> None:
        super().__init__(capabilities)
        self.process = process
        self._open: dict[int, asyncio.Future[Json]] = {}
        self._heard = Heard()
        self._answer: Answer | None = None

    async def _once(self, method: str, params: Json, heard: Heard, answer: Answer | None) -> None:
        message = self._message(method, params)
        if method != "subscriptions/listen":
            self._heard, self._answer = heard, answer
        waiting = self._open[message["id"]] = asyncio.get_running_loop().create_future()
        try:
            await self._post(message)
            heard.message = await waiting
        except asyncio.CancelledError:
            await self.note("notifications/cancelled", {"requestId": message["id"]})
            raise
        finally:
            self._open.pop(message["id"], None)

    async def _post(self, message: Json) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()

    async def read(self) -> None:
        """Read what comes until it ends."""
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self.tap(line)
            message = exact(line)
            if "method" not in message:
                waiting = self._open.get(message["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
            elif "id" not in message:
                self._take(message, self._heard)
            else:
                asked = {"method": message["method"], "params": message.get("params")}
                self._heard.asked.append(asked)
                said = self._answer(message) if self._answer else None
                if said is not None:
                    await self._post(reply(message, said))


class ModernStdio(Stdio):
    """2026-07-28 over a pipe."""

    is_modern = True


@asynccontextmanager
async def over_http(
    url: str,
    *,
    modern: bool,
    capabilities: Json | None = None,
    headers: Mapping[str, str] | None = None,
    session: aiohttp.ClientSession | None = None,
    within_s: float = WITHIN_S,
) -> AsyncGenerator[Http]:
    """Connect over HTTP."""
    async with contextlib.AsyncExitStack() as stack:
        if session is None:
            session = await stack.enter_async_context(aiohttp.ClientSession())
        kind = ModernHttp if modern else LegacyHttp
        wire = kind(session, url, capabilities or {}, headers or {})
        wire.within_s = within_s
        await wire.hello()
        if isinstance(wire, LegacyHttp):
            following = asyncio.ensure_future(wire.follow())
            stack.push_async_callback(_stopped, following)
            stack.push_async_callback(wire.end)
        yield wire


@asynccontextmanager
async def over_stdio(
    command: Sequence[str],
    *,
    modern: bool,
    capabilities: Json | None = None,
    environ: Mapping[str, str] | None = None,
    log: str = "/dev/null",
) -> AsyncGenerator[Stdio]:
    """Start a command and connect over its pipes."""
    with open(log, "ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env={"PATH": "/usr/bin:/bin", **(environ or {})},
            limit=1 << 24,
        )
    async with over_pipes(process, modern=modern, capabilities=capabilities) as wire:
        yield wire


@asynccontextmanager
async def over_pipes(
    process: asyncio.subprocess.Process | Hosted,
    *,
    modern: bool,
    capabilities: Json | None = None,
    within_s: float = WITHIN_S,
) -> AsyncGenerator[Stdio]:
    """Connect over the pipes of a process that has been started, and end it afterwards."""
    wire = (ModernStdio if modern else Stdio)(process, capabilities or {})
    wire.within_s = within_s
    reading = asyncio.ensure_future(wire.read())
    try:
        await wire.hello()
        yield wire
    finally:
        assert process.stdin
        process.stdin.close()
        try:
            async with asyncio.timeout(WITHIN_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            raise
        finally:
            await process.wait()
            await _stopped(reading)


async def _stopped(work: "asyncio.Future[None]") -> None:
    work.cancel()
    await asyncio.wait({work})
