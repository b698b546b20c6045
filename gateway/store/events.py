"""The event log: append-only, written in groups, read by number or by what is looked for."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.events import admin
from gateway.events.envelope import Origin
from gateway.store.backlog import Backlog, Bounds, Entry, Gap
from gateway.store.changes import Change
from gateway.store.engine import Engine, Transaction, Value
from gateway.store.event_rows import column, row_of
from gateway.store.fresh_leaves import FreshLeaves
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.store.writer import Health, Writer
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import JsonObject
from gateway.types.values import maker, value

_T = TypeVar("_T")
_WAIT_S: Final = 5.0
_POLL_S: Final = 0.25
_PAGE: Final = 500
# Events that nobody waits for are made and written down together: code and tables are at hand for
# all but the first; between two steps of a call, others have pushed them out of the processor's
# caches. Not too many at once, since calls wait meanwhile.
_TOGETHER: Final = 48
_GATHER_S: Final = 0.02
_log = logging.getLogger("weighbridge")
_Made = Callable[[], Sequence[Event | EventRow]]

_CONDITIONS: Final = {
    "tenant": "tenant = :tenant",
    "run": "run_id = :run AND run_id <> ''",  # as the partial index has it
    "call": "call_id = :call",
    "few_calls": "call_id IN (SELECT value FROM json_each(:few_calls))",
    "actor": "actor_user = :actor",
    "tool": "tool = :tool",
    "decision": "decision = :decision",
    "status": "status = :status",
    "kind": "kind = :kind",
    "stage": "stage = :stage",
    "rule": "rule = :rule",
    "trace": "trace_id = :trace",
    "since": "at >= :since",
    "until": "at < :until",
    "after": "seq > :after",
    "before": "seq < :before",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """What is looked for; an empty field matches everything, `until` itself is left out."""

    tenant: str = ""
    run: str = ""
    call: str = ""
    few_calls: tuple[str, ...] = ()  # of which each is looked for by itself
    actor: str = ""
    tool: str = ""
    decision: str = ""
    status: str = ""
    kind: str = ""
    stage: str = ""
    rule: str = ""
    trace: str = ""
    since: datetime | None = None
    until: datetime | None = None
    after: int = 0  # the number of an event; only later ones match
    before: int = 0  # the same; only earlier ones
    limit: int = 100
    newest_first: bool = False


@value
class StoredEvent:
    """An event as it is kept: its number in the log, and the exact bytes."""

    seq: int
    body: bytes

    def json(self) -> JsonObject:
        """Return the event with its number, as people and programs read it."""
        value = jsontext.parse_result(self.body)
        assert isinstance(value, dict)  # noqa: S101 - only objects are ever appended
        return {"seq": self.seq, **value}


_stored = maker(StoredEvent)


class EventLog:
    """Appends without waiting, and says when what was appended is kept."""

    def __init__(
        self,
        *,
        engine: Engine,
        worker: Worker,
        origin: Origin,
        clock: Clock,
        bounds: Bounds | None = None,
        wait_s: float = _WAIT_S,
        fresh: FreshLeaves | None = None,
    ) -> None:
        self._worker = worker
        self._origin = origin
        self._clock = clock
        self._wait_s = wait_s
        self._backlog = Backlog(bounds or Bounds())
        self._gathered: list[_Made] = []  # admitted, and not yet made
        self._ahead = 0  # how many events these are at most
        self._room = 0  # for how many more there certainly is, after the first that is gathered
        self._is_due = False  # whether the loop is about to make them, without its timer
        self._has_timer = False
        self._given_up: float | None = None  # the commit that somebody waited for in vain
        self._gatherer: asyncio.AbstractEventLoop | None = None  # whose timer ends the wait
        self.key_destroyed: Callable[[str], None] | None = None
        """Told the id of a data key that was destroyed though somebody here still seals with it."""
        self._writer = Writer(
            engine,
            self._backlog,
            clock=clock,
            on_gap=self._record_gap,
            on_destroyed=self._destroyed,
            patience_s=wait_s,
            fresh=fresh or FreshLeaves(),
        )

    @property
    def origin(self) -> Origin:
        """What its events say of the process that writes them."""
        return self._origin

    @property
    def health(self) -> Health:
        """Whether events are being kept, and how many wait."""
        return self._writer.health

    @property
    def failing(self) -> str:
        """Why events are not being committed right now, or an empty text."""
        return self._writer.failing

    def append(
        self, events: Sequence[Event | EventRow], *, durable: bool = False, owed: bool = False
    ) -> None:
        """Hand events to the writer, all or none, and return at once.

        Their values must not change any more. With `durable` they are committed so that a loss of
        power can't undo it. Ends of calls that were already sent are `owed`: a reserve is kept for
        them.

        Raises StoreUnavailable when too many events wait, and none of these was taken; how many
        were refused is recorded as soon as the log works again.
        """
        # A sealed copy may be large, and has to find room.
        if durable or any(each.sealed for each in events) or not self._gathers():
            if asyncio._get_running_loop() is self._gatherer:  # elsewhere others may be adding
                self._write_down()
            if not events:
                return
            entry = self._entry(map(self._row, events), durable=durable)
            self._backlog.append([entry], owed=owed, now=self._clock.now)
        else:
            self._gather(lambda: events, len(events), owed=owed)

    def append_later(self, make: _Made, most: int, *, owed: bool = False) -> None:
        """Have up to `most` events made a moment later, and kept in order with the others.

        What they are made of must not change meanwhile. Raises StoreUnavailable when too many
        events wait, and `make` is never called then. Where making them fails, the log tells that
        there is a gap.
        """
        left = self._room - most
        if left >= 0 and self._gathered and asyncio._get_running_loop() is self._gatherer:
            self._room = left  # as for nearly all of a crowd
            self._gathered.append(make)
            self._ahead += most
            if self._ahead >= _TOGETHER:
                self.catch_up()
        elif self._gathers():
            self._gather(make, most, owed=owed)
        else:
            self.append(make(), owed=owed)

    def catch_up(self) -> None:
        """Make what was put off as soon as the loop can: for when it has little else to do."""
        loop = asyncio._get_running_loop()
        if self._gathered and not self._is_due and loop is not None and loop is self._gatherer:
            self._is_due = True
            loop.call_soon(self._write_down)

    def _gather(self, make: _Made, most: int, *, owed: bool) -> None:
        ahead = self._ahead + most
        if self._backlog.has_plenty(ahead + _TOGETHER):
            self._room = _TOGETHER
        else:
            self._room = 0
            self._backlog.admit(most, ahead=self._ahead, owed=owed, now=self._clock.now)
        self._gathered.append(make)
        self._ahead = ahead
        if self._ahead >= _TOGETHER:
            self.catch_up()  # behind the answer that is about to leave

    def _gathers(self) -> bool:
        """Whether this is the loop that will write down what is gathered."""
        loop = asyncio._get_running_loop()
        if self._gathered:
            return loop is self._gatherer
        if loop is None:  # a thread, or a program that has none
            return False
        if not self._has_timer or loop is not self._gatherer:
            self._gatherer, self._has_timer, self._is_due = loop, True, False
            loop.call_later(_GATHER_S, self._ring)
        return True

    def _ring(self) -> None:
        self._has_timer = False
        self._write_down()

    def _write_down(self) -> None:
        """Make what was gathered and hand it over; it was admitted, so there is room."""
        gathered, self._gathered, self._ahead = self._gathered, [], 0
        self._is_due = False
        rows: list[EventRow] = []
        for make in gathered:
            try:
                made = [self._row(event) for event in make()]
            except Exception as error:  # of one call, and no other may lose its events by that
                _log.exception("events of a call could not be made")
                made = [self._row(self._unmade(error))]
            rows += made
        if rows:
            entry = self._entry(rows, durable=False)
            self._backlog.append([entry], owed=True, now=self._clock.now, admitted=True)

    def _unmade(self, error: Exception) -> Event:
        now = self._clock.now()
        reason = f"events of a call could not be made: {type(error).__name__}"
        return admin.events_refused(id=ids.ulid(), at=now, count=1, since=now, reason=reason)

    async def kept(self) -> None:
        """Wait until everything appended so far is committed.

        Raises StoreUnavailable when that took too long, or has been failing for that long already,
        or when another has waited in vain for the very commit that is still under way.
        The events are then in doubt, not lost: they stay in order and are written when the
        database works again. So whoever now refuses the call that they announced appends that
        end too, and the log tells the whole story either way.
        """
        self._write_down()
        waiter = self._backlog.wait()
        if waiter is None:
            return
        hangs = self._given_up is not None and self._given_up == self._writer.under_way
        try:
            if hangs or self._writer.failing_for() >= self._wait_s:
                raise StoreUnavailable(self._unavailable())
            async with asyncio.timeout(self._wait_s):
                await waiter.future
        except TimeoutError:
            self._given_up = self._writer.under_way
            raise StoreUnavailable(self._unavailable()) from None
        finally:
            self._backlog.forget(waiter)

    async def carry(
        self, change: Change[_T], events: Sequence[Event] = (), *, owed: bool = False
    ) -> _T:
        """Commit a change of state together with events that tell of it, and wait for it.

        The change says whether the events are kept. Raises StoreUnavailable: then an `owed` change
        is still made as soon as that is possible, and any other one is taken back, unless the
        database was at work on it already. Nobody can know; so whoever has to makes up for it.
        """
        self._hand_over(change, events, owed=owed)
        try:
            await self.kept()
        except BaseException:
            if not owed:
                change.withdraw()
            raise
        return change.value()

    def promise(self, change: Change[Any], events: Sequence[Event] = ()) -> None:
        """Make an owed change as soon as that is possible, and wait for nothing.

        Raises StoreUnavailable when too much waits already.
        """
        self._hand_over(change, events, owed=True)

    def _hand_over(self, change: Change[Any], events: Sequence[Event], *, owed: bool) -> None:
        self._write_down()
        rows = tuple(map(self._row, events))
        size = sum(row.size for row in rows)
        entry = Entry(rows, size, durable=True, change=change, as_row=self._row)
        self._backlog.append([entry], owed=owed, now=self._clock.now)

    def _row(self, event: Event | EventRow) -> EventRow:
        return event if isinstance(event, EventRow) else row_of(event, self._origin)

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        """Return the events that match, in the order of the log."""
        where, parameters = conditions(wanted)
        name = "query_events_newest" if wanted.newest_first else "query_events"

        def read(transaction: Transaction) -> list[StoredEvent]:
            rows = transaction.fetch_numbered(name, parameters, where=where)
            return [_stored(seq=seq, body=text.encode()) for seq, text in rows]

        return await self._worker.read(read)

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run what reads more of it than a query, in one transaction. Raises StoreUnavailable."""
        return await self._worker.read(work)

    async def last_seq(self) -> int:
        """Return the number of the newest event, 0 for an empty log."""
        return await self._worker.read(
            lambda transaction: transaction.fetch("last_seq", {})[0].integer("seq")
        )

    async def tail(
        self, after_seq: int = 0, *, follow: bool = False, poll_s: float = _POLL_S
    ) -> AsyncIterator[StoredEvent]:
        """Yield the events after a number; with `follow`, those to come as well, for ever.

        Works from any process: while following, the database is asked every `poll_s` seconds.
        """
        while True:
            page = await self.query(EventFilter(after=after_seq, limit=_PAGE))
            for event in page:
                after_seq = event.seq
                yield event
            if len(page) < _PAGE:
                if not follow:
                    return
                await asyncio.sleep(poll_s)

    def close(self, timeout_s: float = _WAIT_S) -> int:
        """Write what waits within a bound; return how many events are left unwritten."""
        self._write_down()
        return self._writer.close(timeout_s)

    def _unavailable(self) -> str:
        reason = self._writer.health.reason or "the database is slow"
        return f"the event log could not be written within {self._wait_s:g} s: {reason}"

    def _entry(self, events: Iterable[EventRow], *, durable: bool) -> Entry:
        rows = tuple(events)
        return Entry(rows, sum([row.size for row in rows]), durable, events=len(rows))

    def _destroyed(self, key: str) -> None:
        if self.key_destroyed is not None:
            self.key_destroyed(key)

    def _record_gap(self, gap: Gap, reason: str) -> None:
        event = admin.events_refused(
            id=ids.ulid(), at=self._clock.now(), count=gap.count, since=gap.since, reason=reason
        )
        with suppress(StoreUnavailable):  # full again or closing: the next success records it
            self.append([event], owed=True)


def conditions(wanted: EventFilter) -> tuple[str, dict[str, Value]]:
    """Return the condition in SQL, made of constant parts only, and its parameters."""
    parameters: dict[str, Value] = {"limit": wanted.limit}
    for name in _CONDITIONS:
        value: object = getattr(wanted, name)
        match value:
            case datetime():
                parameters[name] = microseconds(value)
            case str() if value:
                parameters[name] = column(value)
            case int() if value:
                parameters[name] = value
            case tuple() if value:
                parameters[name] = jsontext.dump([*map(column, wanted.few_calls)]).decode()
            case _:
                continue
    parts = [text for name, text in _CONDITIONS.items() if name in parameters]
    return ("WHERE " + " AND ".join(parts) if parts else ""), parameters
