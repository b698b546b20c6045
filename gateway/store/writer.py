"""The one thread that writes events: in groups, in order, again and again until they are kept."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.clock import Clock
from gateway.errors import StatementRefused, StoreUnavailable
from gateway.store import sealed_copies
from gateway.store.backlog import Backlog, Entry, Gap
from gateway.store.engine import Engine, Lock
from gateway.store.fresh_leaves import FreshLeaves
from gateway.types.event_rows import COLUMNS

_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether events are being kept: `reason` and `since` while they are not."""

    ok: bool
    backlog: int  # events that wait
    backlog_bytes: int
    committed: int  # events, and changes with theirs, since the start
    commits: int  # transactions that it took
    since: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Failing:
    since: datetime
    since_s: float  # on the monotonic clock
    reason: str


class Writer:
    """Moves a backlog into the database; a failing database only ever makes it wait."""

    def __init__(
        self,
        engine: Engine,
        backlog: Backlog,
        *,
        clock: Clock,
        on_gap: Callable[[Gap, str], None],
        on_destroyed: Callable[[str], None],
        patience_s: float,
        fresh: FreshLeaves,
    ) -> None:
        self._engine = engine
        self._fresh = fresh
        self._written: tuple[int, list[str]] | None = None  # the first number, and what has it
        self._backlog = backlog
        self._clock = clock
        self._on_gap = on_gap
        self._on_destroyed = on_destroyed  # of a data key that is used all the same
        self._patience_s = patience_s  # a commit that takes longer counts as failing
        self._began_s: float | None = None  # the commit under way, on the monotonic clock
        self._commits = 0
        self._failing: _Failing | None = None
        self._last_reason = ""
        self._stop = threading.Event()
        # A daemon: a disk that never answers must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, name="event-writer", daemon=True)
        self._thread.start()

    @property
    def health(self) -> Health:
        """How the database does, as the last try showed, or the one that does not come back."""
        failing = self._failing or self._stalled()
        return Health(
            ok=failing is None,
            backlog=len(self._backlog),
            backlog_bytes=self._backlog.bytes,
            committed=self._backlog.committed,
            commits=self._commits,
            since=failing.since if failing is not None else None,
            reason=failing.reason if failing is not None else "",
        )

    @property
    def under_way(self) -> float | None:
        """When the commit under way began, on the monotonic clock; None between commits."""
        return self._began_s

    @property
    def failing(self) -> str:
        """Why events are not being kept right now, or an empty text."""
        failing = self._failing or self._stalled()
        return "" if failing is None else failing.reason or "the event log can't be written"

    def failing_for(self) -> float:
        """Return the seconds since the first of the failures in a row; 0 while all is well."""
        failing = self._failing or self._stalled()
        return 0.0 if failing is None else self._clock.monotonic() - failing.since_s

    def close(self, timeout_s: float) -> int:
        """Write what waits, within a bound; return how many events could not be written."""
        self._backlog.close()
        self._thread.join(timeout_s)
        self._stop.set()
        return len(self._backlog)

    def _stalled(self) -> _Failing | None:
        """Say that a commit gets no answer: its thread hangs in it and can't say so itself."""
        began_s = self._began_s
        if began_s is None:
            return None
        taken_s = self._clock.monotonic() - began_s
        if taken_s < self._patience_s:
            return None
        since = self._clock.now() - timedelta(seconds=taken_s)
        return _Failing(since, began_s, "the database gives no answer")

    def _run(self) -> None:
        pause = _FIRST_PAUSE_S
        while not self._stop.is_set():
            group = self._backlog.group()
            if group is None:
                break
            try:
                self._write(group)
            except StoreUnavailable as error:
                self._failed(str(error))
                self._backlog.pause(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
                if self._backlog.closing:
                    self._stop.wait(_FIRST_PAUSE_S)
            else:
                pause = _FIRST_PAUSE_S
        self._engine.close()

    def _write(self, group: list[Entry]) -> None:
        """Commit a group; where the database refuses one, each by itself: the others are sound."""
        try:
            self._commit(group)
        except StatementRefused as error:
            if len(group) > 1:
                for entry in group:
                    self._write([entry])
                return
            change = group[0].change
            if change is None:
                raise
            _log.error("a change of state was refused: %s", error)
            change.refuse(error)
        self._succeeded(group)
        self._hash()

    def _hash(self) -> None:
        """Hash what was committed, now that those who waited for it are on their way."""
        written, self._written = self._written, None
        if written is None:
            return
        try:
            self._fresh.add(*written)
        except Exception:  # the thread has to outlive it, and checkpoints read what they miss
            _log.exception("committed events could not be hashed")

    def _commit(self, group: list[Entry]) -> None:
        durable = any(entry.durable for entry in group)
        self._began_s = self._clock.monotonic()
        try:
            with self._engine.transaction(lock=Lock.EVENTS, durable=durable) as transaction:
                rows = {row.id: row for entry in group for row in entry.made(transaction)}
                last = transaction.fetch("last_seq", {})[0].integer("seq")
                self._fresh.cut(last)  # before anybody sees what has their numbers now
                numbered = [row.numbered(last + nr) for nr, row in enumerate(rows.values(), 1)]
                is_as_told = transaction.insert("append_event", COLUMNS, numbered)
                destroyed = sealed_copies.keep(transaction, rows.values())
            if is_as_told:  # else some were there before, and the others have other numbers
                self._written = last + 1, [row.body for row in rows.values()]
            for key in destroyed:
                self._on_destroyed(key)
            self._commits += 1
        except StoreUnavailable:
            raise
        except Exception as error:  # the thread has to outlive faults that nobody foresaw
            if self._failing is None:
                _log.exception("the event log met a fault of its own")
            # A fault in a change must not keep what waits behind it out of the log for ever.
            has_change = any(entry.change is not None for entry in group)
            refused = StatementRefused if has_change else StoreUnavailable
            raise refused(f"the event log met a fault: {type(error).__name__}") from error
        finally:
            self._began_s = None

    def _failed(self, reason: str) -> None:
        if self._failing is None:
            now = self._clock.now()
            self._failing = _Failing(now, self._clock.monotonic(), reason)
            _log.error("events can't be stored and wait in memory: %s", reason)
        elif self._failing.reason != reason:
            self._failing = _Failing(self._failing.since, self._failing.since_s, reason)
        self._last_reason = reason

    def _succeeded(self, group: list[Entry]) -> None:
        if self._failing is not None:
            self._failing = None
            _log.warning("events are stored again")
        gap = self._backlog.done(group)
        if gap is not None:
            self._on_gap(gap, self._last_reason or "too many events at once")
