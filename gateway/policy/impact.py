"""What a change of rules does to calls: grouped by cause, what grants more first, one example each.

A search over requests that somebody could make, no proof: what no request of it shows may differ
all the same. Whoever reads a report is told so, and which rules no request met.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from gateway.policy.differences import Difference, differences, of_all
from gateway.policy.probes import Probe
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.leans import Lean
from gateway.types.tools import Kind, Risk

_STRENGTH: Final = {each: -rank for rank, each in enumerate(DecisionEffect)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What one side says of a request: the decision with the class of the call."""

    decision: Decision
    risk: Risk

    @property
    def rule(self) -> str:
        """The rule that decided, or else the code of whatever did."""
        return self.decision.rule or f"({self.decision.code})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Which side says what of one target, and by which rule: what a group has in common."""

    kind: Kind
    target: str  # `server.name` of a tool or prompt, a URI
    method: str
    before: DecisionEffect
    before_rule: str
    after: DecisionEffect
    after_rule: str
    differs: tuple[Difference, ...] = ()  # beside the decision

    @property
    def lean(self) -> Lean:
        """Which way it goes."""
        if self.before is self.after:
            return of_all(self.differs)
        is_wider = _STRENGTH[self.after] < _STRENGTH[self.before]
        return Lean.WIDER if is_wider else Lean.NARROWER

    @property
    def is_decision(self) -> bool:
        """Whether the decision itself differs, and not only what it demands."""
        return self.before is not self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All requests that differ for one cause, and the smallest of them."""

    cause: Cause
    count: int
    example: Probe
    before_place: str  # file:line of the rule, empty where none decided
    after_place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a search came to."""

    groups: tuple[Group, ...]
    requests: int
    differing: int
    unmet: tuple[str, ...] = ()  # rules that matched no request of the search, with their side
    untried: tuple[str, ...] = ()  # targets that no valid request could be made for
    is_cut: bool = False  # more could have been tried

    def leaning(self, lean: Lean) -> tuple[Group, ...]:
        """Return the groups that go one way."""
        return tuple(group for group in self.groups if group.cause.lean is lean)


Both: TypeAlias = tuple[Word, Word]
Ask: TypeAlias = Callable[[Probe], Both | None]  # None: no such request can be made


def cause_of(probe: Probe, both: Both) -> Cause | None:
    """Return why two words on a request differ, or None when they don't."""
    before, after = both
    old, new = before.decision, after.decision
    differs: tuple[Difference, ...] = ()
    if old.effect is new.effect:
        differs = tuple(sorted(differences(old, new, (before.risk, after.risk))))
        if not differs:
            return None
    return Cause(
        kind=probe.target.kind,
        target=probe.target.key,
        method=probe.target.method.value,
        before=old.effect,
        before_rule=before.rule,
        after=new.effect,
        after_rule=after.rule,
        differs=differs,
    )


class Groups:
    """Gathers requests that differ."""

    def __init__(self) -> None:
        self._found: dict[Cause, Group] = {}

    def add(self, probe: Probe, both: Both) -> Cause | None:
        """Take a request with the words of both sides; returns why it differs, if it does."""
        cause = cause_of(probe, both)
        if cause is None:
            return None
        known = self._found.get(cause)
        if known is None:
            self._found[cause] = Group(
                cause=cause,
                count=1,
                example=probe,
                before_place=both[0].decision.place,
                after_place=both[1].decision.place,
            )
        else:
            smaller = probe if probe.size < known.example.size else known.example
            self._found[cause] = replace(known, count=known.count + 1, example=smaller)
        return cause

    def all(self, ask: Ask) -> tuple[Group, ...]:
        """Return the groups, wider ones first, each with an example as small as it gets."""
        order = [*Lean]
        found = [replace(group, example=_smallest(group, ask)) for group in self._found.values()]
        return tuple(
            sorted(
                found,
                key=lambda group: (
                    not group.cause.is_decision,
                    order.index(group.cause.lean),
                    -group.count,
                    group.cause.target,
                    group.cause.before_rule,
                    group.cause.after_rule,
                    group.cause.differs,
                ),
            )
        )


def _smallest(group: Group, ask: Ask) -> Probe:
    """Leave out of an example what it shows the same without."""
    example = group.example
    while True:
        for less in _smaller(example):
            both = ask(less)
            if both is not None and cause_of(less, both) == group.cause:
                example = less
                break
        else:
            return example


def _smaller(probe: Probe) -> Iterable[Probe]:
    for name in probe.arguments:
        rest = {key: value for key, value in probe.arguments.items() if key != name}
        yield replace(probe, arguments=rest)
    for role in probe.roles:
        yield replace(probe, roles=_without(probe.roles, role))
    for scope in probe.scopes:
        yield replace(probe, scopes=_without(probe.scopes, scope))
    if probe.run is not None:
        yield replace(probe, run=None)


def _without(names: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(each for each in names if each != name)
