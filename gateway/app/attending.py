"""The loop over requests for approval: every gateway runs it, none leads; rows say what is due."""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

from gateway.app.notifying import Notifier
from gateway.app.telling import Teller
from gateway.clock import Clock
from gateway.config.approvals import ApprovalsSettings
from gateway.errors import StoreUnavailable
from gateway.events.redact import Redactor
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, ApprovalState

_log = logging.getLogger("weighbridge")

_EVERY_S: Final = 2.0
_FORGET_S: Final = 3600.0
_REMEMBERED: Final = 10_000


class Requests(Protocol):
    """The table of requests, as far as sweeps need it; all raise StoreUnavailable."""

    async def get(self, approval_id: str) -> Approval | None:
        """Return one request."""
        ...

    async def counts(self) -> Mapping[ApprovalState, int]:
        """Return how many requests there are of each state."""
        ...

    async def forget(self) -> None:
        """Let go of requests whose operations are no longer there."""
        ...


class Due(Protocol):
    """What time does to requests; both raise StoreUnavailable."""

    async def expire_due(self) -> Sequence[Approval]:
        """End what nobody decided, or used, in time."""
        ...

    async def escalate_due(self) -> Sequence[Approval]:
        """Let more people decide what has waited too long."""
        ...


@dataclass(slots=True, kw_only=True)
class Attending:
    """Ends what is late, asks more people, tells approvers, and counts what waits and waited."""

    requests: Requests
    due: Due
    notifier: Notifier
    ended: Callable[[Approval, int], None]
    """Takes note of how a request ended, and when; never blocks, never raises."""
    clock: Clock
    pending: int = 0  # requests that wait for a decision, as of the last look
    _asked: OrderedDict[str, Approval] = field(default_factory=OrderedDict[str, Approval])
    _forgot_s: float | None = None

    def held(self, call_id: str, approval: Approval) -> None:
        """Take note of a call that is held; the gateway whose call asked counts the wait."""
        if approval.call_id != call_id or approval.approval_id in self._asked:
            return
        self._asked[approval.approval_id] = approval
        if len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)
        self.pending = max(self.pending, 1)  # until the next look

    async def run(self) -> None:
        """Attend for ever; a store that is away is tried again at the next turn."""
        async with anyio.create_task_group() as tasks:
            # Apart from the sweeps: a receiver that is away must not keep a request from ending.
            tasks.start_soon(self.notifier.run)
            tasks.start_soon(self._sweep)

    async def _sweep(self) -> None:
        while True:
            await self.once()
            await anyio.sleep(_EVERY_S)

    async def once(self) -> None:
        """Look at everything once; trouble with one thing keeps nothing else from its turn."""
        for each in (self.due.expire_due, self.due.escalate_due, self._count, self._forget):
            await self._safely(each)

    async def _count(self) -> None:
        self.pending = (await self.requests.counts()).get(ApprovalState.PENDING, 0)
        for approval_id in tuple(self._asked):
            seen = await self.requests.get(approval_id)
            if seen is None or seen.state is not ApprovalState.PENDING:
                asked = self._asked.pop(approval_id, None)
                if asked is not None and seen is not None:
                    self.ended(seen, seen.decided_at or microseconds(self.clock.now()))

    async def _forget(self) -> None:
        now_s = self.clock.monotonic()
        if self._forgot_s is None or now_s - self._forgot_s >= _FORGET_S:
            await self.requests.forget()
            self._forgot_s = now_s

    async def _safely(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except StoreUnavailable as error:
            _log.debug("requests for approval can't be looked after: %s", error)
        except Exception:  # the loop must outlive any row
            _log.exception("requests for approval can't be looked after")


def attending(
    store: Store,
    settings: ApprovalsSettings,
    *,
    due: Due,
    redactor: Redactor,
    page: Callable[[Approval], str],
    ended: Callable[[Approval, int], None],
    clock: Clock,
) -> Attending:
    """Build the loop over one store; `page` is where a request is decided."""
    teller = Teller(vault=Vault(store.keys.operations), redactor=redactor, page=page)
    notifier = Notifier(
        outbox=store.approvals, webhook=settings.webhook, telling=teller.telling, clock=clock
    )
    return Attending(requests=store.approvals, due=due, notifier=notifier, ended=ended, clock=clock)
