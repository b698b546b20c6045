"""The search for requests that two policies judge differently, target by target.

Around each rule of both sides: choices under which it matches, all of them or every two together;
then what differs in a single choice from a request that it decided. So bounds, roles and phases
are looked at from within the conditions that hide them from a mere product of pairs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.policy import writing
from gateway.policy.axes import Side, texts
from gateway.policy.compiled import CompiledRule
from gateway.policy.covering import Chance, Row, rows
from gateway.policy.impact import Ask, Both, Groups
from gateway.policy.mentions import mentions, together
from gateway.policy.probes import Axes

_AROUND: Final = 200  # requests around each rule, before there is one that it decided
_TRIES: Final = 150  # more of them for a rule that none of these met
_GLANCE: Final = 48  # requests about a target of which both sides say the same


@dataclass(slots=True)
class Budget:
    """How many requests may still be made."""

    left: int
    spent: int = 0
    is_cut: bool = False  # something was not tried since `share` was called last
    _share: int | None = None

    def share(self, targets: int) -> None:
        """Leave the next target its part of what is left, of so many that are to come."""
        self._share = self.left // max(targets, 1)
        self.is_cut = False

    def take(self) -> bool:
        """Take one, if there is one."""
        if self.left <= 0 or self._share == 0:
            self.is_cut = True
            return False
        self._count(1)
        return True

    def give_back(self) -> None:
        """Return one by which nothing was decided."""
        self._count(-1)

    def _count(self, taken: int) -> None:
        self.left -= taken
        self.spent += taken
        if self._share is not None:
            self._share -= taken


@dataclass(slots=True)
class Found:
    """What the search came to so far, over all targets."""

    groups: Groups = field(default_factory=Groups)
    differing: int = 0
    met: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])  # side and rule
    sought: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])


class Search:
    """Looks at one target."""

    def __init__(
        self, axes: Axes, sides: Sequence[Side], ask: Ask, found: Found, budget: Budget
    ) -> None:
        self._axes = axes
        self._sides = sides
        self._ask = ask
        self._found = found
        self._budget = budget
        self._seen: set[Row] = set()
        # By side and rule, the smallest request:
        self._matched: dict[tuple[int, str], tuple[tuple[int, int], Row]] = {}
        self._decided: dict[tuple[int, str], tuple[tuple[int, int], Row]] = {}
        self.answered = 0

    def run(self, seed: int) -> None:
        """Make requests, as many as the budget has."""
        target = self._axes.target
        alike = writing.about(self._sides[0], target) == writing.about(self._sides[1], target)
        known = [*self._rules()]
        self._try(rows(self._axes.sizes, seed=seed, most=_GLANCE))
        if alike:
            return
        self._found.sought.update((side, rule.id) for side, rule in known)
        done: set[tuple[writing.Written, str]] = set()
        for side, rule in known:
            written = (writing.rule(rule), repr(self._sides[side].sets))
            if written not in done:
                done.add(written)
                self._try(self._around(side, rule, seed))
        chance = Chance(seed)
        for side, rule in known:
            if (side, rule.id) not in self._matched and (side, rule.id) not in self._decided:
                self._try(self._more(rule, chance))
        for place, (_, row) in [*self._matched.items()]:
            if place not in self._decided:  # stronger rules are in its way: step aside
                self._try(self._beside(row))
        for _, row in [*self._decided.values()]:
            self._try(self._beside(row))

    def _rules(self) -> Iterator[tuple[int, CompiledRule]]:
        for number, side in enumerate(self._sides):
            for rule in side.about(self._axes.target):
                yield number, rule

    def _room(self, rule: CompiledRule) -> tuple[tuple[int, ...], ...]:
        contracts = [side.contract.scopes for side in self._sides if side.contract is not None]
        return self._axes.room(rule, frozenset[str]().union(*contracts))

    def _around(self, side: int, rule: CompiledRule, seed: int) -> Iterator[Row]:
        """Yield choices by which a rule can match: what it says nothing of is plain."""
        said = together(mentions(text, self._sides[side].sets) for text in texts(rule))
        is_about_runs = rule.matcher.is_about_runs or said.speaks_of("run")
        room: list[tuple[int, ...]] = []
        for name, size, some in zip(
            self._axes.names, self._axes.sizes, self._room(rule), strict=True
        ):
            is_bound = len(some) < size or said.speaks_of(name)
            is_open = is_bound or (is_about_runs and name.startswith("run."))
            room.append(some if is_open else some[:1])
        for row in rows([*map(len, room)], seed=seed, most=_AROUND):
            yield tuple(some[at] for some, at in zip(room, row, strict=True))

    def _more(self, rule: CompiledRule, chance: Chance) -> Iterator[Row]:
        room = self._room(rule)
        if all(room):
            for _ in range(_TRIES):
                yield tuple(some[chance.below(len(some))] for some in room)

    def _beside(self, row: Row) -> Iterator[Row]:
        for axis, size in enumerate(self._axes.sizes):
            for other in range(size):
                yield (*row[:axis], other, *row[axis + 1 :])

    def _try(self, wanted: Iterable[Row]) -> None:
        for row in wanted:
            if row in self._seen:
                continue
            self._seen.add(row)
            if not self._budget.take():
                return
            probe = self._axes.probe(row)
            both = self._ask(probe)
            if both is None:
                self._budget.give_back()
                continue
            self.answered += 1
            self._note(row, probe.size, both)
            if self._found.groups.add(probe, both) is not None:
                self._found.differing += 1

    def _note(self, row: Row, size: tuple[int, int], both: Both) -> None:
        for side, word in enumerate(both):
            decision = word.decision
            held = (*decision.matched, *(each.rule for each in decision.shadow))
            for id in held:
                self._found.met.add((side, id))
                _keep_smaller(self._matched, (side, id), size, row)
                # A rule that could not be evaluated denies as well, and doesn't hold.
                if id == decision.rule or id not in decision.matched:
                    _keep_smaller(self._decided, (side, id), size, row)


def _keep_smaller(
    known: dict[tuple[int, str], tuple[tuple[int, int], Row]],
    place: tuple[int, str],
    size: tuple[int, int],
    row: Row,
) -> None:
    before = known.get(place)
    if before is None or size < before[0]:
        known[place] = (size, row)
