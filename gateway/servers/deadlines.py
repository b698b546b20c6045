"""Deadlines of many calls on one timer: hardly one ever passes, and a timer for each is dear."""

import asyncio
import math
from types import TracebackType
from typing import Protocol, Self


class Timed(Protocol):
    """What ends at a time that may be moved."""

    when: float  # on the loop's clock

    def passed(self) -> None:
        """End: the time is over."""
        ...


class Deadlines:
    """Ends what takes too long; for one event loop."""

    def __init__(self) -> None:
        self.due: dict[Timed, None] = {}  # what is looked after
        self.next = math.inf  # when the timer looks, on the loop's clock
        self._timer: asyncio.TimerHandle | None = None

    def at(self, when: float) -> "Deadline":
        """Return a context that a task leaves with TimeoutError once its time is over.

        `when` is on the loop's clock. Like `asyncio.timeout_at`, it cancels what the task waits
        for, and other cancellations pass as what they are.
        """
        return Deadline(self, when)

    def add(self, deadline: Timed) -> None:
        """Look after one, from now on or at another time than before."""
        self.due[deadline] = None
        if deadline.when < self.next:
            self.look_at(deadline.when)

    def drop(self, deadline: Timed) -> None:
        """Look after it no more."""
        self.due.pop(deadline, None)

    def look_at(self, when: float) -> None:
        """Look at a time that comes before all others."""
        if self._timer is not None:
            self._timer.cancel()
        self.next = when
        self._timer = asyncio.get_running_loop().call_at(when, self._look)

    def _look(self) -> None:
        self._timer, self.next = None, math.inf
        now = asyncio.get_running_loop().time()
        over = [each for each in self.due if each.when <= now]
        for deadline in over:
            del self.due[deadline]
        soonest = min((each.when for each in self.due), default=math.inf)
        if soonest < math.inf:
            self.look_at(soonest)
        for deadline in over:
            deadline.passed()


class Deadline:
    """One of them; to be entered once, by the task that it is about."""

    _task: "asyncio.Task[object] | None" = None
    _cancelling: int = 0  # requests to cancel the task that came before
    _has_passed: bool = False

    def __init__(self, deadlines: Deadlines, when: float) -> None:
        self.when = when
        self._deadlines = deadlines

    def move(self, when: float | None) -> None:
        """Put it off, bring it forward, or take it away (None); too late once it has passed."""
        self.when = math.inf if when is None else when
        if self._task is not None and not self._has_passed:
            self._deadlines.add(self)

    def passed(self) -> None:
        """End what the task waits for."""
        if self._task is not None:
            self._has_passed = True
            self._task.cancel()

    def __enter__(self) -> Self:
        """Begin. Raises RuntimeError outside of a task."""
        self._task = task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline is about a task")
        self._cancelling = task.cancelling()
        deadlines, when = self._deadlines, self.when
        deadlines.due[self] = None  # as `add` does: every call comes through here
        if when < deadlines.next:
            deadlines.look_at(when)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; raises TimeoutError in place of the cancellation that the deadline has caused."""
        self._deadlines.due.pop(self, None)
        task, self._task = self._task, None
        if (
            self._has_passed
            and task is not None
            and task.uncancel() <= self._cancelling
            and kind is asyncio.CancelledError
        ):
            raise TimeoutError from error
