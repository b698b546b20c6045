"""A run on tape: each call that it has is answered once, in order; what it has not is named."""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gateway import jsontext
from gateway.replay import unknown
from gateway.replay.takes import Take
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.values import replaced, value

_NEAR: Final = 3  # recorded calls that a miss names
_MOST_MISSED: Final = 1_000  # misses that are kept
_PLACES: Final = 5  # in the arguments, by which one of them differs
_MOST_PLACES: Final = 20  # of those that are kept
_LONGEST: Final = 512  # characters of a name or a place that is kept
_ABSENT: Final = object()


@value
class Wanted:
    """A call as the host makes it now."""

    method: Method
    key: str  # `server.name` of a tool or prompt that is known, else the name
    name: str  # as the host named it
    digest: str  # keyed, over what is asked for
    arguments: JsonObject


@value
class Near:
    """A recorded call that is much like one that is not recorded."""

    call: str
    name: str
    differs: tuple[JsonPointer, ...] = ()  # in the arguments; values are told nowhere


@value
class Miss:
    """A call that can't be answered, and why."""

    wanted: Wanted
    code: str  # `not_recorded`, `played_already` or `result_not_kept`
    reason: str
    near: tuple[Near, ...] = ()


class Tape:
    """What is left to be played; one event loop uses it."""

    def __init__(self, run: str, takes: Sequence[Take]) -> None:
        self.run = run
        self.takes = takes
        self.played: list[Take] = []
        self.missed: list[Miss] = []  # the first of them
        self.misses = 0
        self._left: dict[tuple[Method, str, str], list[Take]] = {}
        for take in reversed(takes):  # the last of each list is played next
            self._left.setdefault(_place(take), []).append(take)

    def play(self, wanted: Wanted) -> Take | Miss:
        """Return the next recorded call that is the same, or say what there is instead."""
        left = self._left.get((wanted.method, wanted.key, wanted.digest))
        if not left:
            return self._missed(self._not_there(wanted, is_known=left is not None))
        take = left.pop()
        if take.outcome is None:
            reason = f"{take.call} of `{take.name}` is in {self.run}, but {take.lack}"
            near = (Near(call=take.call, name=take.name),)
            miss = Miss(wanted=wanted, code="result_not_kept", reason=reason, near=near)
            return self._missed(miss)
        self.played.append(take)
        return take

    @property
    def unasked(self) -> tuple[Take, ...]:
        """The recorded calls that nobody has asked for, in their order."""
        return tuple(sorted((t for left in self._left.values() for t in left), key=_order))

    def summary(self) -> JsonObject:
        """Return what was played, what was missed, and what was never asked for."""
        return {
            "run": self.run,
            "recorded": len(self.takes),
            "played": [_named(take) for take in self.played],
            "missed": [
                {
                    "method": miss.wanted.method.value,
                    "name": miss.wanted.name,
                    "code": miss.code,
                    "reason": miss.reason,
                    "near": [near_as_json(near) for near in miss.near],
                }
                for miss in self.missed
            ],
            "misses": self.misses,
            "unasked": [_named(take) for take in self.unasked],
        }

    def _missed(self, miss: Miss) -> Miss:
        self.misses += 1
        if len(self.missed) < _MOST_MISSED:  # a host may try for ever
            self.missed.append(_without_values(miss))
        return miss

    def _not_there(self, wanted: Wanted, *, is_known: bool) -> Miss:
        same = [each for each in self.takes if (each.method, each.key) == _about(wanted)]
        if is_known:
            many = sum(each.digest == wanted.digest for each in same)
            times = "once" if many == 1 else f"{many} times"
            reason = f"{self.run} has this call of `{wanted.name}` {times}, and that was played"
            near = tuple(_near(each) for each in same if each.digest == wanted.digest)[-_NEAR:]
            return Miss(wanted=wanted, code="played_already", reason=reason, near=near)
        if not same:
            return self._no_such_call(wanted)
        near = _nearest(wanted, same)
        reason = f"{self.run} has no call of `{wanted.name}` with these arguments; {_told(near)}"
        return Miss(wanted=wanted, code="not_recorded", reason=reason, near=near)

    def _no_such_call(self, wanted: Wanted) -> Miss:
        counts = Counter(each.name for each in self.takes if each.method is wanted.method)
        close = difflib.get_close_matches(wanted.name, counts, n=_NEAR, cutoff=0.0)
        first = [next(each for each in self.takes if each.name == name) for name in close]
        near = tuple(_near(each) for each in first)
        others = ", ".join(f"`{name}`" for name in close)
        reason = f"{self.run} has no call of `{wanted.name}`"
        reason += f"; it has calls of {others}" if others else ""
        return Miss(wanted=wanted, code="not_recorded", reason=reason, near=near)


def _without_values(miss: Miss) -> Miss:
    """Return what is kept of a miss until the end: no arguments, and of hostile names the start."""
    near = tuple(
        replaced(each, differs=tuple(place[:_LONGEST] for place in each.differs[:_MOST_PLACES]))
        for each in miss.near
    )
    key, name = miss.wanted.key[:_LONGEST], miss.wanted.name[:_LONGEST]
    wanted = replaced(miss.wanted, arguments={}, key=key, name=name)
    return replaced(miss, wanted=wanted, reason=miss.reason[: 4 * _LONGEST], near=near)


def near_as_json(near: Near) -> JsonObject:
    """Return a recorded call that is near, for programs."""
    return {"call": near.call, "name": near.name, "differs": list(near.differs)}


def differing(asked: JsonObject, take: Take) -> tuple[JsonPointer, ...]:
    """Return the places where arguments are not those of a recorded call.

    What the log does not hold differs from nothing.
    """
    if take.asked is None:
        return ()
    ours, theirs = dict(_leaves(asked, "")), dict(_leaves(take.asked.arguments, ""))
    return tuple(
        pointer
        for pointer in sorted(ours.keys() | theirs.keys())
        if not unknown.touches(take.asked.unknown, pointer)
        and ours.get(pointer, _ABSENT) != theirs.get(pointer, _ABSENT)
    )


def _nearest(wanted: Wanted, same: Iterable[Take]) -> tuple[Near, ...]:
    """Return the recorded calls that differ in the fewest places, one for each set of arguments."""
    once = {each.digest: each for each in same}
    ranked = sorted(
        ((differing(wanted.arguments, each), each) for each in once.values()),
        key=lambda pair: (len(pair[0]), pair[1].seq),
    )
    return tuple(_near(each, places) for places, each in ranked[:_NEAR])


def _told(near: Sequence[Near]) -> str:
    first, places = near[0], near[0].differs
    if not places:
        return f"{first.call} is the nearest, and differs where the log holds nothing"
    shown = ", ".join(f"`{place}`" for place in places[:_PLACES])
    more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    return f"{first.call} is the nearest, and differs at {shown}{more}"


def _leaves(value: Json, pointer: JsonPointer) -> Iterator[tuple[JsonPointer, object]]:
    match value:
        case dict() if value:
            for key, member in value.items():
                yield from _leaves(member, f"{pointer}/{jsontext.escape(key)}")
        case list() if value:
            for at, item in enumerate(value):
                yield from _leaves(item, f"{pointer}/{at}")
        case dict() | list():
            yield pointer, type(value)
        case bool():  # which Python takes for a number
            yield pointer, (bool, value)
        case _:
            yield pointer, value


def _near(take: Take, differs: tuple[JsonPointer, ...] = ()) -> Near:
    return Near(call=take.call, name=take.name, differs=differs)


def _place(take: Take) -> tuple[Method, str, str]:
    return take.method, take.key, take.digest


def _about(wanted: Wanted) -> tuple[Method, str]:
    return wanted.method, wanted.key


def _order(take: Take) -> int:
    return take.seq


def _named(take: Take) -> JsonObject:
    return {"call": take.call, "method": take.method.value, "name": take.name, "at": take.at}
