"""Work for pages that takes long: in a process of its own, one at a time, its result kept a while.

Nothing here waits. A process writes how far it is, and what came of it, into a folder; whoever asks
looks there. It ends by itself when its standard input does, and so never outlives the gateway.
"""

import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from gateway import jsontext
from gateway.clock import Clock
from gateway.types.json import JsonObject

_KEPT: Final = 16
_KEPT_S: Final = 3600.0
_LONGEST_S: Final = 1800.0
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


@dataclass(slots=True, kw_only=True)
class Errand:
    """One piece of work, under the name by which it is found again."""

    key: str
    title: str
    to: str  # the page that shows it
    tenant: str  # whose calls it is about; empty: of all
    by: str
    begun: float  # monotonic
    at: int  # microseconds since 1970
    folder: Path
    process: "subprocess.Popen[bytes]"
    state: State = State.RUNNING
    problem: str = ""
    ended: float = 0.0

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
    """Begins work, one piece at a time, and keeps the last results for an hour.

    Threads may share it: what starts or ends a process is asked for beside the event loop.
    """

    clock: Clock
    _folder: "tempfile.TemporaryDirectory[str] | None" = None
    _kept: OrderedDict[str, Errand] = field(default_factory=OrderedDict[str, Errand])
    _number: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(
        self, key: str, order: JsonObject, *, title: str, to: str, tenant: str, by: str
    ) -> Errand | None:
        """Begin a piece of work; None while another one is under way. Blocks for milliseconds.

        `order` goes to the process by its standard input, where nobody else can read it.
        """
        with self._lock:
            if self.running() is not None:
                return None
            self._forget(key)
            made = self._started(order, key=key, title=title, to=to, tenant=tenant, by=by)
            self._kept[key] = made
            return made

    def _started(
        self, order: JsonObject, *, key: str, title: str, to: str, tenant: str, by: str
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
        )

    def find(self, key: str) -> Errand | None:
        """Return a piece of work as it stands now."""
        with self._lock:
            found = self._kept.get(key)
            return self._looked_at(found) if found is not None else None

    def running(self) -> Errand | None:
        """Return the one that is under way."""
        return next((each for each in self.all() if each.state is State.RUNNING), None)

    def all(self) -> list[Errand]:
        """Return what is kept, the newest first."""
        now = self.clock.monotonic()
        with self._lock:
            for each in [*self._kept.values()]:
                is_old = self._looked_at(each).ended and now - each.ended > _KEPT_S
                if is_old or (each.ended and len(self._kept) > _KEPT):
                    self._forget(each.key)
            return [*reversed(self._kept.values())]

    def cancel(self, key: str) -> None:
        """End a piece of work that is under way."""
        with self._lock:
            found = self.find(key)
            if found is not None and found.state is State.RUNNING:
                self._end(found, State.CANCELLED)

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
                errand.problem = "it took more than half an hour; ask for a shorter period"
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
