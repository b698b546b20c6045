"""Which operation a call is about: repeats of one have it sent once, so they move nothing more."""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from gateway.replay.counters import exceeded
from gateway.replay.types import Recorded
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect

ASSUMED_S: Final = 86_400.0  # for how long the same arguments are the same operation
_MOST: Final = 50_000  # intents that are remembered, the latest ones


class _Last(NamedTuple):
    """The operation that an intent was met in last."""

    op: str
    at: datetime
    took_place: bool


@dataclass(slots=True)
class Operations:
    """Names the operation of each call, in the order of the log.

    The log names it where people were asked and where a side effect was recorded; of others the
    same arguments of the same user in the same run are the same operation, until one was sent anew.
    """

    _last: OrderedDict[int, _Last] = field(default_factory=OrderedDict[int, _Last])
    """By the hash of an intent, which is long: that of the latest ones is a good part of the memory
    that a replay takes. Of how few two would be taken for one, see `compact`."""

    def __call__(self, call: Recorded, window_s: float | None = None) -> str:
        """Return what names the operation; empty for a read, which is none.

        `window_s` is for how long its contract has a repeat answered with the first one's end.
        """
        if call.judged.does is Effect.READ:
            return ""
        intent = hash((call.tenant, call.actor.user, call.run, call.tool, call.digest))
        last = self._last.get(intent) if call.digest else None
        # A repeat takes nothing, so what a limit had no room for was none, whatever it looks like.
        op = _told(call) or (
            call.call if exceeded(call) else _guessed(call, last, window_s or ASSUMED_S)
        )
        again = last is not None and last.op == op
        took_place = call.is_executed or (again and last is not None and last.took_place)
        if call.digest:
            self._last[intent] = _Last(op=op, at=call.at, took_place=took_place)
            self._last.move_to_end(intent)
            if len(self._last) > _MOST:
                self._last.popitem(last=False)
        return op


def moves_nothing(call: Recorded) -> bool:
    """Whether a call was given the answer of an earlier one, and so was never sent itself."""
    ended = call.ended
    if ended is None or call.is_sent:
        return False
    return ended.status is Status.OK and ended.executed is Execution.NO


def _guessed(call: Recorded, last: _Last | None, window_s: float) -> str:
    if last is None or (call.at - last.at).total_seconds() >= window_s:
        return call.call
    return call.call if call.is_sent and last.took_place else last.op


def _told(call: Recorded) -> str:
    if call.effects:
        return call.effects[-1].op
    return call.asked.op if call.asked is not None else ""
