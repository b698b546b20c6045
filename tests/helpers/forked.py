"""The real command in processes that have its imports already: a start costs no second of work.

One parent imports everything once and is forked for each process, which then is as fresh as one
that was started from a shell: the parent has no threads, no event loop and no open database.
"""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from unittest.mock import patch

from gateway.admin import errand_process
from gateway.app import start
from gateway.cli.groups import GROUPS, REPLAY
from gateway.cli.main import COMMANDS
from gateway.cli.main import main as weighbridge
from gateway.crossing.failpoints import Failpoint
from gateway.crossing.joins import Joins
from gateway.relay.holding import Bells, Holding

TABLES = (COMMANDS, REPLAY, *(group.table for group in GROUPS.values()))
_PARENT = multiprocessing.get_context("forkserver")
_PARENT.set_forkserver_preload(
    [
        "__main__",
        "pytest",
        __name__,
        *sorted({place.partition(":")[0] for each in TABLES for place, _ in each.values()}),
        "gateway.store.postgres",
        "uvloop",
        # What others import only once they run, and each process would import anew.
        "anyio._backends._asyncio",
        "encodings.idna",
        "gateway.admin.entrance",
        "gateway.app.taping",
        "gateway.cli.playing",
        "gateway.listen.sessions",
        "uvicorn.lifespan.on",
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
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, kw_only=True)  # one waits at a time

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
        async with self._turn:
            if self.process.exitcode is None:
                loop, ended = asyncio.get_running_loop(), asyncio.Event()
                loop.add_reader(self.process.sentinel, ended.set)
                try:
                    await ended.wait()
                finally:
                    loop.remove_reader(self.process.sentinel)
        return self.process.exitcode or 0


@dataclass
class Hosted(Forked):
    """A process at whose pipes its host sits; both are closed by who began it."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader


@dataclass(frozen=True, kw_only=True)
class _Life:
    """What a process is made of: the words after `weighbridge`, its surroundings, its end."""

    words: Sequence[str]
    environ: Mapping[str, str]
    output: Path | Connection
    errors: Path | None = None  # without one, where the output goes
    input: Connection | None = None  # without one, there is nothing to read
    folder: Path | None = None  # without one, where the parent was started
    death: Death | None = None


def begin(
    words: Sequence[str],
    output: Path,
    environ: Mapping[str, str] | None = None,
    death: Death | None = None,
    folder: Path | None = None,
) -> Forked:
    """Run the command with these words; what it writes is appended to a file."""
    life = _Life(words=words, environ=_given(environ), output=output, death=death, folder=folder)
    return Forked(_born(life))


async def started(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Forked:
    """Run the command as `tests.helpers.gateway.running` does when told nothing else."""
    return begin(words, log, environ)


def ran(
    words: Sequence[str],
    environ: Mapping[str, str] | None = None,
    within_s: float = 60,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end and return its exit code and what it wrote."""
    with tempfile.TemporaryDirectory(prefix="wb-ran-") as place:
        output, errors = Path(place, "output"), Path(place, "errors")
        life = _Life(
            words=words, environ=_given(environ), output=output, errors=errors, folder=folder
        )
        process = _born(life)
        process.join(within_s)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"`weighbridge {' '.join(words)}` did not end")
        said = (output.read_text(), errors.read_text())
        return subprocess.CompletedProcess(["weighbridge", *words], process.exitcode, *said)


def at_terminal(words: Sequence[str], terminal: int, environ: Mapping[str, str]) -> Forked:
    """Run the command with a terminal, given by its descriptor, for all it reads and writes."""
    with Connection(os.dup(terminal)) as to, Connection(os.dup(terminal)) as back:
        return Forked(_born(_Life(words=words, environ=environ, output=to, input=back)))


async def hosted(
    words: Sequence[str], log: Path, environ: Mapping[str, str], limit: int = 1 << 25
) -> Hosted:
    """Run the command at two pipes; `limit` is the longest line that can be read, in bytes."""
    read, write = os.pipe()
    stdin, theirs_in = os.fdopen(write, "wb", buffering=0), Connection(read, writable=False)
    read, write = os.pipe()
    stdout, theirs_out = os.fdopen(read, "rb", buffering=0), Connection(write, readable=False)
    with theirs_in, theirs_out:
        life = _Life(words=words, environ=environ, output=theirs_out, errors=log, input=theirs_in)
        process = _born(life)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdout)
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), stdin
    )
    return Hosted(process, asyncio.StreamWriter(transport, protocol, None, loop), reader)


class Errand:
    """A process for long work of pages, with what `gateway.admin.errands` asks of it."""

    def __init__(self, words: Sequence[str], **_: object) -> None:
        read, write = os.pipe()
        self.stdin = os.fdopen(write, "wb")
        with Connection(read, writable=False) as theirs:
            self._process = _PARENT.Process(target=_work, args=(theirs, Path(words[-1])))
            self._process.start()

    @property
    def returncode(self) -> int | None:
        """Its exit code; a negative one is the signal that ended it."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return its exit code, if it has ended."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self._process.pid is not None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        """End it."""
        self._process.kill()

    def wait(self) -> None:
        """Wait for its end."""
        self._process.join()


def _work(read: Connection, folder: Path) -> None:
    with read:
        os.dup2(read.fileno(), 0)
    sys.exit(errand_process.main(folder))


def _given(environ: Mapping[str, str] | None) -> Mapping[str, str]:
    return dict(os.environ if environ is None else environ)


def _born(life: _Life) -> ForkServerProcess:
    process = _PARENT.Process(target=_be, args=(life,))
    process.start()
    return process


def _be(life: _Life) -> None:
    os.environ.clear()
    os.environ.update(life.environ)
    if life.folder is not None:
        os.chdir(life.folder)
    _connect(life)
    death = life.death
    wiring = start.Wiring if death is None else partial(start.Wiring, reached=death.reached)
    with ExitStack() as patched:
        patched.enter_context(patch.object(start, "Wiring", wiring))
        if death is not None and isinstance(death.point, Moment):
            owner, method = _NEXT[death.point]
            patched.enter_context(patch.object(owner, method, _die))
        weighbridge(list(life.words), prog_name="weighbridge")


def _connect(life: _Life) -> None:
    """Put the process's three standard descriptors where its life says."""
    if life.input is not None:
        with life.input:
            os.dup2(life.input.fileno(), 0)
        sys.stdin = os.fdopen(0, closefd=False)
    _lead(life.output, 1)
    if life.errors is None:
        os.dup2(1, 2)
    else:
        _lead(life.errors, 2)


def _lead(to: Path | Connection, number: int) -> None:
    with to.open("ab") if isinstance(to, Path) else to as file:
        os.dup2(file.fileno(), number)
