"""Which calls a limit would have had room for: counted anew from the log, in one of two ways.

`recorded` counts the calls that were really sent, each by what it takes under the candidate; a
limit that is the very same says what it said. `simulated` counts the calls that would have been
sent, so that an earlier denial leaves room for later ones. Either way counting begins with the
first call that is read: what was taken before is not known.
"""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gateway.replay.compact import Names, Sums
from gateway.replay.types import Counters, Judgement, Recorded, Taken
from gateway.store.times import microseconds
from gateway.types.decisions import RUN_S, DecisionEffect
from gateway.types.operations import Execution
from gateway.types.outcomes import Status

_ROUNDING: Final = 1e-9  # as the store has it
_MOST_GONE: Final = 64  # times that are kept in a window though they don't count any more
_OFTEN: Final = 10_000  # times that something is taken, after which all windows are gone through
_APART: Final = 3_600_000_000  # microseconds: clocks of gateways are never that far apart
_Place: TypeAlias = tuple[str, str]
_APPROVED: Final = frozenset({"approved", "consumed"})


@dataclass(slots=True)
class Window:
    """What was taken of one limit under one key, and still counts: 16 bytes for each time."""

    _until: "array[int]" = field(default_factory=lambda: array("q"))  # in order
    _amounts: "array[float]" = field(default_factory=lambda: array("d"))
    _first: int = 0  # that still counts
    _total: float = 0.0

    def at(self, now: int) -> float:
        """Return what counts at a time, in microseconds; times never go back."""
        first, until = self._first, self._until
        while first < len(until) and until[first] <= now:
            self._total -= self._amounts[first]
            first += 1
        if first == len(until):
            self._total = 0.0  # so that rounding does not add up
        if first == len(until) or first >= _MOST_GONE:
            del self._until[:first], self._amounts[:first]
            first = 0
        self._first = first
        return self._total

    def take(self, amount: float, until: int) -> None:
        """Take an amount that counts until a time."""
        at = bisect_right(self._until, until, lo=self._first)
        self._until.insert(at, until)  # nearly always at the end
        self._amounts.insert(at, amount)
        self._total += amount

    @property
    def is_over(self) -> bool:
        """Whether nothing counts any more, as far as anybody asked."""
        return self._first == len(self._until)


@dataclass(slots=True, kw_only=True)
class Counting:
    """Counts calls one by one, in the order of the log."""

    mode: Counters
    _windows: dict[_Place, Window] = field(
        default_factory=lambda: defaultdict[_Place, Window](Window)
    )
    _whole: Sums = field(default_factory=Sums)  # what was taken of limits of whole runs
    _gone: Names = field(default_factory=Names)  # operations that have taken what they take
    _taken: int = 0  # times, since windows were last gone through

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
        most, place = limit.maximum or 0.0, (limit.id, limit.key)
        taken = self._whole.of(place) if _is_of_run(limit) else self._windows[place].at(now)
        return taken + (limit.amount or 0.0) <= most + abs(most) * _ROUNDING

    def _take(self, call: Recorded, limits: Sequence[Taken], operation: str) -> None:
        if _was_given_back(call):
            return
        if operation and limits:
            self._gone.add(operation)
        now = _now(call)
        for limit in limits:
            if limit.window_s is None or limit.amount is None:
                continue
            place = (limit.id, limit.key)
            if _is_of_run(limit):
                self._whole.take(place, limit.amount)
            else:
                until = now + round(limit.window_s * 1_000_000)
                self._windows[place].take(limit.amount, until)
                self._taken += 1
        if self._taken >= _OFTEN:
            self._tidy(now - _APART)

    def _tidy(self, now: int) -> None:
        """Forget windows of which nothing counts any more: there is one for each key ever met."""
        self._taken = 0
        for place, window in [*self._windows.items()]:
            window.at(now)
            if window.is_over:
                del self._windows[place]


def exceeded(call: Recorded) -> str:
    """Return the limit that had no room for a call then, or nothing."""
    ended = call.ended
    if ended is None or ended.status is not Status.LIMIT_EXCEEDED:
        return ""
    return ended.code if any(each.id == ended.code for each in call.judged.limits) else ""


def _now(call: Recorded) -> int:
    return microseconds(call.decided or call.at)


def _is_of_run(limit: Taken) -> bool:
    """Whether what is taken counts for as long as anybody looks."""
    return limit.window_s is not None and limit.window_s >= RUN_S


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
