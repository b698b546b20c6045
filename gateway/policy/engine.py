"""The policy in force: one answer a call, always with the rule that gave it.

Order of a decision: rules that raise the class of the call are evaluated against the class that
the contract gave; then every rule is evaluated against the raised class. The strongest effect
wins, and within one effect the first in file order is the deciding rule. A condition that can't
be evaluated denies, wherever its rule stands. No rule at all denies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple

from gateway.policy.alike import Alike, Failure, alike, evaluate
from gateway.policy.cel import ConditionError
from gateway.policy.compiled import Candidates, CompiledRule, candidates
from gateway.policy.match import Matcher
from gateway.policy.methods import ASKS, Target
from gateway.policy.obligations import (
    ObligationConflict,
    ObligationFailed,
    merge_constraints,
    merge_limits,
    merge_outputs,
)
from gateway.policy.request import PolicyRequest
from gateway.policy.view import View, Vocabulary
from gateway.types.approvals import ApprovalClause, Factor
from gateway.types.calls import Method
from gateway.types.decisions import (
    Constraint,
    Decision,
    DecisionEffect,
    Inputs,
    Limit,
    OutputPolicy,
    ShadowDecision,
)
from gateway.types.json import Json
from gateway.types.tools import Kind, Risk

__all__ = ["CompiledPolicy", "PolicyRequest"]

EVALUATION_ERROR = "policy_evaluation_error"
CONFLICT = "obligation_conflict"
# Names of tools and prompts come from servers; URIs come from callers, who could send any number.
_MOST_NAMES, _MOST_URIS = 8192, 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The denial for calls that no rule speaks about."""

    code: str = "no_matching_rule"
    reason: str = ""


class CompiledPolicy:
    """All the rules of one revision; immutable but for indexes, which only remember."""

    def __init__(
        self, rules: tuple[CompiledRule, ...], vocabulary: Vocabulary, fallback: Fallback
    ) -> None:
        self.rules = rules
        self.fallback = fallback
        self.revision = ""  # named in decisions; set once, before it is in force
        self._vocabulary = vocabulary
        # What some rule lets a server ask at all; nothing in most policies.
        self.askable = frozenset[Method]().union(
            *(
                rule.matcher.methods & ASKS
                for rule in rules
                if rule.effect is DecisionEffect.ALLOW and not rule.shadow
            )
        )
        self._asks: dict[tuple[object, ...], frozenset[Method]] = {}
        self._alikes: dict[tuple[object, ...], Alike] = {}
        self._of_names = lru_cache(_MOST_NAMES)(self._picked)
        self._of_uris = lru_cache(_MOST_URIS)(self._picked)

    @property
    def holds_any(self) -> bool:
        """Whether some rule holds calls until people have decided."""
        return any(rule.effect is DecisionEffect.REQUIRE_APPROVAL for rule in self.rules)

    @property
    def reads_taint(self) -> bool:
        """Whether some rule depends on what others could write into."""
        return self.mentions("tainted")

    def mentions(self, *words: str) -> bool:
        """Whether an expression of some rule may speak of one of these; costs a look at all."""
        return any(rule.mentions(word) for rule in self.rules for word in words)

    @property
    def sets(self) -> Mapping[str, Sequence[Json]]:
        """The sets that expressions name."""
        return self._vocabulary.sets

    def with_rules(self, rules: tuple[CompiledRule, ...]) -> "CompiledPolicy":
        """Return the policy with other rules, for judging what not all is known of."""
        other = CompiledPolicy(rules, self._vocabulary, self.fallback)
        other.revision = self.revision
        return other

    def candidates(self, target: Target) -> Candidates:
        """Return the rules that are about a target, from an index of bounded size."""
        return self._of_uris(target) if target.kind is Kind.RESOURCE else self._of_names(target)

    def _listed(self, target: Target) -> Candidates:
        if target.is_template:
            return candidates(self.rules, target, for_listing=True)
        return self.candidates(target)

    def _picked(self, target: Target) -> Candidates:
        return candidates(self.rules, target)

    def view(self, request: PolicyRequest) -> View:
        """Open a call for evaluation."""
        return View(request, self._vocabulary)

    def decide(self, request: PolicyRequest) -> Decision:
        """Decide one call; never raises for anything that a rule or an argument holds."""
        about = self._alike(request, request.risk)
        view = self.view(request)
        held: Sequence[CompiledRule] = ()
        failure: Failure | None = None
        if about.raising:
            held, failure = evaluate(about.raising, view)
            view.raise_to(rule.risk for rule in held if rule.risk is not None)
            if view.risk is not request.risk:
                about = self._alike(request, view.risk)
        if failure is None:
            held, failure = evaluate(about.enforced, view)
        matched = tuple([each.id for each in held])
        known = about.decisions.get(matched)
        if known is not None and failure is None and known.revision == self.revision:
            return known
        shadow = _shadow(about.shadow, view) if about.shadow else ()
        word = self._word(held, view) if failure is None else _failed(failure, EVALUATION_ERROR)
        decision = self._decision(word, matched, view, shadow)
        if failure is None and not about.shadow and not any(r.obligations.read_calls for r in held):
            about.remember(matched, decision)
        return decision

    def decider(self, request: PolicyRequest) -> Callable[[PolicyRequest], Decision]:
        """Return what decides requests that differ from one in arguments, time and run alone.

        As `decide` does, which finds out anew for each which rules match.
        """
        about = self._alike(request, request.risk)
        if about.raising or about.shadow or request.kind is Kind.RESOURCE:
            return self.decide
        return partial(self._decided, about)

    def _decided(self, about: Alike, request: PolicyRequest) -> Decision:
        view = self.view(request)
        held, failure = evaluate(about.enforced, view)
        known = about.decisions.get(tuple([each.id for each in held]))
        if known is not None and failure is None and known.revision == self.revision:
            return known
        return self.decide(request)

    def is_settled(self, request: PolicyRequest) -> bool:
        """Say whether a request is decided by nothing that requests like it differ in."""
        return self._alike(request, request.risk).is_settled

    def _alike(self, request: PolicyRequest, risk: Risk) -> Alike:
        """Return which rules match, for all requests that agree in what the key is made of."""
        if request.kind is Kind.RESOURCE:  # callers could send any number of URIs
            return alike(self.candidates(request.target), request, risk)
        key = (
            request.method,
            request.kind,
            request.tool,
            request.server,
            request.effect,
            request.risk,
            risk,
            request.phase,
            request.template,
            request.cause,
            id(request.actor),  # held by what is found
        )
        found = self._alikes.get(key)
        if found is None:
            if len(self._alikes) >= _MOST_NAMES:
                self._alikes.clear()
            found = self._alikes[key] = alike(self.candidates(request.target), request, risk)
        return found

    def _decision(
        self,
        word: "_Word",
        matched: tuple[str, ...],
        view: View,
        shadow: tuple[ShadowDecision, ...],
    ) -> Decision:
        request, rule, demands = view.request, word.rule, word.demands
        return Decision(
            effect=word.effect,
            code=word.code,
            reason=word.reason,
            rule=rule.id if rule is not None else "",
            place=rule.place if rule is not None else "",
            matched=matched,
            constraints=demands.constraints,
            limits=demands.limits,
            output=demands.output,
            approval=_approval(word, request),
            risk=view.risk if view.risk is not request.risk else None,
            shadow=shadow,
            revision=self.revision,
            inputs=Inputs(
                effect=request.effect, risk=view.risk, phase=request.phase, given=request.risk
            ),
        )

    def may(self, request: PolicyRequest) -> bool:
        """Say whether some rule could let the request through; arguments don't matter.

        Nobody is there to approve a question, so a rule that holds one back forbids it.
        """
        about = self._listed(request.target)
        possible = _classes(about.raising, request)
        granted = False
        for rule in about.enforced:
            if rule.effect is DecisionEffect.DENY or (
                request.method.is_ask and rule.effect is DecisionEffect.REQUIRE_APPROVAL
            ):
                matches = rule.matcher.matches
                is_sure = rule.condition is None and not _depends_on_run(rule, request)
                if is_sure and all(matches(request, risk) for risk in possible):
                    return False
            elif rule.effect is not None and not granted:
                matches = _matcher(rule, request).matches
                granted = any(matches(request, risk) for risk in possible)
        return granted

    def asks(self, request: PolicyRequest) -> frozenset[Method]:
        """Return what some rule could let the server ask while it works on a request.

        Remembered for all that it depends on, of which the arguments are no part.
        """
        if not self.askable:
            return self.askable
        key = (
            request.target,
            request.actor,
            request.effect,
            request.risk,
            request.phase,
            request.template,
            request.cause,
        )
        found = self._asks.get(key)
        if found is None:
            if len(self._asks) >= _MOST_URIS:
                self._asks.clear()
            found = self._asks[key] = frozenset(
                method for method in self.askable if self.may(replace(request, method=method))
            )
        return found

    def questions(self, server: str) -> frozenset[Method]:
        """Return what some rule could let a server ask of anybody, in whichever call."""
        return frozenset[Method]().union(
            *(
                rule.matcher.methods & self.askable
                for rule in self.rules
                if rule.effect is DecisionEffect.ALLOW
                and not rule.shadow
                and (rule.matcher.servers is None or server in rule.matcher.servers)
            )
        )

    def _word(self, held: Sequence[CompiledRule], view: View) -> "_Word":
        # Candidates come strongest first, so the first that decides anything decides.
        rule = next((each for each in held if each.effect is not None), None)
        if rule is None or rule.effect is None:
            return _Word(DecisionEffect.DENY, self.fallback.code, self.fallback.reason)
        if rule.effect is DecisionEffect.DENY:
            return _Word(rule.effect, rule.code, rule.reason, rule)
        method = view.request.method
        # Which rule let the call of a task through isn't known, so all that could have count.
        obliging = [each for each in held if each is rule or each.effect is None or method.is_task]
        try:
            demands = _demands(obliging, view)
            if demands.constraints and method is not Method.CALL_TOOL:
                raise ObligationFailed("only arguments of tools can be written")
            if method.is_ask and (demands.limits or demands.output != OutputPolicy()):
                raise ObligationFailed("questions have no limits and no output")
        except ObligationConflict as error:
            return _failed((rule, str(error)), CONFLICT)
        except (ConditionError, ObligationFailed) as error:
            return _failed((rule, str(error)), EVALUATION_ERROR)
        return _Word(rule.effect, rule.code, rule.reason, rule, demands)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demands:
    """What is demanded of one call, merged from every rule that obliges."""

    constraints: tuple[Constraint, ...] = ()
    limits: tuple[Limit, ...] = ()
    output: OutputPolicy = field(default_factory=OutputPolicy)


_NOTHING = _Demands()


class _Word(NamedTuple):
    """What the rules say, before it is joined with what was seen on the way."""

    effect: DecisionEffect
    code: str
    reason: str
    rule: CompiledRule | None = None
    demands: _Demands = _NOTHING


def _failed(failure: Failure, code: str) -> _Word:
    rule, why = failure
    reason = f"rule `{rule.id}` can't be evaluated for this call: {why}"
    return _Word(DecisionEffect.DENY, code, reason, rule)


def _demands(rules: Sequence[CompiledRule], view: View) -> _Demands:
    all_of = [(rule.id, rule.obligations) for rule in rules if rule.obligations.are_any]
    if not all_of:
        return _NOTHING
    return _Demands(
        constraints=merge_constraints(
            each.computed(view.scope, rule) for rule, some in all_of for each in some.constraints
        ),
        limits=merge_limits(
            each.computed(view.request, view.scope, rule)
            for rule, some in all_of
            for each in some.limits
        ),
        output=merge_outputs(
            (some.output for _, some in all_of),
            [each.computed(view.values, rule) for rule, some in all_of for each in some.rows],
        ),
    )


def _approval(word: _Word, request: PolicyRequest) -> ApprovalClause | None:
    if word.rule is None or word.effect is not DecisionEffect.REQUIRE_APPROVAL:
        return None
    clause = word.rule.approval
    if clause is None or not clause.self_confirm:
        return clause
    return replace(clause, factors=tuple(_named(each, request) for each in clause.factors))


def _named(factor: Factor, request: PolicyRequest) -> Factor:
    """Say who `self` is."""
    users = tuple(request.actor.user if user == "self" else user for user in factor.users)
    return replace(factor, users=users)


def _shadow(rules: Sequence[CompiledRule], view: View) -> tuple[ShadowDecision, ...]:
    """Say what rules in shadow mode would have decided; an error would have denied."""
    found: list[ShadowDecision] = []
    for rule in rules:
        effect, code = rule.effect or DecisionEffect.DENY, rule.code
        try:
            if not view.meets(rule):
                continue
        except ConditionError:
            effect, code = DecisionEffect.DENY, EVALUATION_ERROR
        found.append(ShadowDecision(effect=effect, rule=rule.id, code=code))
    return tuple(found)


def _matcher(rule: CompiledRule, request: PolicyRequest) -> Matcher:
    """Return what a rule matches by, as far as it can be known."""
    return rule.matcher.in_any_run() if request.any_run else rule.matcher


def _depends_on_run(rule: CompiledRule, request: PolicyRequest) -> bool:
    return request.any_run and rule.matcher.is_about_runs


def _classes(raising: Sequence[CompiledRule], request: PolicyRequest) -> tuple[Risk, ...]:
    """Return the class that the call has at least, then all that it may be raised to."""
    sure = request.risk
    perhaps: list[Risk] = []
    for rule in raising:
        if rule.risk is None or not _matcher(rule, request).matches(request, request.risk):
            continue
        if rule.condition is not None or _depends_on_run(rule, request):
            perhaps.append(rule.risk)
        elif rule.risk.rank > sure.rank:
            sure = rule.risk
    return (sure, *(risk for risk in perhaps if risk.rank > sure.rank))
