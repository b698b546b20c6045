"""Who waits for each request here, so that approvers see when nobody does any more.

The row says when the last caller went away. Callers of one request may be held by several gateways:
whoever still is finds that in the row, and takes it back.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from gateway.errors import StoreUnavailable
from gateway.types.approvals import Approval

_log = logging.getLogger("weighbridge")


@dataclass(slots=True, kw_only=True)
class Attendance:
    """Counts the callers of each request, and keeps whether any is there."""

    note: Callable[[Approval, bool], Awaitable[None]]
    """Keep whether anybody is there; raises StoreUnavailable."""
    _present: Counter[str] = field(default_factory=Counter[str])

    @asynccontextmanager
    async def of(
        self, approval: Approval, left: Callable[[], Awaitable[None]]
    ) -> AsyncGenerator[None]:
        """Take a caller for present until the block ends; a block that is cancelled was left.

        `left` is carried out when the last one leaves.
        """
        name = approval.approval_id
        self._present[name] += 1
        has_left = False
        try:
            await self.seen(approval)
            yield
        except asyncio.CancelledError:
            has_left = True
            raise
        finally:
            self._present[name] -= 1
            if not self._present[name]:
                del self._present[name]
                if has_left:
                    with anyio.CancelScope(shield=True):
                        await left()

    def many(self, approval_id: str) -> int:
        """Return how many callers wait for a request here."""
        return self._present[approval_id]

    async def seen(self, approval: Approval) -> None:
        """Take back, for a caller who is here, that all have gone away."""
        if approval.left_at:
            await self._note(approval, True)

    async def gone(self, approval: Approval) -> None:
        """Note that nobody is here any more."""
        await self._note(approval, False)

    async def _note(self, approval: Approval, is_here: bool) -> None:
        try:
            await self.note(approval, is_here)
        except StoreUnavailable as error:  # it only says less then
            _log.debug("%s: can't be noted who waits: %s", approval.approval_id, error)
