"""Runs beside the calls: how calls find them, and the loop that stops those that don't go on."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Protocol

import anyio

from gateway import ids
from gateway.clock import Clock
from gateway.config.runs import RunsSettings
from gateway.config.units import format_duration
from gateway.crossing.belonging import Belonging
from gateway.errors import StoreUnavailable
from gateway.events import runs as events
from gateway.events.redact import Redactor
from gateway.revision import Revision
from gateway.runs import moves
from gateway.runs.binding import Chain
from gateway.runs.moves import Blocked
from gateway.store.runs import Told
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.approvals import Approval
from gateway.types.events import Event
from gateway.types.runs import Mover, Run

_log = logging.getLogger("weighbridge")
_SWEEP_S: Final = 2.0
_FORGET_S: Final = 3600.0
_HOST_SESSION: Final = "CLAUDE_CODE_SESSION_ID"  # Claude Code, in the environment of its servers


def belonging(
    store: Store,
    settings: RunsSettings,
    *,
    revision: Callable[[], Revision],
    environ: Mapping[str, str],
    is_child: bool,
    clock: Clock,
    redactor: Redactor,
) -> Belonging:
    """Return what finds the runs of calls; `is_child`: a host has started this process."""
    chain = Chain(
        conversations=settings.correlate.conversations,
        sessions=settings.correlate.sessions,
        environment=environ.get(_HOST_SESSION, "") if is_child else "",
        process=ids.ulid() if is_child else "",
    )
    return Belonging(
        runs=store.runs,
        revision=revision,
        clock=clock,
        redactor=redactor,
        chain=chain,
        is_enabled=settings.enabled,
        begins=settings.implicit,
        idle_s=settings.idle,
        reads_while_paused=settings.reads_while_paused,
    )


class Runs(Protocol):
    """The tables of runs, as far as sweeps need them; all raise StoreUnavailable."""

    async def flush(self) -> None:
        """Write what was noted of calls."""
        ...

    async def idle(self) -> list[Run]:
        """Return runs without a call for too long, and those whose wall time is over."""
        ...

    async def change(self, before: Run, after: Run, told: Told) -> Run | None:
        """Move a run from the version it was read in."""
        ...

    async def to_cancel(self) -> list[Approval]:
        """Return requests for approval of runs that were stopped."""
        ...

    async def ended(self, before: int) -> list[Run]:
        """Return runs that ended before a time."""
        ...

    async def lapsed(self, before: int) -> list[Run]:
        """Return paused and blocked runs that nothing was done in since before a time."""
        ...

    async def forget(self, run: Run) -> None:
        """Let go of a run, and of all that belongs to it."""
        ...


@dataclass(slots=True, kw_only=True)
class RunSweeper:
    """Stops what does not go on, and ends the requests of what was stopped, whoever did that."""

    runs: Runs
    call_off: Callable[[Approval, str], Awaitable[object]]
    """End a request that nobody waits for any more; raises StoreUnavailable."""
    is_on: Callable[[], bool]
    clock: Clock
    keep: timedelta = field(default=timedelta(days=90))
    _forgot_s: float | None = None

    async def run(self) -> None:
        """Sweep for ever; what was noted of calls is written at the end as well."""
        try:
            while True:
                await anyio.sleep(_SWEEP_S)
                if self.is_on():
                    await self.sweep()
        finally:
            with anyio.CancelScope(shield=True):
                await self._safely(self.runs.flush)

    async def sweep(self) -> None:
        """Look once; a store that is away is tried again at the next turn."""
        for each in (self.runs.flush, self._stop, self._cancel, self._forget):
            await self._safely(each)

    async def _stop(self) -> None:
        now = microseconds(self.clock.now())
        for run in await self.runs.idle():
            is_late = moves.is_late(run, now)
            if not is_late and not moves.is_idle(run, now):
                continue
            over = "its time is over"
            note = over if is_late else f"no call for {format_duration(run.idle_s)}"
            after = moves.blocked(run, note=note)
            if not isinstance(after, Blocked):
                await self.runs.change(run, after, self._told)

    async def _cancel(self) -> None:
        for approval in await self.runs.to_cancel():
            await self.call_off(approval, "its run was stopped")

    async def _forget(self) -> None:
        now_s = self.clock.monotonic()
        if self._forgot_s is not None and now_s - self._forgot_s < _FORGET_S:
            return
        before = microseconds(self.clock.now() - self.keep)
        lapsed = await self.runs.lapsed(before)
        for run in lapsed:
            await self._let_go(run)
        ended = await self.runs.ended(before)
        for run in ended:
            await self.runs.forget(run)
        if not lapsed and not ended:  # else there may be more, which the next turn looks for
            self._forgot_s = now_s

    async def _let_go(self, run: Run) -> None:
        """End a run that nobody has come back to, unless somebody has by now, and forget it."""
        note = f"nobody went on with it for {format_duration(self.keep.total_seconds())}"
        after = moves.lapsed(run, note=note, now=microseconds(self.clock.now()))
        if isinstance(after, Blocked):
            return
        over = await self.runs.change(run, after, self._told)
        if over is not None:
            await self.runs.forget(over)

    def _told(self, before: Run, after: Run) -> list[Event]:
        at = self.clock.now()
        return [events.event(before, after, by=Mover.GATEWAY, id=ids.ulid(), at=at)]

    async def _safely(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except StoreUnavailable as error:
            _log.debug("runs can't be looked after: %s", error)
        except Exception:  # the loop must outlive any row
            _log.exception("runs can't be looked after")
