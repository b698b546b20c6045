"""The real command in processes that have its imports already: a start costs no second of work.

One parent imports everything once and is forked for each process, which then is as fresh as one
that was started from a shell: the parent has no threads, no event loop and no open database.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from unittest.mock import patch

from gateway.app import start
from gateway.cli.main import main as weighbridge
from gateway.crossing.failpoints import Failpoint
from gateway.crossing.joins import Joins
from gateway.relay.holding import Bells, Holding

_PARENT = multiprocessing.get_context("forkserver")
_PARENT.set_forkserver_preload(
    [
        "__main__",
        "pytest",
        __name__,
        "gateway.cli.ops",
        "gateway.cli.serve",
        "gateway.store.postgres",
        "uvloop",
    ]
)


class Moment(StrEnum):
    """Where else a process may end itself: when it is about to tell what it has committed."""

    ASKED = "asked"  # a request for approval is committed, and its caller has not learned of it
    DECIDED = "decided"  # a decision is committed, and who waits for it has not been woken
    SETTLED = "settled"  # an outcome is committed, and nobody has been answered


_NEXT = {
    Moment.ASKED: (Holding, "__call__"),
    Moment.DECIDED: (Bells, "ring"),
    Moment.SETTLED: (Joins, "ended"),
}


@dataclass(kw_only=True)
class Death:
    """Where a process ends itself with SIGKILL: at once, or as soon as a file is there."""

    point: Failpoint | Moment
    file: Path | None = None
    spared: int = 0  # so many times the point is passed before

    def reached(self, point: Failpoint) -> None:
        """Die, if it is the point."""
        if point is not self.point:
            return
        self.spared -= 1
        if self.spared >= 0:
            return
        if self.file is None:
            _die()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        while self.file and not self.file.exists():
            time.sleep(0.005)
        _die()


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Forked:
    """A process, with what tests use of those that asyncio starts."""

    process: ForkServerProcess

    @property
    def pid(self) -> int:
        """Its number; 0 for one that was never started."""
        return self.process.pid or 0

    @property
    def returncode(self) -> int | None:
        """Its exit code; a negative one is the signal that ended it."""
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self.process.exitcode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end and return the exit code."""
        await asyncio.to_thread(self.process.join)
        return self.process.exitcode or 0


def begin(
    words: Sequence[str],
    output: Path,
    environ: Mapping[str, str] | None = None,
    death: Death | None = None,
) -> Forked:
    """Run the command with these words; what it writes is appended to a file."""
    process = _PARENT.Process(target=_be, args=(list(words), output, environ, death))
    process.start()
    return Forked(process)


def _be(
    words: list[str], output: Path, environ: Mapping[str, str] | None, death: Death | None
) -> None:
    if environ is not None:
        os.environ.clear()
        os.environ.update(environ)
    with output.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    wiring = start.Wiring if death is None else partial(start.Wiring, reached=death.reached)
    with ExitStack() as patched:
        patched.enter_context(patch.object(start, "Wiring", wiring))
        if death is not None and isinstance(death.point, Moment):
            owner, method = _NEXT[death.point]
            patched.enter_context(patch.object(owner, method, _die))
        weighbridge(words, prog_name="weighbridge")
