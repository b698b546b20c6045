"""The part of step 12 that reads: what was there before a write, and what is there after it."""

from dataclasses import dataclass

from gateway.case import Case
from gateway.crossing import conditions, lookups
from gateway.crossing.conditions import NOT_DECLARED, Seen
from gateway.crossing.lookups import Found
from gateway.crossing.reads import NotRead, Old, Reads, take
from gateway.crossing.waiting import Waiter
from gateway.operations.templates import Known
from gateway.results import shape
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Operation, Verification, VerificationState

__all__ = ["Checks", "Found", "NotRead", "Old", "Reads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """Tells whether a call did what its contract says; raises nothing but cancellation.

    A result with `isError`, and one that doesn't end its request, claims nothing to be checked.
    """

    reads: Reads
    look_s: float = 10.0  # how long one read may take

    async def before(self, case: Case) -> Old:
        """Read what there is before the call is sent; None where the contract has no `old`.

        A read that shows nothing keeps nothing from being sent.
        """
        template = case.contract.old
        if template is None:
            return None
        known = Known(
            args=case.arguments or {},
            op={} if case.operation is None else conditions.names_of(case.operation),
        )
        return await take(self.reads, case, template, known, deadline_s=self.look_s)

    async def after(
        self, case: Case, delivered: Delivered, old: Old, *, within_s: float
    ) -> Verification:
        """Hold a result, as received, against all that its contract declares, in `within_s`.

        Failed when any check has; else inconclusive, when any can't tell; else pending, when a
        change may still show: then `again` has to look on.
        """
        contract = case.contract
        is_declared = contract.ensure or contract.checksum or contract.readback
        if not is_declared or not _is_checked(delivered.result):
            return NOT_DECLARED
        seen = Seen.of(case, delivered.result, old)
        parts = conditions.ensured(contract.ensure, seen)
        if contract.checksum is not None:
            parts.append(conditions.summed(contract.checksum, seen))
        is_open = all(part.state is not VerificationState.FAILED for part in parts)
        if contract.readback is not None and is_open:
            waiter = Waiter(reads=self.reads, look_s=self.look_s)
            parts.append(await waiter.wait(case, contract.readback, seen, within_s=within_s))
        return conditions.together(parts)

    async def again(
        self, case: Case, result: JsonObject, old: Old, *, age_s: float
    ) -> Verification:
        """Look once more at what was pending, `age_s` seconds after the write was answered.

        `result` is the one that `after` had: with fields kept back, a right outcome looks wrong.
        """
        readback = case.contract.readback
        if readback is None or not _is_checked(result):
            return NOT_DECLARED
        waiter = Waiter(reads=self.reads, look_s=self.look_s)
        return await waiter.look(case, readback, Seen.of(case, result, old), age_s=age_s)

    async def lookup(self, case: Case, operation: Operation, *, now_us: int) -> Found:
        """Ask whether an operation took place; `now_us` is a time before the asking."""
        return await lookups.lookup(
            self.reads, case, operation, now_us=now_us, deadline_s=self.look_s
        )


def _is_checked(result: JsonObject) -> bool:
    return shape.is_complete(result) and result.get("isError") is not True
