"""Makes a report of compared calls, one after the other; causes fill its memory, not calls.

Of runs and operations no more is kept than what tells them apart.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.replay.compact import Names
from gateway.replay.examples import Example
from gateway.replay.permissions import Permissions
from gateway.replay.report import (
    NO_ROOM,
    Divergence,
    Group,
    Outside,
    Report,
    Sum,
    Unknown,
    Work,
)
from gateway.replay.types import Compared, Grade, Judgement, Money, Subject, Why
from gateway.types.decisions import DecisionEffect
from gateway.types.leans import Lean
from gateway.types.tools import Effect
from gateway.types.values import replaced

_MOST_SHOWN: Final = 20  # of divergences, and of calls whose own revision says something else
_ORDER: Final = [*Lean]
_GOES: Final = DecisionEffect.ALLOW


@dataclass(slots=True)
class _Amounts:
    """Sums by currency."""

    by: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, money: Money | None) -> None:
        if money is not None:
            self.by[money.currency] = self.by.get(money.currency, 0.0) + money.amount

    def sums(self) -> tuple[Sum, ...]:
        return tuple(Sum(amount=amount, currency=of) for of, amount in sorted(self.by.items()))


@dataclass(slots=True)
class _Operations:
    """Those that were counted: repeats of one have it sent once, and move nothing more."""

    counted: Names = field(default_factory=Names)

    def is_new(self, compared: Compared) -> bool:
        """Whether a call is the first of its operation, and is sent itself; and count it."""
        if compared.moves_nothing:
            return False
        return not compared.operation or self.counted.add(compared.operation)


@dataclass(slots=True)
class _Heap:
    """What is counted of calls that belong together."""

    first: Example
    calls: int = 0
    users: Names = field(default_factory=Names)
    runs: Names = field(default_factory=Names)
    money: _Amounts = field(default_factory=_Amounts)
    operations: _Operations = field(default_factory=_Operations)
    repeats: int = 0
    denied_by_people: int = 0
    follows: int = 0
    why: dict[Why, None] = field(default_factory=dict[Why, None])
    certain: Counter[str] = field(default_factory=Counter[str])
    places: tuple[str, str] = ("", "")

    def add(self, compared: Compared) -> None:
        call = compared.recorded
        self.calls += 1
        self.users.add((call.tenant, call.actor.user))
        if call.run:
            self.runs.add(call.run)
        if self.operations.is_new(compared):
            self.money.add(compared.money)
        else:
            self.repeats += 1
        self.denied_by_people += compared.overrides_denial
        self.follows += compared.follows_divergence
        self.why |= dict.fromkeys(compared.why)
        if compared.certain is not None:
            self.certain[str(compared.certain)] += 1


@dataclass(slots=True)
class _Outcomes:
    """Calls by tool, with what they moved; repeats of one operation are one call."""

    by: dict[str, tuple[int, _Amounts]] = field(default_factory=dict[str, tuple[int, _Amounts]])
    operations: _Operations = field(default_factory=_Operations)

    def add(self, compared: Compared) -> None:
        if not self.operations.is_new(compared):
            return
        calls, amounts = self.by.get(compared.recorded.tool, (0, _Amounts()))
        amounts.add(compared.money)
        self.by[compared.recorded.tool] = (calls + 1, amounts)

    def told(self) -> tuple[Outside, ...]:
        return tuple(
            Outside(tool=tool, calls=calls, money=amounts.sums())
            for tool, (calls, amounts) in sorted(self.by.items())
        )


_GroupKey = tuple[Lean, str, str, str, str, str, Why | None]
_UnknownKey = tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]


@dataclass(slots=True, kw_only=True)
class Tally:
    """Takes what became of each call; `rules` are all that could decide, with their places."""

    subject: Subject
    rules: Mapping[str, str]
    servers: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Those that a rule names; none: it is about any."""
    permissions: Permissions = field(default_factory=lambda: Permissions(granted={}))
    _counts: Counter[Grade] = field(default_factory=Counter[Grade])
    _runs: Names = field(default_factory=Names)
    _tenants: set[str] = field(default_factory=set[str])
    _revisions: dict[str, None] = field(default_factory=dict[str, None])
    _first: datetime | None = None
    _last: datetime | None = None
    _groups: dict[_GroupKey, _Heap] = field(default_factory=dict[_GroupKey, _Heap])
    _unknown: dict[_UnknownKey, _Heap] = field(default_factory=dict[_UnknownKey, _Heap])
    _divergences: list[Divergence] = field(default_factory=list[Divergence])
    _diverged: int = 0
    _follows: int = 0
    _prevented: _Outcomes = field(default_factory=_Outcomes)
    _withheld: _Outcomes = field(default_factory=_Outcomes)
    _unattended: _Outcomes = field(default_factory=_Outcomes)
    _asked: Counter[str] = field(default_factory=Counter[str])
    _asking: Counter[str] = field(default_factory=Counter[str])
    _held: set[str] = field(default_factory=set[str])
    _called: set[str] = field(default_factory=set[str])
    _faith: Counter[bool | None] = field(default_factory=Counter[bool | None])
    _unfaithful: list[Example] = field(default_factory=list[Example])

    def add(self, compared: Compared) -> None:
        """Take in how one call fares; calls come in the order of the log."""
        call = compared.recorded
        self._counts[compared.grade] += 1
        self._tenants.add(call.tenant)
        self._called.add(call.server)
        if call.run:
            self._runs.add(call.run)
        self._revisions.setdefault(call.revision)
        self._first = self._first or call.at
        self._last = max(self._last or call.at, call.at)
        self._checked(compared)
        self.permissions.take(call)
        after = compared.after
        if after is None:
            self._add_unknown(compared)
            return
        self._held.update(after.matched)
        self._held.add(after.rule)
        self._count_people(compared.before, after)
        if compared.grade is Grade.CHANGED:
            self._add_changed(compared, after)

    def report(self) -> Report:
        """Return what was found so far."""
        groups = [_group(key, heap) for key, heap in self._groups.items()]
        unknown = [_unknown(key, heap) for key, heap in self._unknown.items()]
        return Report(
            subject=replaced(self.subject, before=tuple(self._revisions)),
            calls=self._counts.total(),
            runs=len(self._runs),
            tenants=len(self._tenants),
            same=self._counts[Grade.SAME],
            changed=self._counts[Grade.CHANGED],
            undecidable=self._counts[Grade.UNDECIDABLE],
            first=self._first,
            last=self._last,
            groups=tuple(sorted(groups, key=_rank)),
            unknown=tuple(sorted(unknown, key=lambda each: (-each.calls, each.tool))),
            divergences=tuple(self._divergences),
            diverged=self._diverged,
            follows=self._follows,
            prevented=self._prevented.told(),
            withheld=self._withheld.told(),
            unattended=self._unattended.told(),
            workload=_workload(self._asked, self._asking),
            idle=tuple((id, at) for id, at in self.rules.items() if id not in self._held),
            elsewhere=frozenset(id for id in self.rules if self._is_elsewhere(id)),
            unused=self.permissions.unused(),
            faithful=self._faith[True],
            unfaithful=tuple(self._unfaithful),
            unchecked=self._faith[None],
        )

    def _is_elsewhere(self, rule: str) -> bool:
        named = self.servers.get(rule, frozenset())
        return rule not in self._held and bool(named) and named.isdisjoint(self._called)

    def _checked(self, compared: Compared) -> None:
        self._faith[compared.is_faithful] += 1
        if compared.is_faithful is False and len(self._unfaithful) < _MOST_SHOWN:
            self._unfaithful.append(Example.of(compared.recorded))

    def _count_people(self, before: Judgement, after: Judgement) -> None:
        for judged, counted in ((before, self._asked), (after, self._asking)):
            if judged.goes is DecisionEffect.REQUIRE_APPROVAL:
                counted[judged.people] += 1

    def _add_changed(self, compared: Compared, after: Judgement) -> None:
        call, before = compared.recorded, compared.before
        key: _GroupKey = (
            compared.grants,
            call.tool,
            effect(before),
            effect(after),
            speaker(before),
            speaker(after),
            compared.cause,
        )
        heap = self._groups.setdefault(
            key, _Heap(Example.of(call), places=(before.place, after.place))
        )
        heap.add(compared)
        self._follows += compared.follows_divergence
        if compared.is_first:
            self._diverged += 1
            if len(self._divergences) < _MOST_SHOWN:
                self._divergences.append(_divergence(compared, after))
        if compared.is_executed and call.judged.does is not Effect.READ:
            if after.goes is DecisionEffect.DENY:
                self._prevented.add(compared)
            elif after.goes is DecisionEffect.REQUIRE_APPROVAL and before.goes is _GOES:
                self._withheld.add(compared)
        may_change = after.does is not None and after.does is not Effect.READ
        if may_change and after.goes is _GOES and before.goes is not _GOES:
            self._unattended.add(compared)

    def _add_unknown(self, compared: Compared) -> None:
        call = compared.recorded
        missing = tuple(sorted({(each.place, each.told) for each in compared.missing}))
        readers = tuple(sorted({each for some in compared.missing for each in some.readers}))
        key: _UnknownKey = (call.tool, missing, readers)
        self._unknown.setdefault(key, _Heap(Example.of(call))).add(compared)


def effect(judged: Judgement) -> str:
    """Return what becomes of a call, in a word: an effect, or that a limit has no room for it."""
    return NO_ROOM if judged.exceeded else str(judged.effect)


def speaker(judged: Judgement) -> str:
    """Return who says so: a limit, a rule, or a check by its code."""
    return judged.exceeded or judged.rule or judged.code


def _group(key: _GroupKey, heap: _Heap) -> Group:
    lean, tool, before, after, was, now, _ = key
    return Group(
        lean=lean,
        tool=tool,
        before=before,
        after=after,
        was=was,
        now=now,
        was_at=heap.places[0],
        now_at=heap.places[1],
        why=tuple(heap.why),
        calls=heap.calls,
        users=len(heap.users),
        runs=len(heap.runs),
        denied_by_people=heap.denied_by_people,
        follows=heap.follows,
        money=heap.money.sums(),
        repeats=heap.repeats,
        first=heap.first,
    )


def _unknown(key: _UnknownKey, heap: _Heap) -> Unknown:
    tool, missing, readers = key
    return Unknown(
        tool=tool,
        missing=missing,
        readers=readers,
        calls=heap.calls,
        users=len(heap.users),
        certain=dict(sorted(heap.certain.items())),
        first=heap.first,
    )


def _divergence(compared: Compared, after: Judgement) -> Divergence:
    call = compared.recorded
    return Divergence(
        run=call.run,
        tool=call.tool,
        before=effect(compared.before),
        after=effect(after),
        why=compared.cause or Why.EFFECT,
        at=Example.of(call),
    )


def _rank(group: Group) -> tuple[object, ...]:
    """What people said no to comes first, then what is another decision, then by calls."""
    return (
        _ORDER.index(group.lean),
        not group.denied_by_people,
        not group.changes_effect,
        -group.calls,
        group.tool,
        group.now,
        group.was,
    )


def _workload(asked: Mapping[str, int], asking: Mapping[str, int]) -> tuple[Work, ...]:
    every: Iterable[str] = sorted({*asked, *asking})
    works: Sequence[Work] = [
        Work(people=each, before=asked.get(each, 0), after=asking.get(each, 0)) for each in every
    ]
    return tuple(sorted(works, key=lambda each: (-each.after, -each.before, each.people)))
