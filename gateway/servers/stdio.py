"""A server as a child process: many calls at once over one pair of pipes, one message a line."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from anyio.abc import TaskGroup

from gateway import jsontext
from gateway.errors import JsonError
from gateway.servers.child import Child, Outgoing, spawn
from gateway.servers.connection import (
    CANCELLED,
    GRACE_S,
    MESSAGE,
    NOBODY,
    NOTHING,
    PROGRESS,
    Declared,
    Lost,
    Mask,
    OnNote,
    Reply,
    Spoken,
    answer_to,
    listening,
    malformed,
    never_quick,
    notification,
    outcome_of,
    request,
    stamp,
    timed_out,
    too_large,
)
from gateway.servers.deadlines import Deadlines
from gateway.servers.elicited import COMPLETED, Elicited
from gateway.servers.entry import Entry
from gateway.servers.environment import Launch
from gateway.servers.frames import LineFrames, Oversized, id_in
from gateway.servers.givenup import GivenUp
from gateway.servers.hearing import run_safely
from gateway.servers.pending import Pending
from gateway.servers.reading import Reader
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery, Execution, Failure, Undelivered
from gateway.types.relay import Ear, Presence

_MOST_WAITING = 256  # messages to a server, above which it gets no answers to its own requests
_TAIL_IN_TEXT = 400  # characters of stderr in a text for people
_MOST_EARLY = 4
_HANDSHAKE = frozenset({"initialize", "server/discover"})  # the server asks nothing meanwhile


class StdioConnection:
    """The multiplexer. Answers are matched by our own ids; anything unasked for is counted."""

    quick = staticmethod(never_quick)

    def __init__(
        self,
        entry: Entry,
        tasks: TaskGroup,
        *,
        on_lost: Callable[[], None],
        on_note: OnNote,
        mask: Mask,
        declared: Declared = NOBODY,
    ) -> None:
        self.unmatched = 0  # late, doubled and invented answers
        self.declared = declared
        self.tainted = False
        self._tasks = tasks
        self._entry = entry
        self._on_lost = on_lost
        self._on_note = on_note
        self._mask = mask
        self._reader = Reader(entry.credentials)
        self._frames = LineFrames(entry.caps.message_bytes)
        self._pending: dict[int, Pending] = {}
        self._early: list[JsonObject] | None = []  # questions that came before the first call
        self._given_up = GivenUp()
        self._elicited = Elicited(self._start)
        self._last_id = self._listen_id = 0
        self._bad_lines = 0
        self._lost: Lost | None = None
        self._spoken: Spoken | None = None
        self._is_modern = False
        self._deadlines = Deadlines()
        self._child: Child | None = None

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

    @property
    def last_words(self) -> str:
        """The end of that, on one line: for people who run the server, and for nobody else."""
        return " ".join(self.stderr_tail[-_TAIL_IN_TEXT:].split())

    def adopt(self, spoken: Spoken) -> None:
        """Use what the handshake settled from now on."""
        self._spoken, self._is_modern = spoken, spoken.era is Era.MODERN

    async def heard(self) -> None:
        """A pipe is open from the start."""

    def listen(self, uris: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> None:
        """Ask for change notes where one has to: older servers send them anyway."""
        spoken, before = self._spoken, self._listen_id
        if spoken is None or not self._is_modern or not (spoken.changes or uris or tasks or before):
            return
        # Its answer comes when the server ends the stream, and then means nothing.
        number = self._listen_id = self._next_id()
        self._send(request(number, "subscriptions/listen", listening(spoken, uris, tasks)))
        if before:
            self._send(notification(CANCELLED, {"requestId": before}))

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
        ear: Ear | None = None,
        capabilities: JsonObject = NOTHING,
        log_level: str = "",
        traceparent: str = "",
        headers: Mapping[str, str] | None = None,
        is_read: bool = False,
        may_cancel: bool = False,
        presence: Presence | None = None,
    ) -> Delivery:
        """Send one request and return its end; see `Connection.call`."""
        if self._lost is not None:
            return self._closed(Execution.NO)
        number = self._next_id()
        pending = Pending(self._deadlines, deadline, self._expire, number, method)
        self._pending[number] = pending
        pending.capabilities, pending.logs = capabilities, bool(log_level)
        pending.may_tell = is_read or may_cancel
        if ear is not None:
            pending.lend(ear, self._entry.caps.progress)
            if self.declared is not NOBODY:
                self._let_ask(pending, ear)
        token = number if ear is not None and ear.wants_progress else None
        try:
            spoken = self._spoken
            params = stamp(params, spoken, token, capabilities, log_level, traceparent=traceparent)
            pending.outgoing = self._send(request(number, method, params))
            if presence is not None:
                presence.on_left(lambda: self._left(pending))
            await pending.ended()
        except asyncio.CancelledError:
            self._abandon(pending, "the caller went away")
            raise
        finally:
            self._pending.pop(number, None)
            pending.close()
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

    def _let_ask(self, pending: Pending, ear: Ear) -> None:
        """Let the server ask, first what it wanted to know as soon as it was connected."""
        hearing = pending.let_ask(ear, self._start, self._send_answer, self._elicited)
        early, self._early = self._early or [], None
        for message in early:
            hearing.asked(message)

    def _start(self, work: Callable[[], Awaitable[None]]) -> bool:
        if self._lost is None:
            self._tasks.start_soon(run_safely, work)
        return self._lost is None

    def _send_answer(self, answer: JsonObject) -> None:
        """Answer a request, as long as its sender reads what it is sent."""
        if self._child and self._child.stdin.waiting < _MOST_WAITING:
            self._send(answer)

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
            read = self._reader.read(line)
        except JsonError as error:
            self._unreadable(id_in(line[:512], line[-512:]), f"that is not JSON: {error.message}")
            return
        message = read.message
        if not isinstance(message, dict):
            self._unreadable(None, "")
            return
        self._bad_lines = 0
        if "method" not in message:
            self._answered(message, len(line), read.redactions)
        elif "id" in message:
            self._asked(message)
        else:
            self._noted(message)

    def _asked(self, message: JsonObject) -> None:
        """Answer a request: from the ear of the only call that it can belong to, or at once."""
        is_ping = message["method"] == "ping"
        hearer = None if is_ping else self._only()
        if hearer is not None and hearer.hearing is not None:
            hearer.hearing.asked(message)
            return
        early = self._early if self.declared is not NOBODY and not is_ping else None
        if early is not None and len(early) < _MOST_EARLY:
            early.append(message)
            return
        self.tainted |= bool(self._given_up) and not is_ping
        answer = answer_to(message)
        if answer is not None:
            self._send_answer(answer)

    def _only(self) -> Pending | None:
        """Return the only call that can be meant: pipes don't say to which one a message belongs.

        Calls that asked for no log messages count too, for not every server heeds that; and so does
        one that was given up, as long as the server hasn't answered it.
        """
        possible = list(self._pending.values())
        return possible[0] if len(possible) == 1 and not self._given_up else None

    def _answered(self, message: JsonObject, size: int, redactions: int) -> None:
        number = message.get("id")
        pending = self._pending.get(number) if type(number) is int else None
        if pending is None or pending.delivery is not None:
            self.unmatched += number != self._listen_id
            if type(number) is int:
                self._given_up.discard(number)
            return
        pending.settle(
            outcome_of(
                message,
                server=self._entry.name,
                size=size,
                modern=self._is_modern,
                capabilities=pending.capabilities,
                redactions=redactions,
            )
        )

    def _noted(self, message: JsonObject) -> None:
        method, params = message["method"], message.get("params")
        if method == PROGRESS:
            self._progressed(params)
        elif method == MESSAGE:
            self._logged(params)
        elif method == CANCELLED:
            for pending in self._pending.values():
                if pending.hearing is not None:
                    pending.hearing.withdrawn(params)
        elif method == COMPLETED:
            self._elicited.completed(params)
        elif isinstance(method, str):
            self._on_note(method, params)

    def _logged(self, params: Json) -> None:
        pending = self._only()
        if pending is not None and isinstance(params, dict):
            pending.logged(params)

    def _progressed(self, params: Json) -> None:
        token = params.get("progressToken") if isinstance(params, dict) else None
        pending = self._pending.get(token) if type(token) is int else None
        if pending is not None:
            pending.progressed(params)

    def _oversized(self, line: Oversized) -> None:
        pending = self._pending.get(line.answers) if line.answers is not None else None
        if pending is None:  # a note or an answer that can't be told: its call has a deadline
            self._unreadable(None, "")
            return
        pending.settle(too_large(self._entry.name, line.size, self._entry.caps.message_bytes))

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

    def _expire(self, pending: Pending) -> None:
        if pending.number in self._pending and pending.delivery is None:
            executed = self._abandon(pending, "the deadline passed")
            pending.settle(timed_out(self._entry.name, executed))

    def _left(self, pending: Pending) -> None:
        """Tell the server of a write that may be cancelled that its caller has left."""
        if pending.delivery is not None or self._lost is not None:
            return
        if self._is_withdrawn(pending):
            pending.settle(timed_out(self._entry.name, Execution.NO))
            return
        self._tell(pending, "the caller went away")
        pending.hurry(GRACE_S)

    def _abandon(self, pending: Pending, reason: str) -> Execution:
        """Wait no longer; a server that may know of that is told, unless it never got the call."""
        outgoing = pending.outgoing
        if pending.delivery is not None or outgoing is None or self._lost is not None:
            return Execution.NO if outgoing is None else Execution.UNKNOWN
        if self._is_withdrawn(pending):
            return Execution.NO
        self._tell(pending, reason)
        if pending.method not in _HANDSHAKE:
            # A stateless server that was told to stop owes no answer, and no word to this call.
            briefly = self._is_modern and pending.told and not pending.logs
            self._given_up.add(pending.number, briefly=briefly)
        return Execution.UNKNOWN

    def _is_withdrawn(self, pending: Pending) -> bool:
        child, outgoing = self._child, pending.outgoing
        return child is not None and outgoing is not None and child.stdin.withdraw(outgoing)

    def _tell(self, pending: Pending, reason: str) -> None:
        if pending.may_tell and not pending.told:
            pending.told = True
            self._send(notification(CANCELLED, {"requestId": pending.number, "reason": reason}))

    def _exited(self) -> None:
        end = self._child.end if self._child else "closed its output"
        self._lose(Lost(reason=f"`{self._entry.name}` {end}"))

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
