"""Sealed copies that are old enough are destroyed; each gateway of a store looks, any may do it."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

import anyio

from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.events import upkeep
from gateway.store.sealed_copies import Scope, SealedCopies, Shredded
from gateway.types.events import Event

_log = logging.getLogger("weighbridge")
_EVERY_S: Final = 600.0
_BY: Final = "events.sealing.keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiring:
    """Destroys copies that are older than `keep_s`, but for what is on hold."""

    sealed: SealedCopies
    keep_s: float
    clock: Clock
    every_s: float = _EVERY_S

    async def run(self) -> None:
        """Look for ever; a store that is away is asked again at the next turn."""
        while True:
            try:
                await self.once()
            except StoreUnavailable as error:
                _log.warning("old sealed copies could not be destroyed now: %s", error)
            except Exception:  # the loop must outlive any row
                _log.exception("old sealed copies could not be destroyed")
            await anyio.sleep(self.every_s)

    async def once(self) -> int:
        """Destroy what is old enough; return how many copies that were."""
        before = self.clock.now() - timedelta(seconds=self.keep_s)
        count = 0
        async for tenant in self.sealed.expired(before):
            scope = Scope(tenant=tenant, before=before, spares_held=True)
            found = await self.sealed.shred(scope, partial(_event, scope, self.clock))
            count += found.copies
        return count


def _event(scope: Scope, clock: Clock, id: str, found: Shredded) -> Event:
    return upkeep.shredded(
        id=id,
        at=clock.now(),
        tenant=scope.tenant,
        run="",
        call="",
        before=scope.before,
        copies=found.copies,
        keys=found.keys,
        operations=found.operations,
        requests=found.requests,
        reason="",
        by=_BY,
        account="",
    )
