"""The loops that run beside the calls: reload on change, snapshots of the state, clean ends."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from gateway.config.folders import yaml_below

_log = logging.getLogger("weighbridge")

Fingerprint = Mapping[str, tuple[int, int, int]]


def fingerprint(folder: Path) -> Fingerprint:
    """Return size and times of every YAML file below a folder, or of one file.

    `observe` and `enforce` have one length, and tools that lay files down may give all of them one
    time of modification: the time of change is the system's own.
    """
    found: dict[str, tuple[int, int, int]] = {}
    for path in yaml_below(folder) if folder.is_dir() else (folder,):
        try:
            state = path.stat()
        except FileNotFoundError:  # removed between the listing and the look
            continue
        found[str(path.relative_to(folder))] = (
            state.st_mtime_ns,
            state.st_ctime_ns,
            state.st_size,
        )
    return found


@dataclass(slots=True, kw_only=True)
class Reloader:
    """Reloads a folder when a file in it changes, or one file, or when it is told to (SIGHUP)."""

    folder: Path
    reload: Callable[[str], Awaitable[None]]
    every_s: float = 1.0
    since: Fingerprint | None = None
    """What was there before it was read; None: what is there when the watch begins."""
    _told: anyio.Event = field(default_factory=anyio.Event)
    _loaded: Fingerprint = field(default_factory=dict[str, tuple[int, int, int]])
    _loading: anyio.Lock = field(default_factory=anyio.Lock)

    def tell(self) -> None:
        """Reload now, changed or not."""
        self._told.set()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Watch for ever; a change is taken once it has been still for one look."""
        seen = await self._look()
        self._loaded = seen if self.since is None else self.since
        task_status.started()
        while True:
            with anyio.move_on_after(self.every_s):
                await self._told.wait()
            told = self._told.is_set()
            if told:
                self._told = anyio.Event()
            now = await self._look()
            still = now == seen
            seen = now
            if told or still:
                await self._take(now, "told to" if told else "a file changed", anyway=told)

    async def catch_up(self) -> None:
        """Take what has changed by now, however short ago; a reload under way is waited for."""
        await self._take(await self._look(), "a file changed")

    async def _look(self) -> Fingerprint:
        return await anyio.to_thread.run_sync(fingerprint, self.folder)

    async def _take(self, now: Fingerprint, because: str, *, anyway: bool = False) -> None:
        async with self._loading:
            if anyway or now != self._loaded:
                self._loaded = now
                await self._once(because)

    async def _once(self, because: str) -> None:
        try:
            await self.reload(because)
        except Exception:  # the loop must outlive any file and any store
            _log.exception("%s could not be reloaded", self.folder)


@dataclass(slots=True, kw_only=True)
class Snapshots:
    """Writes what `weighbridge status` shows, every few seconds and when something changes."""

    write: Callable[[], Awaitable[None]]
    every_s: float = 2.0
    _told: anyio.Event = field(default_factory=anyio.Event)

    def tell(self) -> None:
        """Write one soon."""
        self._told.set()

    async def run(self) -> None:
        """Write for ever; a store that is away is tried again at the next turn."""
        while True:
            self._told = anyio.Event()
            try:
                await self.write()
            except Exception as error:
                _log.debug("the state could not be written: %s", error)
            with anyio.move_on_after(self.every_s):
                await self._told.wait()
