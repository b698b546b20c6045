"""The loop that makes checkpoints of the event log: all gateways run it, whoever is first signs."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import anyio

from gateway.app.handing import Place, places
from gateway.app.signing import OFF, default_name, key_path, signer_of
from gateway.clock import Clock
from gateway.config.events import CheckpointsSettings
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError, LogChanged, StoreUnavailable
from gateway.events import copies
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Signer
from gateway.store import key_files
from gateway.store.checkpoints import Checkpoints, Standing
from gateway.store.integration import StoredCheckpoint
from gateway.store.store import Store
from gateway.types.json import JsonObject

_log = logging.getLogger("weighbridge.checkpoints")

_LOOK_S: Final = 1.0


@dataclass(slots=True, kw_only=True)
class Checkpointing:
    """Makes a checkpoint when enough events wait, or one has waited for long enough."""

    checkpoints: Checkpoints
    settings: CheckpointsSettings
    signer: Callable[[], Signer]
    """Reads the key anew each time, so that another one takes over at once."""
    first_key: Callable[[], object]
    """Makes the key of a log that has no checkpoint yet, where that is made by itself."""
    clock: Clock
    places: Sequence[Place] = ()
    off: str = ""  # why there are none
    problem: str = ""  # why the last try came to nothing
    size: int = 0  # of the last checkpoint in the store
    since: int = 0  # events that it does not cover
    made_at: datetime | None = None
    _waiting_s: float | None = None  # since when an event waits, on the monotonic clock

    async def run(self) -> None:
        """Look for ever; a store that is away is tried again at the next turn."""
        if self.off:
            _log.warning("%s", self.off)
            return
        async with anyio.create_task_group() as tasks:
            for place in self.places:
                tasks.start_soon(place.run)
            while True:
                await self.once()
                await anyio.sleep(_LOOK_S)

    async def finish(self) -> None:
        """Make the last one of an orderly stop, and try each place once more."""
        if self.off:
            return
        await self._safely(self.make)
        async with anyio.create_task_group() as tasks:
            for place in self.places:
                tasks.start_soon(place.once)

    async def make(self) -> None:
        """Make checkpoints until they cover everything; raises what keeps one from being made."""
        if (await self.checkpoints.standing()).last is None:
            self.first_key()
        signer = self.signer()
        while (made := await self.checkpoints.make(self._sign(signer))) is not None:
            self._made(made, signer)
        self._take_note(await self.checkpoints.standing())

    def age_s(self) -> float:
        """Return for how long the oldest event that no checkpoint covers has waited."""
        waiting_s = self._waiting_s
        return 0.0 if waiting_s is None else self.clock.monotonic() - waiting_s

    def as_json(self) -> JsonObject:
        """Return what `weighbridge status` shows."""
        return {
            "off": self.off,
            "problem": self.problem,
            "size": self.size,
            "at": self.made_at.isoformat(timespec="seconds") if self.made_at else None,
            "since": self.since,
            "age_s": round(self.age_s()),
            "to": [
                {
                    "name": place.name,
                    "size": place.size,
                    "waiting": place.waiting,
                    "problem": place.problem,
                }
                for place in self.places
            ],
        }

    async def once(self) -> None:
        """Look once, and make one if it is due; what keeps it from that is told as `problem`."""
        await self._safely(self._look)

    async def _look(self) -> None:
        self._take_note(await self.checkpoints.standing())
        if self.since >= self.settings.events or (
            self.since > 0 and self.age_s() >= self.settings.every
        ):
            await self.make()

    def _take_note(self, standing: Standing) -> None:
        last = standing.last
        size, self.since = (last.size if last is not None else 0), standing.since
        self.made_at = last.at if last is not None else None
        if self.since <= 0:
            self._waiting_s = None
        elif self._waiting_s is None or size != self.size:
            self._waiting_s = self.clock.monotonic()
        self.size = size

    def _sign(self, signer: Signer) -> Callable[[int, bytes], str]:
        origin = self.settings.origin or signer.name
        return lambda size, root: Checkpoint(origin=origin, size=size, root=root).signed([signer])

    def _made(self, made: StoredCheckpoint, signer: Signer) -> None:
        record = copies.record(made.note, signer.key, made.at)
        for place in self.places:
            place.put(record)

    async def _safely(self, work: Callable[[], Awaitable[None]]) -> None:
        before, self.problem = self.problem, ""
        try:
            await work()
        except (StoreUnavailable, LogChanged, ConfigurationError) as error:
            self.problem = str(error)
        except Exception as error:  # the loop must outlive any row
            self.problem = f"it met a fault of its own: {type(error).__name__}"
            _log.exception("checkpoints can't be made")
        if self.problem and self.problem != before:
            _log.error("no checkpoint of the event log can be made: %s", self.problem)


def checkpointing(store: Store, settings: Settings, clock: Clock) -> Checkpointing:
    """Build the loop of a gateway; a store in a file gets its key with its first checkpoint."""
    own = settings.events.checkpoints
    path = key_path(settings)

    def first_key() -> None:
        if path is not None and own.key is None:
            key_files.make(path, own.origin or default_name(store))

    if path is not None:
        store.checkpoints.expect()
    return Checkpointing(
        checkpoints=store.checkpoints,
        settings=own,
        signer=lambda: signer_of(path, own),
        first_key=first_key,
        clock=clock,
        places=places(own.to, clock),
        off="" if path is not None else OFF,
    )
