"""Step 9: take what the call uses up, before anything is sent."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.case import Case
from gateway.errors import StoreUnavailable
from gateway.types.decisions import Exceeded, Limit
from gateway.types.guarantees import Idempotency
from gateway.types.outcomes import Refusal, Status

_log = logging.getLogger("weighbridge")

_CALLERS_KEY = "weighbridge/idempotencyKey"


class Limits(Protocol):
    """Counters that several gateways share."""

    async def reserve(self, call_id: str, limits: Sequence[Limit]) -> Exceeded | None:
        """Take from every limit or from none; idempotent by call id. Raises StoreUnavailable."""
        ...

    async def release(self, call_id: str) -> None:
        """Give back what a call took that was never carried out. Raises StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Reserves limits; refuses the guarantees of operations, which this version doesn't have."""

    limits: Limits

    async def __call__(self, case: Case) -> Case | Refusal:
        """Return the case when everything it needs was taken."""
        if _CALLERS_KEY in case.call.meta or _asks_for_a_key(case.contract.idempotency):
            return Refusal(
                status=Status.DENIED,
                code="idempotency_unsupported",
                reason="at-most-once by key was asked for, and this gateway can't promise it",
            )
        if not case.decision.limits:
            return case
        try:
            exceeded = await self.limits.reserve(case.call.call_id, case.decision.limits)
        except StoreUnavailable as error:
            return Refusal(
                status=Status.AUDIT_UNAVAILABLE,
                code="limits_unavailable",
                reason=f"its limits could not be counted: {error}",
            )
        if exceeded is None:
            return case
        return Refusal(
            status=Status.LIMIT_EXCEEDED,
            code=exceeded.limit,
            rule=next((x.rule for x in case.decision.limits if x.id == exceeded.limit), ""),
            reason=f"the limit `{exceeded.limit}` is used up",
            retry_after_s=exceeded.retry_after_s,
        )

    async def give_back(self, case: Case) -> None:
        """Release what a call took that was certainly not carried out.

        A store that is away keeps the reservation until its window ends: the safe side.
        """
        if not case.decision.limits:
            return
        try:
            await self.limits.release(case.call.call_id)
        except StoreUnavailable as error:
            _log.warning("%s: its limits were not given back: %s", case.call.call_id, error)


def _asks_for_a_key(idempotency: Idempotency) -> bool:
    return idempotency.is_declared and idempotency.intent is not None
