"""Which calls a limit would have had room for: counted anew from the log, in one of two ways.

`recorded` counts the calls that were really sent, each by what it takes under the candidate; a
limit that is the very same says what it said. `simulated` counts the calls that would have been
sent, so that an earlier denial leaves room for later ones. Either way counting begins with the
first call that is read: what was taken before is not known.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from gateway.replay.types import Counters, Judgement, Recorded, Taken
from gateway.store.times import microseconds
from gateway.types.decisions import DecisionEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Status

_ROUNDING: Final = 1e-9  # as the store has it
_Place: TypeAlias = tuple[str, str]
_APPROVED: Final = frozenset({"approved", "consumed"})


@dataclass(slots=True)
class Window:
    """What was taken of one limit under one key, and still counts."""

    _taken: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    _total: float = 0.0

    def at(self, now: int) -> float:
        """Return what counts at a time, in microseconds; times never go back."""
        while self._taken and self._taken[0][0] <= now:
            self._total -= heappop(self._taken)[1]
        if not self._taken:
            self._total = 0.0  # so that rounding does not add up
        return self._total

    def take(self, amount: float, until: int) -> None:
        """Take an amount that counts until a time."""
        heappush(self._taken, (until, amount))
        self._total += amount


@dataclass(slots=True, kw_only=True)
class Counting:
    """Counts calls one by one, in the order of the log."""

    mode: Counters
    _windows: dict[_Place, Window] = field(
        default_factory=lambda: defaultdict[_Place, Window](Window)
    )

    _gone: set[str] = field(default_factory=set[str])  # operations that have taken what they take

    def __call__(
        self, call: Recorded, before: Judgement, after: Judgement, operation: str = ""
    ) -> str:
        """Return the limit that has no room for a call, or nothing; and take what it takes.

        Of repeats of one operation only the first one that goes takes anything.
        """
        simulated = self.mode is Counters.SIMULATED
        if operation in self._gone and (simulated or not exceeded(call)):
            return ""
        if after.effect is DecisionEffect.DENY:
            if self.mode is Counters.RECORDED and call.is_sent:
                self._take(call, before.limits, operation)
            return ""
        full = self._full(call, before, after)
        would = not full and _would_be_sent(call, after)
        if call.is_sent if self.mode is Counters.RECORDED else would:
            self._take(call, after.limits, operation)
        return full

    def _full(self, call: Recorded, before: Judgement, after: Judgement) -> str:
        now, was = _now(call), exceeded(call)
        known = self.mode is Counters.RECORDED
        for limit in after.limits:
            if known and limit in before.limits:
                if limit.id == was:
                    return limit.id
            elif _has_terms(limit) and not self._has_room(limit, now):
                return limit.id
        return ""

    def _has_room(self, limit: Taken, now: int) -> bool:
        most = limit.maximum or 0.0
        taken = self._windows[limit.id, limit.key].at(now)
        return taken + (limit.amount or 0.0) <= most + abs(most) * _ROUNDING

    def _take(self, call: Recorded, limits: Sequence[Taken], operation: str) -> None:
        if _was_given_back(call):
            return
        if operation and limits:
            self._gone.add(operation)
        now = _now(call)
        for limit in limits:
            if limit.window_s is not None and limit.amount is not None:
                until = now + round(limit.window_s * 1_000_000)
                self._windows[limit.id, limit.key].take(limit.amount, until)


def exceeded(call: Recorded) -> str:
    """Return the limit that had no room for a call then, or nothing."""
    ended = call.ended
    if ended is None or ended.status is not Status.LIMIT_EXCEEDED:
        return ""
    return ended.code if any(each.id == ended.code for each in call.judged.limits) else ""


def _now(call: Recorded) -> int:
    return microseconds(call.decided or call.at)


def _has_terms(limit: Taken) -> bool:
    return limit.maximum is not None and limit.amount is not None


def _would_be_sent(call: Recorded, after: Judgement) -> bool:
    """Whether a call goes: one that people would have to decide about only where they did."""
    if after.effect is DecisionEffect.ALLOW or call.is_sent:
        return True
    return call.asked is not None and call.asked.state in _APPROVED


def _was_given_back(call: Recorded) -> bool:
    """Whether what it took was released: it was sent, and certainly not carried out."""
    return call.is_sent and call.ended is not None and call.ended.executed is Execution.NO
