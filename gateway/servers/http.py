"""A server behind Streamable HTTP: pooled connections, both eras, nothing of the caller's."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import aiohttp
import anyio
from anyio.abc import TaskGroup

from gateway import jsontext
from gateway.protocol.words import SESSION_HEADER
from gateway.servers import handshake, resuming, streams, tls, wire
from gateway.servers.asides import IDLE_S, Asides
from gateway.servers.connection import (
    CANCELLED,
    GRACE_S,
    NOBODY,
    NOTHING,
    ConnectFault,
    Declared,
    Lost,
    NotMcp,
    OnNote,
    Reply,
    Spoken,
    answer_to,
    listening,
    malformed,
    notification,
    request,
    stamp,
    timed_out,
)
from gateway.servers.deadlines import Deadline, Deadlines
from gateway.servers.elicited import COMPLETED, Elicited
from gateway.servers.entry import Entry
from gateway.servers.heads import Heads
from gateway.servers.hearing import Rest, may_ask
from gateway.servers.quick import QuickReads
from gateway.servers.replies import Exchange, read_reply, read_whole
from gateway.servers.response import Response
from gateway.servers.sending import Sending, broken
from gateway.servers.talks import Talks
from gateway.types.calls import Era
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    Rejected,
    Undelivered,
)
from gateway.types.relay import Ear, Outbound, Presence


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
        on_renewed: Callable[[], None],
        declared: Declared = NOBODY,
    ) -> None:
        self.declared = declared
        self._entry = entry
        self._heads = Heads(entry)
        self._asides = Asides(entry, pool, tasks, self._fields)
        self._elicited = Elicited(self._asides.start)
        self._talks = Talks(self._asides, self._take, self._elicited)
        self.heard = self._asides.heard
        self._on_lost = on_lost
        self._on_note = on_note
        self._on_renewed = on_renewed
        self._wire = wire.Pool(
            entry.url,
            connect_s=entry.timeouts.connect_s,
            idle_s=IDLE_S,
            tls=tls.of_entry(entry),
        )
        self._deadlines = Deadlines()
        self._quick = QuickReads(
            self._entry,
            self._wire,
            self._heads,
            self._deadlines,
            rest=self._rest,
            cancelled=self._tell_cancelled,
        )
        self._cap = entry.caps.message_bytes
        self._spoken: Spoken | None = None
        self._session = ""
        self._doubtful = False  # the server complained about the session in its own way
        self._renewing = anyio.Lock()
        self._last_id = 0
        self._lost: Lost | None = None

    @property
    def lost(self) -> Lost | None:
        """Why it can't be used any more, or None."""
        return self._lost

    @property
    def tainted(self) -> bool:
        """Whether a question had to be refused that may belong to a call which was given up."""
        return self._talks.tainted

    def adopt(self, spoken: Spoken) -> None:
        """Use what the handshake settled from now on."""
        self._spoken = spoken

    def listen(self, uris: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> None:
        """Open the stream on which the server tells what changed by itself."""
        spoken = self._spoken
        if spoken is None or self._lost is not None:
            return
        if spoken.era is Era.MODERN:
            if spoken.changes or uris or tasks:
                wanted = listening(spoken, uris, tasks)
                self._asides.listen(
                    partial(self._open_modern, wanted), self._talks.take_loose, uris, tasks
                )
        elif not self._asides.listens and (
            spoken.changes or spoken.watches or may_ask(self.declared.capabilities)
        ):
            self._asides.listen(self._asides.open_get, self._talks.take_loose)

    async def exchange(self, method: str, params: JsonObject, *, deadline: float) -> Reply:
        """Send a handshake request; `initialize` starts a new session."""
        if method == "initialize":
            self._session, self._spoken = "", None
        call = Sending(method=method, params=params)
        try:
            with self._deadlines.at(deadline):
                return await self._attempt(call)
        except TimeoutError:
            return timed_out(self._entry.name, call.executed)

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Post a notification and wait until it is taken, as well as it goes."""
        await self._asides.post(notification(method, params), method)

    async def call(
        self,
        method: str,
        params: JsonObject,
        *,
        deadline: float,
        ear: Ear | None = None,
        capabilities: JsonObject = NOTHING,
        log_level: str = "",
        traceparent: str = "",
        headers: Mapping[str, str] | None = None,
        is_read: bool = False,
        may_cancel: bool = False,
        presence: Presence | None = None,
    ) -> Delivery:
        """Send one request and return its end; see `Connection.call`.

        Repeated at most once: after a 404 that proves that the session is gone, or where
        the connection of a read broke before anything was answered.
        """
        call = Sending(
            method=method,
            params=params,
            ear=ear,
            capabilities=capabilities,
            log_level=log_level,
            traceparent=traceparent,
            extra=headers or {},
            may_cancel=is_read or may_cancel,
        )
        try:
            with self._deadlines.at(deadline) as timer:
                if presence is not None:
                    presence.on_left(lambda: self._left(call, timer))
                if self.declared is not NOBODY:
                    reply = await self._talk(call, Rest(deadline, timer.move), is_read)
                elif self._doubtful or self._renewing.locked():
                    reply = await self._settle(call, is_read)
                else:  # nearly always: as `_settle` does then
                    session, reply = self._session, await self._attempt(call)
                    if not isinstance(reply, Delivered):
                        reply = await self._once_more(call, session, reply, is_read)
        except TimeoutError:
            self._tell_cancelled(call, "the deadline passed")
            return timed_out(self._entry.name, call.executed)
        except asyncio.CancelledError:
            self._tell_cancelled(call, "the caller went away")
            raise
        return reply.undelivered if isinstance(reply, NotMcp) else reply

    def quick(self, outbound: Outbound, deadline: float) -> Awaitable[Delivery] | None:
        """Send a read that nobody listens to as `call` does, or None where that takes more."""
        spoken, is_busy = self._spoken, self._doubtful or self._renewing.locked()
        if spoken is None or self.declared is not NOBODY or is_busy or self._lost is not None:
            return None
        connection = self._wire.kept()
        if connection is None:
            return None
        number = self._next_id()
        return self._quick.read(connection, outbound, deadline, number, (spoken, self._session))

    async def close(self) -> None:
        """Say goodbye to a session, and close the kept connections."""
        self._wire.close(drifting=self._lost is None)
        if self._session and self._lost is None:
            await self._asides.goodbye()
        self._lose(Lost(reason=f"`{self._entry.name}` was stopped"))

    # One call and its attempts

    async def _talk(self, call: Sending, rest: Rest, is_read: bool) -> Reply:
        """Send a request in the course of which the server may ask."""
        talk = self._talks.begin(call.ear, rest)
        call.hearing, reply = talk.hearing, None
        try:
            reply = await self._settle(call, is_read)
            return reply
        except asyncio.CancelledError:  # also when the deadline passed
            self._talks.given_up |= bool(call.number)
            raise
        finally:
            self._talks.end(talk, reply)

    async def _settle(self, call: Sending, is_read: bool) -> Reply:
        if self._doubtful or self._renewing.locked():
            fault = await self._renew(self._session if self._doubtful else None)
            if fault is not None:
                return fault
        return await self._once_more(call, self._session, await self._attempt(call), is_read)

    async def _once_more(self, call: Sending, session: str, reply: Reply, is_read: bool) -> Reply:
        """Return the end of a request, which may be sent again; it was sent in `session`."""
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

    async def _attempt(self, call: Sending) -> Reply:
        self._last_id = number = call.number = self._last_id + 1
        ear, spoken, session = call.ear, self._spoken, self._session
        token = number if ear is not None and ear.wants_progress else None
        share, trace = (call.capabilities, call.log_level), call.traceparent
        params = stamp(call.params, spoken, token, *share, traceparent=trace)
        try:
            method = call.method
            body = jsontext.dump(request(number, method, params))
            head = self._heads.written(method, params, spoken, session, call.extra)
            stays = not call.may_cancel  # a closed response is how a request is cancelled
            response = await self._wire.post(body, head, stays=stays)
        except (wire.Unreachable, OSError, ValueError) as error:
            return self._broken(error, call)
        return await self._answered(call, spoken, session, response)

    async def _answered(
        self, call: Sending, spoken: Spoken | None, session: str, response: Response
    ) -> Reply:
        call.answered, number = True, call.number
        try:
            with response:
                if call.method == "initialize" and not self._take_session(response):
                    return malformed(self._entry.name, "with two different session ids")
                whole = read_whole(response, number, self._asides.reader, self._cap)
                if whole is not None:
                    return whole
                exchange = self._exchange(call, spoken, in_session=bool(session))
                reply = await read_reply(response, exchange)
                response.is_read = isinstance(reply, Delivered | Rejected)
            if exchange.last_id and not exchange.modern:
                return await resuming.finish(reply, exchange, self._asides.open_get)
            return reply
        except (wire.Unreachable, OSError, ValueError) as error:
            return self._broken(error, call)

    async def _rest(
        self, call: Sending, at: tuple[Spoken, str], response: Response, fault: Exception | None
    ) -> Delivery:
        """Return the end of a read that was sent once and is not simply answered."""
        if fault is None:
            reply = await self._answered(call, *at, response)
        else:
            reply = self._broken(fault, call)
        if not isinstance(reply, Delivered):
            reply = await self._once_more(call, at[1], reply, is_read=True)
        return reply.undelivered if isinstance(reply, NotMcp) else reply

    def _exchange(self, call: Sending, spoken: Spoken | None, *, in_session: bool) -> Exchange:
        return Exchange(
            entry=self._entry,
            number=call.number,
            reader=self._asides.reader,
            modern=spoken is not None and spoken.era is Era.MODERN,
            in_session=in_session,
            take=self._take,
            ear=call.ear,
            hearing=call.hearing,
            capabilities=call.capabilities,
        )

    def _broken(self, error: Exception, call: Sending) -> Undelivered:
        """Say whether a request that failed on the way may have arrived."""
        name = self._entry.name
        if isinstance(error, wire.Unreachable):
            reason = f"`{name}` can't be reached: {error.reason}"
            self._lose(Lost(reason=reason, slow=error.slow))
            return Undelivered(failure=Failure.UNAVAILABLE, executed=Execution.NO, detail=reason)
        return broken(name, error, call)

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
        self._on_renewed()
        return None

    def _take_session(self, response: Response) -> bool:
        """Keep the session id; a doubled equal header counts once, unequal ones are a fault."""
        ids = {value.strip() for value in response.headers.getall(SESSION_HEADER, [])}
        if len(ids) > 1:
            return False
        self._session = ids.pop() if ids else ""
        return True

    def _fields(self, method: str, params: JsonObject) -> dict[str, str]:
        return self._heads.fields(method, params, self._spoken, self._session)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _lose(self, lost: Lost) -> None:
        if self._lost is None:
            self._lost = lost
            self._asides.closed = True
            self._on_lost()

    # What no call waits for

    def _take(self, message: JsonObject) -> None:
        """Take a message that the server sent by itself, and that belongs to no call."""
        method = message.get("method")
        if "id" not in message:
            if method == COMPLETED:
                self._elicited.completed(message.get("params"))
            elif isinstance(method, str):
                self._on_note(method, message.get("params"))
        elif self._spoken is None or self._spoken.era is Era.LEGACY:
            # The stateless era has no such requests, and no way to answer them.
            answer = answer_to(message)
            if answer is not None:
                self._asides.post_soon(answer, "")

    def _left(self, call: Sending, timer: Deadline) -> None:
        """Tell the server of a write that may be cancelled that its caller has left."""
        self._tell_cancelled(call, "the caller went away")
        # By a note it can be told and still answer; a closed response is both.
        soon = asyncio.get_running_loop().time() + (GRACE_S if call.told else 0.0)
        timer.move(min(soon, timer.when))

    def _tell_cancelled(self, call: Sending, reason: str) -> None:
        """In the handshake era a closed response is no cancellation; a note is."""
        if not call.may_cancel or call.told or not call.number:
            return
        if self._spoken is not None and self._spoken.era is Era.LEGACY:
            call.told = True
            note = notification(CANCELLED, {"requestId": call.number, "reason": reason})
            self._asides.post_soon(note, CANCELLED)

    def _open_modern(self, params: JsonObject, last_id: str) -> streams.Opening:
        del last_id  # nothing is kept for a stream that ended (MCP 2026-07-28, transports)
        method = "subscriptions/listen"
        return self._asides.open_post(request(self._next_id(), method, params), method, params)
