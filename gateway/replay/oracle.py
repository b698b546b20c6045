"""Judging with unknowns: for each possibility, as long as there are few of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar, cast

from gateway.replay.types import Judgement, Missing
from gateway.types.decisions import DecisionEffect
from gateway.types.values import maker, replaced, value

_T = TypeVar("_T")
MOST: Final = 64  # possibilities of one call

Question: TypeAlias = tuple[str, ...]
"""What is unknown: `("rule", id)`, `("schema",)`, `("guard", text)`."""


@value
class Decided:
    """What is said to a call, whatever is unknown of it."""

    judgement: Judgement


@value
class Undecided:
    """What would have to be known, and the effect if that at least is certain."""

    missing: tuple[Missing, ...]
    certain: DecisionEffect | None = None


Answer: TypeAlias = Decided | Undecided
_decided = maker(Decided)


class Oracle:
    """Answers for one possibility, and notes what was asked that it has no answer to."""

    def __init__(self, given: Mapping[Question, object]) -> None:
        self._given = given
        self.open: tuple[Question, Sequence[object]] | None = None
        self.missing: dict[str, Missing] = {}
        self.opaque: set[tuple[str, str, str]] = set()
        """Of constraints (rule, pointer, kind) and limits (rule, id, `limit`): unknown values."""

    def ask(self, question: Question, options: Sequence[_T], missing: Sequence[Missing]) -> _T:
        """Return the answer of this possibility; any, where each of the options is one yet."""
        for each in missing:
            before = self.missing.get(each.place)
            readers = dict.fromkeys((*(before.readers if before else ()), *each.readers))
            self.missing[each.place] = replaced(each, readers=tuple(readers))
        if question in self._given:
            return cast("_T", self._given[question])  # it was one of the same options
        if self.open is None:
            self.open = question, options
        return options[0]


def explored(judge: Callable[[Oracle], Judgement]) -> Answer:
    """Judge each possibility; decided is what all of them agree on."""
    waiting: list[Mapping[Question, object]] = [{}]
    found: list[Judgement] = []
    missing: dict[str, Missing] = {}
    while waiting:
        given = waiting.pop()
        oracle = Oracle(given)
        judgement = judge(oracle)
        missing |= oracle.missing
        if oracle.open is None:
            if not (found or waiting):  # as of most: nothing was asked that it would depend on
                return _decided(judgement=judgement)
            found.append(judgement)
            continue
        question, options = oracle.open
        waiting += [{**given, question: option} for option in options]
        if len(found) + len(waiting) > MOST:
            return Undecided(missing=tuple(missing.values()))
    first = found[0]
    if all(_said(each) == _said(first) for each in found):
        return Decided(judgement=first)
    is_certain = all(each.effect is first.effect for each in found)
    return Undecided(missing=tuple(missing.values()), certain=first.effect if is_certain else None)


def _said(judgement: Judgement) -> Judgement:
    return replaced(judgement, reason="")  # words, which name what was found
