"""A server behind Streamable HTTP: pooled connections, both eras, nothing of the caller's."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import aiohttp
import anyio
from anyio.abc import TaskGroup
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import LATEST_MODERN_VERSION

from gateway import jsontext
from gateway.servers import handshake, headers, streams, wire
from gateway.servers.connection import (
    CANCELLED,
    ConnectFault,
    Lost,
    NotMcp,
    OnNote,
    Progress,
    Reply,
    Spoken,
    answer_to,
    malformed,
    notification,
    request,
    stamp,
    timed_out,
)
from gateway.servers.entry import Entry
from gateway.servers.replies import Exchange, read_reply
from gateway.types.calls import Era
from gateway.types.json import JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Undelivered

_IDLE_S = 4.0  # common servers close an idle connection after 5 s; ours go before that
_POST_S = 5.0  # a note to a server may take so long
_GOODBYE_S = 1.0
_MOST_POSTS = 32  # posted at the same time; a server could ask for any number of answers


@lru_cache(maxsize=64)
def _context(ca: str, *, verify: bool) -> ssl.SSLContext:
    """Return what TLS trusts: reading the authorities takes longer than many calls."""
    context = ssl.create_default_context(cafile=ca or None)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def tls_of(entry: Entry) -> ssl.SSLContext | None:
    """Return the TLS context of a server, None for plain HTTP."""
    if not entry.url.lower().startswith("https:"):
        return None
    return _context(entry.tls_ca, verify=entry.tls_verify)


def client_session(entry: Entry) -> aiohttp.ClientSession:
    """Return the client for what isn't a call: notes, streams and goodbyes; made once, at start.

    No proxies or credentials from the environment, no cookies, no decompression.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(keepalive_timeout=_IDLE_S, ssl=tls_of(entry) or True),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=entry.timeouts.connect_s),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    )


@dataclass(slots=True, kw_only=True)
class _Call:
    """One request with all its attempts: what is asked, and how far that has got."""

    method: str
    params: JsonObject
    on_progress: Progress | None = None
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    number: int = 0  # the id of the attempt that was sent last; 0: nothing was sent
    answered: bool = False  # the server has begun to answer

    @property
    def executed(self) -> Execution:
        """Whether the server may have acted, when nobody waits for it any more."""
        return Execution.UNKNOWN if self.number else Execution.NO


class HttpConnection:
    """One logical connection: a revision, perhaps a session id, and a pool that outlives it."""

    def __init__(
        self,
        entry: Entry,
        pool: aiohttp.ClientSession,
        tasks: TaskGroup,
        *,
        on_lost: Callable[[], None],
        on_note: OnNote,
    ) -> None:
        self._entry = entry
        self._pool = pool
        self._tasks = tasks
        self._on_lost = on_lost
        self._on_note = on_note
        self._wire = wire.Pool(
            entry.url,
            connect_s=entry.timeouts.connect_s,
            idle_s=_IDLE_S,
            tls=tls_of(entry),
        )
        self._base = headers.of_entry(entry)
        self._spoken: Spoken | None = None
        self._session = ""
        self._doubtful = False  # the server complained about the session in its own way
        self._renewing = anyio.Lock()
        self._listening = False
        self._last_id = 0
        self._posting = 0
        self._lost: Lost | None = None

    @property
    def lost(self) -> Lost | None:
        """Why it can't be used any more, or None."""
        return self._lost

    def adopt(self, spoken: Spoken) -> None:
        """Use what the handshake settled from now on."""
        self._spoken = spoken

    def listen(self) -> None:
        """Open the stream on which the server tells that its lists changed."""
        if self._spoken is not None and self._spoken.changes and not self._listening:
            self._listening = True
            self._tasks.start_soon(self._follow)

    async def exchange(self, method: str, params: JsonObject, *, deadline: float) -> Reply:
        """Send a handshake request; `initialize` starts a new session."""
        if method == "initialize":
            self._session, self._spoken = "", None
        call = _Call(method=method, params=params)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._attempt(call)
        except TimeoutError:
            return timed_out(self._entry.name, call.executed)

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Post a notification and wait until it is taken, as well as it goes."""
        await self._post(notification(method, params), method)

    async def call(
        self,
        method: str,
        params: JsonObject,
        *,
        deadline: float,
        on_progress: Progress | None = None,
        headers: Mapping[str, str] | None = None,
        is_read: bool = False,
    ) -> Delivery:
        """Send one request and return its end; see `Connection.call`.

        Repeated at most once: after a 404 that proves that the session is gone, and for a read
        whose connection broke before anything was answered.
        """
        call = _Call(method=method, params=params, on_progress=on_progress, extra=headers or {})
        try:
            async with asyncio.timeout_at(deadline):
                reply = await self._settle(call, is_read)
        except TimeoutError:
            self._tell_cancelled(call, "the deadline passed")
            return timed_out(self._entry.name, call.executed)
        except asyncio.CancelledError:
            self._tell_cancelled(call, "the caller went away")
            raise
        return _undelivered(reply) if isinstance(reply, NotMcp) else reply

    async def close(self) -> None:
        """Say goodbye to a session, and close the kept connections."""
        self._wire.close()
        if self._session and self._lost is None:
            with anyio.move_on_after(_GOODBYE_S), contextlib.suppress(aiohttp.ClientError, OSError):
                async with self._pool.delete(
                    self._entry.url, headers=self._headers("", {}), allow_redirects=False
                ):
                    pass
        self._lose(Lost(reason=f"`{self._entry.name}` was stopped"))

    # One call and its attempts

    async def _settle(self, call: _Call, is_read: bool) -> Reply:
        if self._renewing.locked() or self._doubtful:
            fault = await self._renew(self._session if self._doubtful else None)
            if fault is not None:
                return fault
        session = self._session
        reply = await self._attempt(call)
        if isinstance(reply, NotMcp) and session and reply.status in (400, 404):
            self._doubtful = True
            if reply.status == 400 and not is_read:
                return reply  # it proves nothing; only the next call gets a new session
            fault = await self._renew(session)
            return fault or await self._attempt(call)
        broke = isinstance(reply, Undelivered) and reply.failure is Failure.CLOSED
        if broke and is_read and not call.answered and self._lost is None:
            return await self._attempt(call)
        return reply

    async def _attempt(self, call: _Call) -> Reply:
        number = call.number = self._next_id()
        params = stamp(call.params, self._spoken, number if call.on_progress else None)
        modern = self._spoken is not None and self._spoken.era is Era.MODERN
        exchange = Exchange(
            server=self._entry.name,
            number=number,
            cap=self._entry.caps.message_bytes,
            modern=modern,
            in_session=bool(self._session),
            take=self._take,
            on_progress=call.on_progress,
        )
        try:
            body = jsontext.dump(request(number, call.method, params))
            fields = {**self._headers(call.method, params), **call.extra}
            async with await self._wire.post(body, fields) as response:
                call.answered = True
                if call.method == "initialize" and not self._take_session(response):
                    return malformed(self._entry.name, "with two different session ids")
                return await read_reply(response, exchange)
        except (wire.Unreachable, OSError, ValueError) as error:
            return self._broken(error)

    def _broken(self, error: Exception) -> Undelivered:
        """Say whether a request that failed on the way may have arrived."""
        name = self._entry.name
        if isinstance(error, wire.Unreachable):
            reason = f"`{name}` can't be reached: {error.reason}"
            self._lose(Lost(reason=reason, slow=error.slow))
            return Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail=reason)
        if isinstance(error, ValueError):
            return Undelivered(
                failure=Failure.UNAVAILABLE,
                executed=Execution.NO,
                detail=f"a header for `{name}` can't be sent",
            )
        return Undelivered(
            failure=Failure.CLOSED,
            executed=Execution.UNKNOWN,
            detail=f"`{name}` closed the connection before it answered in full",
        )

    async def _renew(self, stale: str | None) -> Undelivered | None:
        """Start a new session in place of a stale one; callers at the same time share it."""
        async with self._renewing:
            if stale is None or self._session != stale:
                return None
            deadline = asyncio.get_running_loop().time() + self._entry.timeouts.start_s
            spoken, self._doubtful = self._spoken, True
            try:
                await handshake.initialize(self, self._entry, deadline=deadline)
                self._doubtful = False
            except ConnectFault as fault:
                return Undelivered(
                    failure=fault.failure, executed=Execution.NO, detail=fault.message
                )
            finally:
                if self._doubtful:  # also when the caller went away: the next call tries again
                    self._session, self._spoken = stale, spoken
        self.listen()
        return None

    def _take_session(self, response: wire.Response) -> bool:
        """Keep the session id; a doubled equal header counts once, unequal ones are a fault."""
        ids = {value.strip() for value in response.headers.getall(headers.SESSION, [])}
        if len(ids) > 1:
            return False
        self._session = ids.pop() if ids else ""
        return True

    def _headers(self, method: str, params: JsonObject) -> dict[str, str]:
        made = dict(self._base)
        if self._session:
            made[headers.SESSION] = self._session
        if self._spoken is not None and self._spoken.era is Era.LEGACY:
            made[MCP_PROTOCOL_VERSION_HEADER] = self._spoken.version
        elif self._spoken is not None:
            made |= headers.of_request(method, params, self._spoken.version)
        elif method == "server/discover":
            made |= headers.of_request(method, params, LATEST_MODERN_VERSION)
        return made

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _lose(self, lost: Lost) -> None:
        if self._lost is None:
            self._lost = lost
            self._on_lost()

    # What no call waits for

    def _take(self, message: JsonObject) -> None:
        """Take a message that the server sent by itself, on whichever stream."""
        method = message.get("method")
        if "id" not in message:
            if isinstance(method, str):
                self._on_note(method)
        elif self._spoken is None or self._spoken.era is Era.LEGACY:
            # The stateless era has no such requests, and no way to answer them.
            answer = answer_to(message)
            if answer is not None:
                self._post_soon(answer, "")

    def _tell_cancelled(self, call: _Call, reason: str) -> None:
        """In the handshake era a closed response is no cancellation; a note is."""
        if call.number and self._spoken is not None and self._spoken.era is Era.LEGACY:
            note = notification(CANCELLED, {"requestId": call.number, "reason": reason})
            self._post_soon(note, CANCELLED)

    def _post_soon(self, message: JsonObject, method: str) -> None:
        if self._posting < _MOST_POSTS and self._lost is None:
            self._posting += 1
            self._tasks.start_soon(self._post_counted, message, method)

    async def _post_counted(self, message: JsonObject, method: str) -> None:
        try:
            await self._post(message, method)
        finally:
            self._posting -= 1

    async def _post(self, message: JsonObject, method: str) -> None:
        with anyio.move_on_after(_POST_S), contextlib.suppress(aiohttp.ClientError, OSError):
            async with self._pool.post(
                self._entry.url,
                data=jsontext.dump(message),
                headers=self._headers(method, {}),
                allow_redirects=False,
            ):
                pass  # 202, or a complaint that nothing depends on

    async def _follow(self) -> None:
        modern = self._spoken is not None and self._spoken.era is Era.MODERN
        opener = self._open_modern if modern else self._open_legacy
        try:
            await streams.follow(opener, self._take, cap=self._entry.caps.message_bytes)
        finally:
            self._listening = False

    def _open_legacy(self, last_id: str) -> streams.Opening:
        made = self._headers("", {}) | {"accept": "text/event-stream"}
        if last_id:
            made["last-event-id"] = last_id
        return self._pool.get(self._entry.url, headers=made, allow_redirects=False)

    def _open_modern(self, last_id: str) -> streams.Opening:
        method = "subscriptions/listen"
        wanted: JsonObject = {"notifications": self._spoken.changes if self._spoken else {}}
        params = stamp(wanted, self._spoken, None)
        return self._pool.post(
            self._entry.url,
            data=jsontext.dump(request(self._next_id(), method, params)),
            headers=self._headers(method, params),
            allow_redirects=False,
        )


def _undelivered(reply: NotMcp) -> Undelivered:
    return Undelivered(
        failure=Failure.UNAVAILABLE,
        executed=reply.executed,
        detail=reply.detail,
        retry_after_s=reply.retry_after_s,
    )
