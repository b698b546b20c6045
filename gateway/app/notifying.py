"""Tells approvers what the outbox holds: every gateway does, a row at a time, until it is told.

A notice may be told twice, when a gateway dies between the answer and the row; its id tells that.
"""

import logging
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup

from gateway import jsontext
from gateway.app.posting import TIMEOUT_S, Posted, post
from gateway.approvals import notices
from gateway.approvals.notices import Telling
from gateway.approvals.signing import signed
from gateway.clock import Clock
from gateway.config.approvals import WebhookSettings
from gateway.errors import StoreUnavailable
from gateway.store.times import microseconds
from gateway.types.approvals import Approval, Notice, Vote

_log = logging.getLogger("weighbridge")

_SECOND: Final = 1_000_000
_EVERY_S: Final = 1.0
_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 900.0
_GIVE_UP_S: Final = 86400.0
# Longer than an attempt can take: nobody else takes the row meanwhile.
_TAKEN_S: Final = 3 * TIMEOUT_S
_TYPES: Final = {
    "cloudevents": "application/cloudevents+json; charset=utf-8",
    "slack": "application/json; charset=utf-8",
}


class Outbox(Protocol):
    """The table of notices; all raise StoreUnavailable."""

    async def get(self, approval_id: str) -> Approval | None:
        """Return what a notice is about."""
        ...

    async def votes(self, approval_id: str) -> Sequence[Vote]:
        """Return who said what about it."""
        ...

    async def due_notices(self, now: int | None = None) -> Sequence[Notice]:
        """Return what has to be told by now, the oldest first."""
        ...

    async def take_notice(self, notice: Notice, later: int) -> Notice | None:
        """Keep the others off until `later`; None when one of them was first."""
        ...

    async def told_notice(self, notice: Notice) -> None:
        """Note that it was told."""
        ...

    async def failed_notice(
        self, notice: Notice, problem: str, *, next_at: int | None = None
    ) -> None:
        """Note what went wrong, and when it is tried again; None: never."""
        ...


@dataclass(slots=True, kw_only=True)
class Notifier:
    """Delivers notices; one address that is away or slow costs the others nothing."""

    outbox: Outbox
    webhook: Callable[[str], WebhookSettings | None]
    """A configured address by its name."""
    telling: Callable[[Notice, Approval, Sequence[Vote]], Telling]
    """A notice with the words about its request, and the votes on that."""
    clock: Clock
    jitter: Callable[[], float] = random.random
    _told: anyio.Event = field(default_factory=anyio.Event)
    _busy: set[str] = field(default_factory=set[str])  # addresses that are being told something

    def tell(self) -> None:
        """Look now: something was just put into the outbox."""
        self._told.set()

    async def run(self) -> None:
        """Deliver for ever; a store that is away is tried again at the next turn."""
        async with anyio.create_task_group() as tasks:
            while True:
                self._told = anyio.Event()
                try:
                    await self._begin(tasks)
                except StoreUnavailable as error:
                    _log.debug("notices can't be sent: %s", error)
                except Exception:  # the loop must outlive any row
                    _log.exception("notices can't be sent")
                with anyio.move_on_after(_EVERY_S):
                    await self._told.wait()

    async def once(self) -> None:
        """Try everything that is due, and wait until it was tried."""
        async with anyio.create_task_group() as tasks:
            await self._begin(tasks)

    async def _begin(self, tasks: TaskGroup) -> None:
        """Work off what is due, each address in a task of its own, without waiting for any."""
        due: Mapping[str, list[Notice]] = defaultdict(list)
        for notice in await self.outbox.due_notices(self._now()):
            due[notice.target].append(notice)
        for target, found in due.items():
            if target not in self._busy:
                self._busy.add(target)
                tasks.start_soon(self._safely, target, found)

    async def _safely(self, target: str, found: Sequence[Notice]) -> None:
        """Work off one address; a broken row must not keep back what is for the others."""
        try:
            await self._all_of_one(found)
        except StoreUnavailable as error:
            _log.debug("notices can't be sent: %s", error)
        except Exception:
            _log.exception("a notice can't be sent")
        finally:
            self._busy.discard(target)

    async def _all_of_one(self, found: Sequence[Notice]) -> None:
        """Tell one address what is due, up to the first failure, after which the rest waits too.

        So an address that is away gets one attempt at a time, more and more rarely, and is not in
        the way of the others.
        """
        for done, notice in enumerate(found, 1):
            posted = await self._one(notice)
            if posted.problem:
                next_at = await self._failed(notice, posted)
                for other in found[done:]:
                    await self.outbox.take_notice(other, next_at)
                return

    async def _one(self, notice: Notice) -> Posted:
        """Try one notice; there is no problem with what another gateway has, or nobody needs."""
        taken = await self.outbox.take_notice(notice, self._now() + round(_TAKEN_S * _SECOND))
        if taken is None:
            return Posted()
        webhook, approval = self.webhook(notice.target), await self.outbox.get(notice.approval_id)
        if webhook is None or approval is None:
            missing = "this address" if webhook is None else "the request"
            await self.outbox.failed_notice(taken, f"{missing} is not there any more")
        elif not webhook.wants(notice.tenant, notice.stage):  # so the configuration says by now
            await self.outbox.failed_notice(taken, "this address is no longer told of such")
        elif notices.is_overtaken(notice, approval):
            await self.outbox.failed_notice(taken, f"overtaken: it is {approval.state}")
        else:
            return await self._tell(webhook, taken, approval)
        return Posted()

    async def _tell(self, webhook: WebhookSettings, taken: Notice, approval: Approval) -> Posted:
        is_chat = webhook.format == "slack"
        votes = await self.outbox.votes(approval.approval_id)
        try:
            told = self.telling(taken, approval, votes)
            body = jsontext.dump(notices.slack(told) if is_chat else notices.cloud_event(told))
        except Exception:  # whatever it is, it would be the same at the next attempt
            _log.exception("the notice `%s` can't be put into words", taken.notice_id)
            await self.outbox.failed_notice(taken, "it can't be put into words")
            return Posted()
        posted = await self._post(webhook, taken, body)
        if not posted.problem:
            await self.outbox.told_notice(taken)
        return posted

    async def _post(self, webhook: WebhookSettings, notice: Notice, body: bytes) -> Posted:
        at_s = self.clock.time_ns() // 1_000_000_000
        headers = {
            "Content-Type": _TYPES[webhook.format],
            **signed(notice.notice_id, at_s, body, webhook.key),
        }
        return await post(webhook.url, headers, body)

    async def _failed(self, notice: Notice, posted: Posted) -> int:
        """Note a failed attempt; return when the address is tried again."""
        now = self._now()
        next_at = now + round(max(self._pause_s(notice.attempts), posted.pause_s) * _SECOND)
        is_over = posted.is_final or now - notice.created_at > _GIVE_UP_S * _SECOND
        if is_over or not notice.attempts:
            _log.warning(
                "`%s` can't be told of %s: %s; it is %s",
                notice.target,
                notice.approval_id,
                posted.problem,
                "given up" if is_over else "tried again",
            )
        await self.outbox.failed_notice(
            notice, posted.problem, next_at=None if is_over else next_at
        )
        return next_at

    def _pause_s(self, failures: int) -> float:
        """Double with each failure; the jitter keeps replicas and addresses apart."""
        whole = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(failures, 16))
        return whole * (0.75 + self.jitter() / 4)

    def _now(self) -> int:
        return microseconds(self.clock.now())
