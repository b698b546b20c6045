"""Reading back what a write did, for as long as a change may take to show."""

import asyncio
from dataclasses import dataclass

from gateway.case import Case
from gateway.crossing.conditions import VERIFIED, Seen, Unsure
from gateway.crossing.reads import NotRead, Reads, take
from gateway.types.guarantees import Readback
from gateway.types.json import Json
from gateway.types.operations import Verification, VerificationState


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """Looks at what a write did, once or until it shows."""

    reads: Reads
    look_s: float  # how long one read may take

    async def wait(
        self, case: Case, readback: Readback, seen: Seen, *, within_s: float
    ) -> Verification:
        """Look, and look again in the contract's interval, as long as the time allows it."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        looked = _pending("there was no time to look")
        while (left := began + within_s - loop.time()) > 0:
            looked = await self.look(
                case, readback, seen, age_s=loop.time() - began, deadline_s=min(left, self.look_s)
            )
            left = began + within_s - loop.time()
            if looked.state is not VerificationState.PENDING or left <= readback.wait.interval_s:
                break  # nobody is kept waiting for a look that would come too late
            await asyncio.sleep(readback.wait.interval_s)
        return looked

    async def look(
        self,
        case: Case,
        readback: Readback,
        seen: Seen,
        *,
        age_s: float,
        deadline_s: float | None = None,
    ) -> Verification:
        """Look once; `age_s` is the time since the write was answered."""
        found = await take(
            self.reads,
            case,
            readback.call,
            seen.known,
            deadline_s=self.look_s if deadline_s is None else deadline_s,
        )
        if isinstance(found, NotRead):
            return _unread(found, readback, age_s)
        return _weighed(found, readback, seen, age_s)


def _unread(found: NotRead, readback: Readback, age_s: float) -> Verification:
    """Say what a read that showed nothing means: never that the write has failed."""
    wait = readback.wait
    if found.not_found:
        allowed_s = min(wait.not_found_ok_for_s, wait.max_s)
        return _not_yet(f"`{readback.call.tool}`: not visible", age_s, allowed_s)
    if found.for_now:
        return _not_yet(found.reason, age_s, wait.max_s)
    return _inconclusive(found.reason)


def _weighed(data: Json, readback: Readback, seen: Seen, age_s: float) -> Verification:
    tool, wait = readback.call.tool, readback.wait
    if wait.pending:
        is_pending = seen.holds(wait.pending, result=data, answer=seen.answer)
        if isinstance(is_pending, Unsure):
            reason = is_pending.reason
            return _inconclusive(f"can't tell from `{tool}` whether it is pending: {reason}")
        if is_pending:
            return _not_yet(f"`{tool}`: still pending", age_s, wait.max_s)
    expect = readback.expect
    held = seen.holds(expect, result=data, answer=seen.answer)
    if isinstance(held, Unsure):
        return _inconclusive(f"can't tell from `{tool}` whether `{expect}`: {held.reason}")
    if held:
        return VERIFIED
    detail = f"`{tool}` does not show that `{expect}`"
    return Verification(state=VerificationState.FAILED, detail=detail)


def _not_yet(what: str, age_s: float, allowed_s: float) -> Verification:
    if age_s < allowed_s:
        return _pending(what)
    return _inconclusive(f"{what} after {allowed_s:g} s" if allowed_s else what)


def _pending(detail: str) -> Verification:
    return Verification(state=VerificationState.PENDING, detail=detail)


def _inconclusive(detail: str) -> Verification:
    return Verification(state=VerificationState.INCONCLUSIVE, detail=detail)
