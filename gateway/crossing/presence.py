"""Callers of writes that may be cancelled at their server: it is told when one leaves."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from gateway.case import Case


class Waiting:
    """One caller, who may leave once."""

    def __init__(self) -> None:
        self._has_left = False
        self._told: list[Callable[[], None]] = []
        self.op_id = ""  # the operation that is carried out for it, once there is one

    def on_left(self, told: Callable[[], None]) -> None:
        """Have `told` called once the caller leaves; at once when it has."""
        if self._has_left:
            told()
        else:
            self._told.append(told)

    def leave(self) -> None:
        """Tell everybody who wants to know."""
        self._has_left = True
        told, self._told = self._told, []
        for each in told:
            each()


def _nobody(op_id: str) -> bool:
    del op_id
    return False


class Callers:
    """Who waits for a write that its contract lets the gateway cancel (`cancel: safe`)."""

    def __init__(self, joined: Callable[[str], bool] = _nobody) -> None:
        self._waiting: dict[str, Waiting] = {}
        self._joined = joined  # whether others wait here for the same operation, by its id

    @contextmanager
    def waiting(self, case: Case) -> Generator[None]:
        """Take the caller for present until the block ends; a block that is cancelled was left."""
        if not case.contract.idempotency.is_cancel_safe:
            yield
            return
        waiting = self._waiting[case.call.call_id] = Waiting()
        try:
            yield
        except BaseException:
            if not self._joined(waiting.op_id):  # else it is theirs now as well
                waiting.leave()
            raise
        finally:
            del self._waiting[case.call.call_id]

    def of(self, case: Case) -> Waiting | None:
        """Return the caller of a call, if it is to be watched; None of all others."""
        waiting = self._waiting.get(case.call.call_id)
        if waiting is not None and case.operation is not None:
            waiting.op_id = case.operation.op_id
        return waiting
