"""Work for pages that takes long: in a process of its own, few at a time, its result kept a while.

A person has one piece under way, a tenant two of three; who was told to wait comes first for a
minute.

Nothing here waits. A process writes how far it is, and what came of it, into a folder; whoever asks
looks there. It ends by itself when its standard input does, and so never outlives the gateway.
"""

import subprocess
import sys
import tempfile
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from gateway import jsontext
from gateway.clock import Clock
from gateway.types.json import JsonObject

_KEPT: Final = 16
_KEPT_S: Final = 3600.0
_LONGEST_S: Final = 600.0
_AT_ONCE: Final = 3
_OF_TENANT: Final = 2  # so that nobody waits for one tenant alone
_TURN_S: Final = 60.0  # for as long a place is kept for whoever asked before
_COMMAND: Final = (sys.executable, "-P", "-m", "gateway.admin.errand_process")
PROGRESS: Final = "progress"
RESULT: Final = "result"
PROBLEM: Final = "problem"


class State(StrEnum):
    """How an errand stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Asker(NamedTuple):
    """Who asks for work."""

    tenant: str
    user: str


@dataclass(slots=True, kw_only=True)
class Errand:
    """One piece of work, under the name by which it is found again."""

    key: str
    title: str
    to: str  # the page that shows it
    tenant: str  # whose calls it is about; empty: of all
    by: Asker
    begun: float  # monotonic
    at: int  # microseconds since 1970
    folder: Path
    process: "subprocess.Popen[bytes]"
    state: State = State.RUNNING
    problem: str = ""
    ended: float = 0.0
    readers: set[Asker] = field(default_factory=set[Asker])
    """Of whom the log says that they read it: whoever begins it says so first."""

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1, as far as it says."""
        return self._progress[0]

    @property
    def count(self) -> int:
        """How many things it has looked at."""
        return int(self._progress[1])

    @property
    def _progress(self) -> tuple[float, float]:
        with suppress(OSError, ValueError):
            share, count = (self.folder / PROGRESS).read_text(encoding="ascii").split()
            return min(1.0, max(0.0, float(share))), float(count)
        return 0.0, 0.0

    def result(self) -> bytes:
        """Return what came of it; empty where nothing did."""
        with suppress(OSError):
            return (self.folder / RESULT).read_bytes()
        return b""


@dataclass(slots=True, kw_only=True)
class Errands:
    """Begins work, few pieces at a time, and keeps the last results for an hour.

    Threads may share it: what starts or ends a process is asked for beside the event loop.
    """

    clock: Clock
    _folder: "tempfile.TemporaryDirectory[str] | None" = None
    _kept: OrderedDict[str, Errand] = field(default_factory=OrderedDict[str, Errand])
    _waiting: dict[Asker, float] = field(default_factory=dict[Asker, float])
    """When those who were told to wait asked last, in the order in which they came."""
    _number: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(
        self, key: str, order: JsonObject, *, title: str, to: str, tenant: str, by: Asker
    ) -> Errand | None:
        """Begin a piece of work; None for whoever has to wait. Blocks for milliseconds.

        `order` goes to the process by its standard input, where nobody else can read it.
        """
        with self._lock:
            if not self.has_turn(by):
                return None
            self._waiting.pop(by, None)
            self._forget(key)
            made = self._started(order, key=key, title=title, to=to, tenant=tenant, by=by)
            self._kept[key] = made
            return made

    def _started(
        self, order: JsonObject, *, key: str, title: str, to: str, tenant: str, by: Asker
    ) -> Errand:
        folder = self._new_folder()
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*_COMMAND, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 - a pipe, as was asked for
        with suppress(BrokenPipeError):  # it ended already, which is told as its failure
            process.stdin.write(jsontext.dump(order) + b"\n")
            process.stdin.flush()
        return Errand(
            key=key,
            title=title,
            to=to,
            tenant=tenant,
            by=by,
            begun=self.clock.monotonic(),
            at=self.clock.time_ns() // 1000,
            folder=folder,
            process=process,
            readers={by},
        )

    def find(self, key: str) -> Errand | None:
        """Return a piece of work as it stands now."""
        with self._lock:
            found = self._kept.get(key)
            return self._looked_at(found) if found is not None else None

    def has_turn(self, by: Asker) -> bool:
        """Whether somebody may begin now; who may not comes before those who ask after him."""
        with self._lock:
            is_free = self.is_free(by)
            if not is_free:
                self._waiting[by] = self.clock.monotonic()
            return is_free

    def is_free(self, by: Asker) -> bool:
        """Whether somebody may begin a piece of work now."""
        with self._lock:
            running = [each.by for each in self.all() if each.state is State.RUNNING]
            if by in running:
                return False
            own, others = self._places_kept(by, running)
            of_tenant = sum(each.tenant == by.tenant for each in running)
            return of_tenant + own < _OF_TENANT and len(running) + own + others < _AT_ONCE

    def _places_kept(self, by: Asker, running: Sequence[Asker]) -> tuple[int, int]:
        """Return the places for those who asked before, of somebody's tenant and of others."""
        now = self.clock.monotonic()
        for each, last in [*self._waiting.items()]:
            if now - last > _TURN_S:
                del self._waiting[each]
        busy, kept = Counter(each.tenant for each in running), Counter[str]()
        for each in self._waiting:
            if each == by:
                break
            if each not in running and busy[each.tenant] + kept[each.tenant] < _OF_TENANT:
                kept[each.tenant] += 1
        return kept[by.tenant], kept.total() - kept[by.tenant]

    def all(self) -> list[Errand]:
        """Return what is kept, the newest first."""
        now = self.clock.monotonic()
        with self._lock:
            for each in [*self._kept.values()]:
                if self._looked_at(each).ended and now - each.ended > _KEPT_S:
                    self._forget(each.key)
            while len(self._kept) > _KEPT:
                self._forget(self._dispensable())
            return [*reversed(self._kept.values())]

    def _dispensable(self) -> str:
        """Return the oldest result of the tenant that has the most of them."""
        over = [each for each in self._kept.values() if each.ended]
        counts = Counter(each.by.tenant for each in over)
        return max(over, key=lambda each: counts[each.by.tenant]).key  # the first of the largest

    def cancel(self, key: str) -> None:
        """End a piece of work that is under way."""
        with self._lock:
            found = self.find(key)
            if found is not None and found.state is State.RUNNING:
                self._end(found, State.CANCELLED)

    def drop(self, key: str) -> None:
        """Forget a result, such as one that can't be read."""
        with self._lock:
            self._forget(key)

    def close(self) -> None:
        """End what is under way and forget all results."""
        for key in [*self._kept]:
            self._forget(key)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _new_folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="weighbridge-", ignore_cleanup_errors=True
            )
        self._number += 1
        made = Path(self._folder.name) / str(self._number)
        made.mkdir(mode=0o700)
        return made

    def _looked_at(self, errand: Errand) -> Errand:
        if errand.state is not State.RUNNING:
            return errand
        if errand.process.poll() is None:
            if self.clock.monotonic() - errand.begun > _LONGEST_S:
                self._end(errand, State.FAILED)
                errand.problem = (
                    "it took more than ten minutes; ask for a shorter period, or use "
                    "`weighbridge replay`"
                )
            return errand
        is_done = errand.process.returncode == 0 and bool(errand.result())
        self._end(errand, State.DONE if is_done else State.FAILED)
        if not is_done:
            errand.problem = _problem(errand.folder)
        return errand

    def _end(self, errand: Errand, state: State) -> None:
        errand.state, errand.ended = state, self.clock.monotonic()
        process = errand.process
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()

    def _forget(self, key: str) -> None:
        found = self._kept.pop(key, None)
        if found is None:
            return
        if found.state is State.RUNNING:
            self._end(found, State.CANCELLED)
        for each in found.folder.iterdir():
            each.unlink(missing_ok=True)
        found.folder.rmdir()


def _problem(folder: Path) -> str:
    with suppress(OSError):
        return (folder / PROBLEM).read_text(encoding="utf-8")
    return "the process that does it ended without a word"
