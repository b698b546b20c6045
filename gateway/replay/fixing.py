"""Rules whose expressions read what is unknown, with the answers put in their place."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final, TypeAlias, TypeVar, cast

from gateway import jsontext
from gateway.case import Case
from gateway.policy.cel import Condition, ConditionError, Environment, Scope
from gateway.policy.compiled import Candidates, CompiledRule
from gateway.policy.constraints import is_number
from gateway.policy.engine import CompiledPolicy
from gateway.policy.obligations import CompiledConstraint, CompiledLimit
from gateway.policy.request import PolicyRequest
from gateway.replay import reads
from gateway.replay.oracle import Oracle
from gateway.replay.reads import Path
from gateway.replay.then import FAILS, Then
from gateway.replay.types import Missing, Recorded
from gateway.revision import Revision
from gateway.steps import policy
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Risk
from gateway.types.values import replaced, value

_T = TypeVar("_T")
_MOST_KEPT: Final = 4_000
Scopes: TypeAlias = Callable[[JsonObject], Scope]
Known: TypeAlias = Callable[[str, Sequence[Path]], JsonObject | None]
_FAILING: Final = "1 / 0 == 1"
_EVERY: Final[tuple[bool | None, ...]] = (True, False, FAILS)
_COMPUTES: Final = (True, False)
# In place of bounds that nobody knows: they bound nothing.
_NO_BOUND: Final = {"max": 1.7e308, "min": -1.7e308}


@value
class Fixing:
    """Answers what rules ask about one call."""

    call: Recorded
    then: Then | None
    own: Revision
    """The revision that is judged under, as it is for all calls."""
    paths: Mapping[Path, Missing]
    oracle: Oracle
    known: Known
    """Arguments that an expression can be asked about though it reads unknown ones, or None."""

    def revision(self, case: Case) -> Revision:
        """Return a revision whose rules can all be evaluated for the case."""
        request, rules = policy.request(case), case.revision.policy
        about = rules.candidates(request.target)
        fixed: dict[str, CompiledRule] = {}
        for rule in self._reading(about):
            if any(rule.matcher.matches(request, each) for each in Risk):
                answered = self._answered(rule, case, request)
                if answered is not rule:
                    fixed[rule.id] = answered
        if not fixed:
            return case.revision
        other = _with(rules, fixed)
        if case.revision is not self.own:  # it was made for this call, which must not be kept
            return case.revision.swapped(policy=other)
        return _swapped(case.revision, other)

    def _reading(self, about: Candidates) -> tuple[CompiledRule, ...]:
        """Return the rules of which an expression reads what is unknown.

        Of calls of one tool the same is unknown, again and again.
        """
        unknown = tuple(self.paths)

        def found() -> tuple[CompiledRule, ...]:
            return tuple(
                rule
                for rule in (*about.enforced, *about.shadow)
                if any(reads.read(text, unknown) for text in _texts(rule))
            )

        return _kept(("reading", id(about), unknown), about, found)

    def _answered(self, rule: CompiledRule, case: Case, request: PolicyRequest) -> CompiledRule:
        condition = rule.condition
        places = reads.read(condition.text, self.paths) if condition is not None else ()
        if condition is not None and places:
            rule = _answering(rule, self._held(rule, condition, case, request, places))
        demands = rule.obligations
        view = partial(_scope, case.revision.policy, request)
        constraints = tuple(self._constraint(each, rule, view) for each in demands.constraints)
        limits = tuple(self._limit(each, rule, view) for each in demands.limits)
        # By identity: an expression is equal to what stands for it, as they are called the same.
        same = zip((*constraints, *limits), (*demands.constraints, *demands.limits), strict=True)
        if all(new is old for new, old in same):
            return rule
        return replace(rule, obligations=replace(demands, constraints=constraints, limits=limits))

    def _held(
        self,
        rule: CompiledRule,
        condition: Condition,
        case: Case,
        request: PolicyRequest,
        places: Sequence[Path],
    ) -> bool | None:
        options = self.then.held(rule, case) if self.then is not None else _EVERY
        if len(options) == 1:
            return options[0]
        known = self.known(condition.text, places)
        is_moved = bool(reads.read(condition.text, [("tool", "risk")]))
        if known is not None and not is_moved:
            try:
                return condition.holds(_scope(case.revision.policy, request, known))
            except ConditionError:
                pass  # it depends on what was left out, or fails
        return self.oracle.ask(("rule", rule.id), options, self._missing(places, rule.id))

    def _constraint(
        self, constraint: CompiledConstraint, rule: CompiledRule, scope: Scopes
    ) -> CompiledConstraint:
        source = constraint.source
        if not isinstance(source, Condition):
            return constraint
        places = reads.read(source.text, self.paths)
        if not places:
            return constraint
        known = self._computed(source, scope, places)
        if known is not None:
            return replace(constraint, source=_literal(source, known))
        name = (rule.id, constraint.pointer, constraint.kind)
        was = self._was_constrained(constraint, rule)
        if not was and not self.oracle.ask(
            ("constraint", *name), _COMPUTES, self._missing(places, rule.id)
        ):
            return replace(constraint, source=_named(source, _FAILING))
        self.oracle.opaque.add(name)
        value: Json = _NO_BOUND.get(constraint.kind)
        return replace(constraint, source=_literal(source, value))

    def _was_constrained(self, constraint: CompiledConstraint, rule: CompiledRule) -> bool:
        """Whether the very same was computed then."""
        before = self.then.rule(rule.id) if self.then is not None else None
        return (
            before is not None
            and constraint in before.obligations.constraints
            and any(
                (each.rule, each.pointer, each.kind)
                == (rule.id, constraint.pointer, constraint.kind)
                for each in self.call.judged.constraints
            )
        )

    def _limit(self, limit: CompiledLimit, rule: CompiledRule, scope: Scopes) -> CompiledLimit:
        total = limit.total
        places = reads.read(total.text, self.paths) if total is not None else ()
        if total is None or not places:
            return limit
        known = self._computed(total, scope, places)
        amount = known if is_number(known) else self._was_taken(limit, rule)
        if amount is not None:
            return replace(limit, total=_literal(total, float(amount)))
        missing = self._missing(places, rule.id)
        if not self.oracle.ask(("limit", rule.id, limit.id), _COMPUTES, missing):
            return replace(limit, total=_named(total, _FAILING))
        self.oracle.opaque.add((rule.id, limit.id, "limit"))
        return replace(limit, total=_literal(total, 0.0))

    def _was_taken(self, limit: CompiledLimit, rule: CompiledRule) -> float | None:
        """Return the amount that was computed then by the very same text."""
        before = self.then.rule(rule.id) if self.then is not None else None
        if before is None or not any(
            each.id == limit.id and each.total == limit.total for each in before.obligations.limits
        ):
            return None
        return next((each.amount for each in self.call.judged.limits if each.id == limit.id), None)

    def _computed(self, source: Condition, scope: Scopes, places: Sequence[Path]) -> Json:
        known = self.known(source.text, places)
        if known is None or reads.read(source.text, [("tool", "risk")]):
            return None
        try:
            return source.evaluate(scope(known))
        except ConditionError:
            return None

    def _missing(self, places: Sequence[Path], reader: str) -> list[Missing]:
        return [replaced(self.paths[each], readers=(reader,)) for each in places]


class _Kept:
    """What was made of rules, by what was made of them; holds the rules, so that ids stay theirs.

    Answers are few, and a policy that was used before knows which of its rules match whom.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[object, object]] = {}

    def __call__(self, key: tuple[object, ...], of: object, make: Callable[[], _T]) -> _T:
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= _MOST_KEPT:
                self._made.clear()
            found = self._made[key] = (of, make())
        return cast("_T", found[1])  # it was made by the same


_kept: Final = _Kept()


def _with(policy: CompiledPolicy, fixed: Mapping[str, CompiledRule]) -> CompiledPolicy:
    """Return a policy with other rules in place of those with the same ids."""
    made = [*fixed.values()]

    def other() -> tuple[CompiledPolicy, list[CompiledRule]]:
        rules = tuple(fixed.get(rule.id, rule) for rule in policy.rules)
        return policy.with_rules(rules), made

    return _kept(("policy", id(policy), *map(id, made)), policy, other)[0]


def _swapped(revision: Revision, policy: CompiledPolicy) -> Revision:
    """Return a revision with another policy; both are kept, and so are their ids."""
    made = partial(revision.swapped, policy=policy)
    return _kept(("revision", id(revision), id(policy)), (revision, policy), made)


def _answering(rule: CompiledRule, held: bool | None) -> CompiledRule:
    """Return a rule with an answer in place of its condition."""
    made = partial(replace, rule, condition=_CONDITIONS[held]())
    return _kept(("rule", id(rule), held), rule, made)


def _texts(rule: CompiledRule) -> tuple[str, ...]:
    """Return the expressions of a rule that are evaluated before a call is sent."""
    return _kept(("texts", id(rule)), rule, lambda: tuple(_written(rule)))


def _written(rule: CompiledRule) -> Iterator[str]:
    if rule.condition is not None:
        yield rule.condition.text
    for constraint in rule.obligations.constraints:
        if isinstance(constraint.source, Condition):
            yield constraint.source.text
    for limit in rule.obligations.limits:
        if limit.total is not None:
            yield limit.total.text


def _scope(policy: CompiledPolicy, request: PolicyRequest, arguments: JsonObject) -> Scope:
    return policy.view(replaced(request, arguments=arguments)).scope()


@lru_cache(maxsize=1)
def _literals() -> Environment:
    return Environment({})


@lru_cache(maxsize=1)
def _never() -> Condition:
    return _literals().condition("false")


@lru_cache(maxsize=1)
def _failing() -> Condition:
    return _literals().condition(_FAILING)


_CONDITIONS: Final[Mapping[bool | None, Callable[[], Condition | None]]] = {
    True: lambda: None,
    False: _never,
    FAILS: _failing,
}


def _literal(source: Condition, value: Json) -> Condition:
    """Return an expression that is called as another one, and gives a value."""
    return _named(source, jsontext.dump(value).decode())


@lru_cache(maxsize=1024)
def _compiled(text: str) -> Condition:
    return _literals().compile(text)


def _named(source: Condition, text: str) -> Condition:
    compiled = _compiled(text)
    return Condition(source.text, compiled.environment, compiled.program)
