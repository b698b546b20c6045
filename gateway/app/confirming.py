"""Whether what was to undo an operation did so, by the check of the operation's contract."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.case import Case
from gateway.clock import Clock
from gateway.crossing.conditions import NOT_DECLARED, Seen
from gateway.crossing.remains import Remains
from gateway.crossing.waiting import Waiter
from gateway.errors import WeighbridgeError
from gateway.store.times import microseconds
from gateway.types.operations import Operation, Verification, VerificationState


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirming:
    """Reads back what a compensation did."""

    case: Callable[[Operation], Case]
    """The case of an operation, as far as it is kept; raises WeighbridgeError."""
    remains: Remains
    waiter: Waiter
    clock: Clock

    async def confirm(self, original: Operation, done: Operation) -> Verification:
        """Look once whether `done` has undone `original`."""
        try:
            case = self.case(original)
            back = case.contract.compensation
            if back is None or back.verify is None:
                return NOT_DECLARED
            known = self.remains.known(original)
        except WeighbridgeError as error:
            return Verification(state=VerificationState.INCONCLUSIVE, detail=str(error))
        seen = Seen(args=known.args, answer=known.result, old=known.old, op=known.op)
        age_us = microseconds(self.clock.now()) - done.settled_at
        return await self.waiter.look(case, back.verify, seen, age_s=age_us / 1_000_000)
