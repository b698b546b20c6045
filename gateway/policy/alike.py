"""Requests that differ in little but their arguments: the same rules match them all.

Which rules match depends on who asks for what under which circumstances, and calls of one caller
hardly differ in that. So it is told once, and of each further call only conditions are evaluated;
where the same conditions hold and nothing is made of arguments, even the decision is the same.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from gateway.policy.cel import ConditionError
from gateway.policy.compiled import Candidates, CompiledRule
from gateway.policy.request import PolicyRequest
from gateway.policy.view import View
from gateway.types.actors import Actor
from gateway.types.decisions import Decision
from gateway.types.tools import Risk

Failure: TypeAlias = tuple[CompiledRule, str]
"""A rule whose condition can't be evaluated, and why."""

_MOST_DECISIONS: Final = 64  # of requests that are alike; each is for other conditions that held


class Alike:
    """The rules that match such requests, strongest first, and decisions by the rules that held."""

    __slots__ = ("actor", "decisions", "enforced", "is_settled", "raising", "shadow")

    def __init__(
        self,
        *,
        enforced: tuple[CompiledRule, ...],
        raising: tuple[CompiledRule, ...],
        shadow: tuple[CompiledRule, ...],
        actor: Actor,
    ) -> None:
        self.enforced = enforced
        self.raising = raising
        self.shadow = shadow
        self.actor = actor  # is held, so that its id is nobody else's
        self.decisions: dict[tuple[str, ...], Decision] = {}
        self.is_settled = not raising and all(
            each.condition is None and not each.obligations.read_calls
            for each in (*enforced, *shadow)
        )
        """Whether one decision is for all of them: nothing that differs is looked at."""

    def remember(self, matched: tuple[str, ...], decision: Decision) -> None:
        """Keep a decision in which nothing is of a single request, for those that are alike."""
        if len(self.decisions) < _MOST_DECISIONS:
            self.decisions[matched] = decision


def alike(about: Candidates, request: PolicyRequest, risk: Risk) -> Alike:
    """Pick the rules about a target that match, but for their conditions, under a class of risk."""

    def matching(rules: tuple[CompiledRule, ...]) -> tuple[CompiledRule, ...]:
        return tuple(rule for rule in rules if rule.matcher.matches(request, risk))

    return Alike(
        enforced=matching(about.enforced),
        raising=matching(about.raising),
        shadow=matching(about.shadow),
        actor=request.actor,
    )


def evaluate(
    rules: Sequence[CompiledRule], view: View
) -> tuple[list[CompiledRule], Failure | None]:
    """Return every rule whose condition holds, and the first that could not be evaluated."""
    held: list[CompiledRule] = []
    failure: Failure | None = None
    for rule in rules:
        try:
            if view.meets(rule):
                held.append(rule)
        except ConditionError as error:
            failure = failure or (rule, error.message)
    return held, failure
