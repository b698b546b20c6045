"""Hands checkpoints outside of the store: each place in its own time, none in another's way."""

import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from gateway import jsontext
from gateway.app.posting import post
from gateway.approvals.signing import signed
from gateway.clock import Clock
from gateway.config.events import CopySettings
from gateway.events import copies
from gateway.types.json import JsonObject

_log = logging.getLogger("weighbridge.checkpoints")

_WAITING: Final = 64  # for one place; what is newer covers what had to make room for it
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 300.0
_TYPE: Final = "application/cloudevents+json; charset=utf-8"

Deliver = Callable[[JsonObject], Awaitable[str]]
"""Hands one record over; returns why it could not, or an empty text."""


@dataclass(slots=True, kw_only=True)
class Place:
    """One place, what waits for it, and what it got."""

    name: str
    deliver: Deliver
    size: int = 0  # of the last checkpoint that it got
    problem: str = ""  # of the last attempt
    _waiting: deque[JsonObject] = field(default_factory=lambda: deque(maxlen=_WAITING))
    _told: anyio.Event = field(default_factory=anyio.Event)

    @property
    def waiting(self) -> int:
        """How many checkpoints it has not got yet."""
        return len(self._waiting)

    def put(self, record: JsonObject) -> None:
        """Have it handed over soon."""
        self._waiting.append(record)
        self._told.set()

    async def run(self) -> None:
        """Hand over for ever, the oldest first; a place that is away is tried more rarely."""
        pause_s = _FIRST_PAUSE_S
        while True:
            self._told = anyio.Event()
            if await self.once():
                pause_s = _FIRST_PAUSE_S
                await self._told.wait()
            else:
                await anyio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def once(self) -> bool:
        """Try what waits, up to the first failure; True when nothing is left."""
        while self._waiting:
            record = self._waiting[0]
            try:
                problem = await self.deliver(record)
            except Exception as error:  # a place must not end the loop over it
                problem = type(error).__name__
            if problem and not self.problem:
                _log.warning("`%s` can't be handed a checkpoint: %s", self.name, problem)
            self.problem = problem
            if problem:
                return False
            self.size = max(self.size, _size(record))
            if self._waiting and self._waiting[0] is record:  # else it has made room
                self._waiting.popleft()
        return True


def places(settings: Sequence[CopySettings], clock: Clock) -> list[Place]:
    """Return the places of a configuration."""
    return [Place(name=each.name, deliver=_way(each, clock)) for each in settings]


def _way(settings: CopySettings, clock: Clock) -> Deliver:
    path = settings.file
    if path is not None:
        return lambda record: _to_file(path, record)
    if settings.url is not None:
        return lambda record: _to_webhook(settings, record, clock)
    return _to_log


async def _to_file(path: Path, record: JsonObject) -> str:
    return await anyio.to_thread.run_sync(_add_line, path, jsontext.dump(record))


async def _to_log(record: JsonObject) -> str:
    _log.info("checkpoint %s", jsontext.dump(record).decode())
    return ""


async def _to_webhook(settings: CopySettings, record: JsonObject, clock: Clock) -> str:
    event = copies.cloud_event(record)
    body, at_s = jsontext.dump(event), clock.time_ns() // 1_000_000_000
    headers = {
        "Content-Type": _TYPE,
        **signed(str(event["id"]), at_s, body, settings.signing_key),
    }
    posted = await post(settings.url or "", headers, body)
    return posted.problem


def _add_line(path: Path, line: bytes) -> str:
    """Add a line, down to the disk; one that was cut off by a crash stays a line of its own."""
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return os.strerror(error.errno or 0).lower()
    return ""


def _size(record: JsonObject) -> int:
    size = record.get("size")
    return size if isinstance(size, int) else 0
