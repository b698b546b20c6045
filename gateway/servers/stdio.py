"""A server as a child process: many calls at once over one pair of pipes, one message a line."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import TypeAlias

from gateway import jsontext
from gateway.errors import JsonError
from gateway.servers.child import Child, Outgoing, spawn
from gateway.servers.connection import (
    CANCELLED,
    PROGRESS,
    Lost,
    Mask,
    OnNote,
    Progress,
    Reply,
    Rising,
    Spoken,
    answer_to,
    malformed,
    notification,
    outcome_of,
    request,
    stamp,
    timed_out,
)
from gateway.servers.entry import Entry
from gateway.servers.environment import Launch
from gateway.servers.frames import LineFrames, Oversized, id_in
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Undelivered

_MOST_WAITING = 256  # messages to a server, above which it gets no answers to its own requests
_TAIL_IN_TEXT = 400  # characters of stderr in a text for people
_NOT_TOLD = frozenset({"initialize", "server/discover"})  # never cancelled (MCP, cancellation)


_News: TypeAlias = tuple[float, float | None, str | None]  # progress, total, message


class _Pending:
    """One call that waits for its answer, in the task that made it."""

    __slots__ = ("delivery", "news", "outgoing", "rising", "wake")

    def __init__(self, wake: asyncio.Future[None], news: deque[_News] | None) -> None:
        self.wake = wake
        self.delivery: Delivery | None = None
        self.outgoing: Outgoing | None = None
        self.news = news
        self.rising = Rising()

    def settle(self, delivery: Delivery) -> None:
        """Give the call its end; the first one counts."""
        if self.delivery is None:
            self.delivery = delivery
            self.rouse()

    def rouse(self) -> None:
        """Let the waiting task look."""
        if not self.wake.done():
            self.wake.set_result(None)


class StdioConnection:
    """The multiplexer. Answers are matched by our own ids; anything unasked for is counted."""

    def __init__(
        self, entry: Entry, *, on_lost: Callable[[], None], on_note: OnNote, mask: Mask
    ) -> None:
        self.unmatched = 0  # late, doubled and invented answers
        self._entry = entry
        self._on_lost = on_lost
        self._on_note = on_note
        self._mask = mask
        self._frames = LineFrames(entry.caps.message_bytes)
        self._pending: dict[int, _Pending] = {}
        self._last_id = 0
        self._listen_id = 0
        self._bad_lines = 0
        self._lost: Lost | None = None
        self._spoken: Spoken | None = None
        self._child: Child | None = None
        self._loop = asyncio.get_running_loop()

    async def start(self, launch: Launch) -> None:
        """Start the process; raises ConnectFault."""
        self._child = await spawn(
            self._entry, launch, on_output=self._received, on_gone=self._exited
        )

    @property
    def lost(self) -> Lost | None:
        """Why it can't be used any more, or None."""
        return self._lost

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._child.pid if self._child else 0

    @property
    def stderr_tail(self) -> str:
        """The end of what the child wrote to stderr, secrets masked."""
        tail = self._mask(self._child.stderr_tail) if self._child else ""
        return tail[-self._entry.caps.stderr_bytes :]

    def adopt(self, spoken: Spoken) -> None:
        """Use what the handshake settled from now on."""
        self._spoken = spoken

    def listen(self) -> None:
        """Ask for change notes where one has to: older servers send them anyway."""
        spoken = self._spoken
        if spoken is not None and spoken.era is Era.MODERN and spoken.changes:
            wanted: JsonObject = {"notifications": spoken.changes}
            # Its answer comes when the server ends the stream, and then means nothing.
            number = self._listen_id = self._next_id()
            self._send(request(number, "subscriptions/listen", stamp(wanted, spoken, None)))

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Send a notification."""
        self._send(notification(method, params))

    async def exchange(self, method: str, params: JsonObject, *, deadline: float) -> Reply:
        """Send a handshake request."""
        return await self.call(method, params, deadline=deadline)

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
        """Send one request and return its end; see `Connection.call`."""
        if self._lost is not None:
            return self._closed(Execution.NO)
        number = self._next_id()
        news = None if on_progress is None else deque[_News](maxlen=self._entry.caps.progress)
        pending = _Pending(self._loop.create_future(), news)
        token = None if on_progress is None else number
        self._pending[number] = pending
        timer = self._loop.call_at(deadline, self._expire, number, method)
        try:
            pending.outgoing = self._send(
                request(number, method, stamp(params, self._spoken, token))
            )
            if on_progress is None:
                await pending.wake
            else:
                await self._relay(pending, on_progress, deadline)
        except asyncio.CancelledError:
            self._abandon(number, pending, method, "the caller went away")
            raise
        finally:
            timer.cancel()
            self._pending.pop(number, None)
        return pending.delivery or timed_out(self._entry.name, Execution.UNKNOWN)

    async def close(self) -> None:
        """Settle what is in flight and end the process and its group."""
        self._lose(Lost(reason=f"`{self._entry.name}` was stopped"))
        if self._child is not None:
            await self._child.stop(self._entry.timeouts)

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _send(self, message: JsonObject) -> Outgoing:
        data = jsontext.dump(message) + b"\n"
        if self._child is None:
            return Outgoing(data)
        return self._child.stdin.write(data)

    async def _relay(self, pending: _Pending, on_progress: Progress, deadline: float) -> None:
        """Report progress from the caller's own task until the answer is there."""
        news = pending.news
        assert news is not None  # noqa: S101 - made together with on_progress
        try:
            async with asyncio.timeout_at(deadline + 0.05):  # a client that doesn't take its notes
                while True:
                    while news:
                        await on_progress(*news.popleft())
                    if pending.delivery is not None:
                        return
                    await pending.wake
                    pending.wake = self._loop.create_future()
        except TimeoutError:
            return

    # What comes in

    def _received(self, data: bytes) -> None:
        for line in self._frames.feed(data):
            if self._lost is not None:
                return
            if isinstance(line, Oversized):
                self._oversized(line)
            elif line and not line.isspace():
                self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            message = jsontext.parse_result(line)
        except JsonError as error:
            self._unreadable(id_in(line[:512], line[-512:]), f"that is not JSON: {error.message}")
            return
        if not isinstance(message, dict):
            self._unreadable(None, "")
            return
        self._bad_lines = 0
        if "method" not in message:
            self._answered(message, len(line))
        elif "id" in message:
            self._asked(message)
        else:
            self._noted(message)

    def _asked(self, message: JsonObject) -> None:
        """Answer a request, as long as its sender reads what it is sent."""
        answer = answer_to(message)
        if answer is not None and self._child and self._child.stdin.waiting < _MOST_WAITING:
            self._send(answer)

    def _answered(self, message: JsonObject, size: int) -> None:
        number = message.get("id")
        pending = self._pending.get(number) if type(number) is int else None
        if pending is None or pending.delivery is not None:
            self.unmatched += number != self._listen_id
            return
        modern = self._spoken is not None and self._spoken.era is Era.MODERN
        pending.settle(outcome_of(message, server=self._entry.name, size=size, modern=modern))

    def _noted(self, message: JsonObject) -> None:
        method, params = message["method"], message.get("params")
        if method == PROGRESS:
            self._progressed(params)
        elif isinstance(method, str):
            self._on_note(method)

    def _progressed(self, params: Json) -> None:
        token = params.get("progressToken") if isinstance(params, dict) else None
        pending = self._pending.get(token) if type(token) is int else None
        if pending is None or pending.news is None:
            return
        news = pending.rising.accept(params)
        if news is not None:
            pending.news.append(news)
            pending.rouse()

    def _oversized(self, line: Oversized) -> None:
        pending = self._pending.get(line.answers) if line.answers is not None else None
        if pending is None:  # a note or an answer that can't be told: its call has a deadline
            self._unreadable(None, "")
            return
        limit = self._entry.caps.message_bytes
        pending.settle(
            Undelivered(
                failure=Failure.TOO_LARGE,
                executed=Execution.UNKNOWN,
                detail=f"the answer of `{self._entry.name}` is too large: {line.size} bytes, "
                f"the limit is {limit}",
            )
        )

    def _unreadable(self, number: int | None, what: str) -> None:
        """Fail the call that a bad line answers; count lines that answer none."""
        pending = self._pending.get(number) if number is not None else None
        if pending is not None:
            pending.settle(malformed(self._entry.name, what))
            return
        self._bad_lines += 1
        if self._bad_lines >= self._entry.caps.bad_lines:
            self._lose(
                Lost(
                    reason=f"`{self._entry.name}` wrote {self._bad_lines} lines in a row to stdout "
                    "that are no MCP messages"
                )
            )

    # How calls end without an answer

    def _expire(self, number: int, method: str) -> None:
        pending = self._pending.get(number)
        if pending is not None and pending.delivery is None:
            executed = self._abandon(number, pending, method, "the deadline passed")
            pending.settle(timed_out(self._entry.name, executed))

    def _abandon(self, number: int, pending: _Pending, method: str, reason: str) -> Execution:
        """Tell the server that nobody waits any more, unless it never heard of the call."""
        outgoing = pending.outgoing
        if pending.delivery is not None or outgoing is None or self._lost is not None:
            return Execution.NO if outgoing is None else Execution.UNKNOWN
        if self._child and self._child.stdin.withdraw(outgoing):
            return Execution.NO
        if method not in _NOT_TOLD:
            self._send(notification(CANCELLED, {"requestId": number, "reason": reason}))
        return Execution.UNKNOWN

    def _exited(self) -> None:
        self._lose(Lost(reason=self._last_words()))

    def _lose(self, lost: Lost) -> None:
        if self._lost is not None:
            return
        self._lost = lost
        for pending in self._pending.values():
            left = pending.outgoing is not None and pending.outgoing.has_left
            pending.settle(self._closed(Execution.UNKNOWN if left else Execution.NO))
        self._on_lost()

    def _closed(self, executed: Execution) -> Undelivered:
        return Undelivered(
            failure=Failure.CLOSED,
            executed=executed,
            detail=self._lost.reason if self._lost else "",
        )

    def _last_words(self) -> str:
        code = self._child.exit_code if self._child else None
        if code is None:
            end = "closed its output"
        elif code < 0:
            end = f"was ended by signal {-code}"
        else:
            end = f"exited with code {code}"
        tail = " ".join(self.stderr_tail[-_TAIL_IN_TEXT:].split())
        return f"`{self._entry.name}` {end}" + (f"; stderr: {tail}" if tail else "")
