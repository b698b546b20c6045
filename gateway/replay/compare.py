"""What is another one between two judgements of one call, and which way it goes."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gateway.policy.constraints import is_number
from gateway.replay.compact import Names
from gateway.replay.oracle import Answer, Decided
from gateway.replay.types import (
    Compared,
    Grade,
    Judgement,
    Recorded,
    Taken,
    Why,
    Written,
)
from gateway.types.decisions import DecisionEffect, RedactAs
from gateway.types.json import JsonPointer
from gateway.types.leans import Lean
from gateway.types.values import maker

Found: TypeAlias = tuple[Why, Lean]

_ROOM: Final[Mapping[DecisionEffect, int]] = {each: at for at, each in enumerate(DecisionEffect)}
_HIDES: Final[Mapping[str, int]] = {"": 0, RedactAs.HASH: 1, RedactAs.MASK: 2, RedactAs.REMOVE: 3}
# What an agent can see of a change, so that what it did after that may have been something else.
_DIVERGES: Final = frozenset({Why.EFFECT, Why.LIMIT, Why.APPROVAL, Why.CONSTRAINT, Why.OUTPUT})


_compared = maker(Compared)


@dataclass(slots=True)
class Comparing:
    """Compares calls one by one, and remembers which runs have come apart."""

    _apart: Names = field(default_factory=Names)

    def __call__(
        self,
        call: Recorded,
        before: Judgement,
        after: Answer,
        *,
        is_faithful: bool | None = None,
        operation: str = "",
        moves_nothing: bool = False,
    ) -> Compared:
        """Return how one call fares; calls come in the order of the log.

        What is named is told of it as it is.
        """
        decided, found = None, ()
        if isinstance(after, Decided):
            decided = after.judgement
            found = () if decided is before else tuple(differences(before, decided))
        why = tuple(dict.fromkeys([why for why, _ in found])) if found else ()
        follows = bool(call.run) and call.run in self._apart
        diverges = bool(why) and bool(call.run) and not _DIVERGES.isdisjoint(why)
        if diverges:
            self._apart.add(call.run)
        is_denied = decided is not None and call.asked is not None and call.asked.is_denied
        return _compared(
            recorded=call,
            grade=_grade(decided, found),
            before=before,
            after=decided,
            why=why,
            grants=_together([lean for _, lean in found]) if found else Lean.OTHER,
            missing=() if isinstance(after, Decided) else after.missing,
            certain=None if isinstance(after, Decided) else after.certain,
            is_first=diverges and not follows,
            follows_divergence=follows,
            is_faithful=is_faithful,
            overrides_denial=is_denied
            and decided is not None
            and decided.goes is DecisionEffect.ALLOW,
            operation=operation,
            moves_nothing=moves_nothing,
        )


def _grade(after: Judgement | None, found: Collection[Found]) -> Grade:
    if after is None:
        return Grade.UNDECIDABLE
    return Grade.CHANGED if found else Grade.SAME


def differences(before: Judgement, after: Judgement) -> Iterator[Found]:
    """Yield what is another one, strongest first; of calls that don't go, only who says so.

    A call that a limit has no room for does not go, whatever a rule says of it: where people were
    asked about it, less is granted, and where it was refused, it is the same decision.
    """
    if before.goes is not after.goes:
        is_limit = bool(before.exceeded or after.exceeded)
        wider = _ROOM[after.goes] > _ROOM[before.goes]
        yield Why.LIMIT if is_limit else Why.EFFECT, Lean.WIDER if wider else Lean.NARROWER
        return
    if before.goes is DecisionEffect.DENY:
        yield from ((why, Lean.OTHER) for why in _stopped(before, after))
    else:
        yield from _allowed(before, after)
    if (before.status, before.code, before.rule) != (after.status, after.code, after.rule):
        yield Why.RULE, Lean.OTHER


def _stopped(before: Judgement, after: Judgement) -> Iterator[Why]:
    """Tell of two refusals which of them is by a limit, or that it is by another one."""
    if before.exceeded != after.exceeded:
        yield Why.LIMIT
    elif before.effect is not after.effect:
        yield Why.RULE


def _allowed(before: Judgement, after: Judgement) -> Iterator[Found]:
    yield from _each(Why.LIMIT, _limits(before.limits, after.limits))
    if (before.people, before.quorum) != (after.people, after.quorum):
        yield Why.APPROVAL, _by(after.quorum - before.quorum)
    yield from _each(Why.CONSTRAINT, _constraints(before.constraints, after.constraints))
    yield from _each(Why.OUTPUT, _output(before, after))
    yield from _each(Why.CLASS, _class(before, after))


def _each(why: Why, leans: Iterable[Lean]) -> Iterator[Found]:
    return ((why, lean) for lean in leans)


def _together(leans: Iterable[Lean]) -> Lean:
    """Return the way of several changes: that of one way alone, whatever else goes neither."""
    ways = {lean for lean in leans if lean is not Lean.OTHER}
    return ways.pop() if len(ways) == 1 else Lean.OTHER


def _by(more: float) -> Lean:
    """Return the way of something that holds back more, or less."""
    if not more:
        return Lean.OTHER
    return Lean.NARROWER if more > 0 else Lean.WIDER


def _limits(before: tuple[Taken, ...], after: tuple[Taken, ...]) -> Iterator[Lean]:
    old, new = ({each.id: each for each in some} for some in (before, after))
    yield from _gone(old, new)
    for one, other in ((old[id], new[id]) for id in old if id in new):
        if None in (one.maximum, other.maximum) or one == other:
            continue
        if (one.key, one.window_s) != (other.key, other.window_s):
            yield Lean.OTHER
        elif one.maximum != other.maximum:
            yield _by((one.maximum or 0.0) - (other.maximum or 0.0))
        elif one.amount != other.amount:
            yield _by((other.amount or 0.0) - (one.amount or 0.0))


def _gone(old: Collection[object], new: Collection[object]) -> Iterator[Lean]:
    """Tell of what held back before and does not now, and the other way round."""
    yield from (Lean.WIDER for each in old if each not in new)
    yield from (Lean.NARROWER for each in new if each not in old)


def _constraints(before: tuple[Written, ...], after: tuple[Written, ...]) -> Iterator[Lean]:
    old, new = ({(each.pointer, each.kind): each for each in some} for some in (before, after))
    yield from _gone(old, new)
    for one, other in ((old[place], new[place]) for place in old if place in new):
        if one.is_known and other.is_known:
            yield from _value(one, other)
        elif one.expression != other.expression:
            yield Lean.OTHER


def _value(one: Written, other: Written) -> Iterator[Lean]:
    left, right = one.value, other.value
    if type(left) is type(right) and left == right:
        return
    if one.kind in ("max", "min") and is_number(left) and is_number(right):
        lowered = right < left
        yield Lean.NARROWER if lowered is (one.kind == "max") else Lean.WIDER
    else:
        yield Lean.OTHER


def _output(before: Judgement, after: Judgement) -> Iterator[Lean]:
    yield from _kept(before.keep, after.keep)
    for path in {**before.redact, **after.redact}:
        one, other = (_HIDES[each.redact.get(path, "")] for each in (before, after))
        if one != other:
            yield _by(other - one)
    old, new = ({(each.path, each.where): each for each in some.rows} for some in (before, after))
    yield from _gone(old, new)


def _kept(before: tuple[JsonPointer, ...], after: tuple[JsonPointer, ...]) -> Iterator[Lean]:
    """Compare lists of what may leave; an empty one means everything."""
    old, new = frozenset(before), frozenset(after)
    if old == new:
        return
    if not old or (new and new < old):
        yield Lean.NARROWER
    elif not new or old < new:
        yield Lean.WIDER
    else:
        yield Lean.OTHER


def _class(before: Judgement, after: Judgement) -> Iterator[Lean]:
    if before.does is not None and after.does is not None and before.does is not after.does:
        yield _by(after.does.rank - before.does.rank)
    if before.risk is not None and after.risk is not None and before.risk is not after.risk:
        yield _by(after.risk.rank - before.risk.rank)


def agree(recorded: Judgement, again: Judgement) -> bool:
    """Whether judging again says what the event does, in all that the event has.

    Of a call that no check had classified events have the class of its contract, or the worst.
    """
    one, other = recorded, again
    return (
        one.effect is other.effect
        and one.status is other.status
        and one.code == other.code
        and one.rule == other.rule
        and one.matched == other.matched
        and (other.does is None or one.does is other.does)
        and (other.risk is None or one.risk is other.risk)
        and other.phase in ("", one.phase)
        and one.keep == other.keep
        and one.shadow == other.shadow
        and _told_alike(one, other)
    )


def _told_alike(one: Judgement, other: Judgement) -> bool:
    """Whether constraints and limits are the same, in all that events have of them."""
    if not (one.constraints or other.constraints or one.limits or other.limits):
        return True
    first, second = (
        (
            [(each.pointer, each.kind, each.rule) for each in judged.constraints],
            [(each.id, each.rule, each.amount) for each in judged.limits],
        )
        for judged in (one, other)
    )
    return first == second
