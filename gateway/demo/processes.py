"""The processes of a demo: started, awaited and ended, with their output in files."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from gateway.demo.workspace import ROOT
from gateway.errors import WeighbridgeError

START_S: Final = 90.0  # a busy machine takes long, and whoever waits sees what for
_END_S: Final = 8.0
_POLL_S: Final = 0.05


class DemoFault(WeighbridgeError):
    """The demo can't go on; one line that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A process of the demo and the file that gets what it says."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    async def until(self, found: re.Pattern[str], path: Path) -> re.Match[str]:
        """Wait until a file of the process holds a pattern; raises DemoFault when it ends first."""
        with anyio.move_on_after(START_S):
            while self.process.poll() is None:
                match = found.search(_text(path))
                if match is not None:
                    return match
                await anyio.sleep(_POLL_S)
        said = _text(self.log).strip().splitlines()
        last = said[-1] if said else "it said nothing"
        raise DemoFault(f"{self.name} is not ready: {last}")

    def end(self) -> None:
        """End it as an operator does, or by force after a while; once or twice is the same."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def weighbridge() -> list[str]:
    """Return the `weighbridge` command of this very installation."""
    script = Path(sys.executable).with_name("weighbridge")
    return [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-m", "gateway"]


@contextmanager
def running(name: str, command: Sequence[str], folder: Path) -> Generator[Running]:
    """Run a process until the block ends; its output is added to `<name>.log` in the folder."""
    log = folder / f"{name}.log"
    with log.open("ab") as out:
        process = subprocess.Popen(  # noqa: S603 - our own command lines
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=ROOT
        )
    started = Running(name=name, process=process, log=log)
    try:
        yield started
    finally:
        started.end()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
