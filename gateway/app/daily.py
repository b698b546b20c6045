"""What would have been: told at the end of each day in UTC, at a stop, and at a change of mode."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from gateway import ids
from gateway.actions.observed import Cause, Tally
from gateway.app.stance import OBSERVES, Stance
from gateway.clock import Clock
from gateway.events import observing
from gateway.types.events import Event

_log = logging.getLogger("weighbridge")
_LOOK_S = 30.0  # how late the end of a day may be noticed
_SHOWN = 20  # causes in the log of the process; the event has more


@dataclass(slots=True, kw_only=True)
class Daily:
    """Owns the count of this process; the event log has every call by itself as well."""

    stance: Stance
    clock: Clock
    say: Callable[[Event], None]
    every_s: float = _LOOK_S
    was_observing: bool = False

    def begin(self) -> None:
        """Count from now on, and say so where every call passes: nobody should learn it late."""
        self.stance.tally = Tally(since=self.clock.now())
        if self.stance.observes:
            _log.warning(
                "%s; see `weighbridge status`, end it with `weighbridge enforce`", OBSERVES
            )
        elif self.was_observing:
            _log.info("decisions are enforced (`mode: enforce`)")
        self.was_observing = self.stance.observes

    async def run(self) -> None:
        """Tell of each day at its end, for ever."""
        day = self.clock.now().date()
        while True:
            await anyio.sleep(self.every_s)
            today = self.clock.now().date()
            if today != day:
                day = today
                self.tell()

    def tell(self) -> None:
        """Tell of what was counted so far, if anything was, and begin anew."""
        tally, now = self.stance.tally, self.clock.now()
        self.stance.tally = Tally(since=now)
        if not tally.calls:
            return
        since = tally.since or now
        _log.info("observed since %s: %s", f"{since:%Y-%m-%d %H:%M} UTC", tally.in_words())
        ranked = [*tally.ranked()]
        for cause, calls in ranked[:_SHOWN]:
            _log.info("observed: %s", line(cause, calls))
        would = [cause.to_json(calls) for cause, calls in ranked]
        self.say(
            observing.calls_observed(
                id=ids.ulid(), at=now, since=since, calls=tally.calls, would=would
            )
        )


def line(cause: Cause, calls: int) -> str:
    """Write one cause as people read it: `deny  crm.delete  no-deletes  3`."""
    return f"{cause.would}  {cause.tool}  {cause.rule}  {calls}"
