"""What is known of a call by how it was judged then: which checks it passed, which rules held."""

from typing import Final

from gateway.case import Case
from gateway.contracts.schemas import Schema
from gateway.policy import engine
from gateway.policy.cel import Condition
from gateway.policy.compiled import CompiledRule
from gateway.policy.engine import CompiledPolicy
from gateway.replay import reads
from gateway.replay.types import Recorded
from gateway.revision import Revision
from gateway.steps import policy
from gateway.types.outcomes import Status
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced, value

FAILS: Final = None  # of a condition that can't be evaluated, beside true and false

# Refused by the first check, before arguments were looked at.
_UNREAD: Final = frozenset({Status.TOOL_QUARANTINED, Status.TOOL_CHANGED, Status.UNAVAILABLE})
# Refused before the origin of arguments was.
_UNTRACED: Final = _UNREAD | {
    Status.INVALID_ARGUMENTS,
    Status.UNAUTHENTICATED,
    Status.FORBIDDEN,
    Status.INTERNAL,
}
# What an expression reads that may be another one now though the call is the same.
_CLASS: Final = ("tool", "risk")
_MOVING: Final = (_CLASS, ("tool", "effect"), ("tool", "pinned_hash"), ("run", "phase"))


@value
class Then:
    """A call, the case that it was judged as, and what came of it."""

    call: Recorded
    case: Case

    @property
    def revision(self) -> Revision:
        """The revision it was judged under."""
        return self.case.revision

    @property
    def schema(self) -> Schema:
        """What its arguments were judged by."""
        return self.revision.schemas_for(self.case.contract).input

    @property
    def was_valid(self) -> bool | None:
        """Whether its arguments matched the schema; None where that was not asked."""
        judged = self.call.judged
        if judged.status is Status.INVALID_ARGUMENTS:
            return False if judged.code == "schema" else None
        return None if judged.status in _UNREAD else True

    @property
    def was_traced(self) -> bool:
        """Whether the origin of its arguments was judged."""
        return self.call.judged.status not in _UNTRACED and self.call.judged.code != "check_failed"

    @property
    def classified(self) -> tuple[Effect, Risk] | None:
        """Effect and class by the contract, before rules raised it; None where nobody asked."""
        judged, inputs = self.call.judged, self.call.inputs
        if judged.does is None or judged.risk is None:
            return None
        if inputs:
            said = inputs.get("given", inputs.get("risk"))
            return judged.does, Risk(str(said))
        return (judged.does, judged.risk) if judged.status is Status.PHASE_BLOCKED else None

    @property
    def knows_taint(self) -> bool:
        """Whether it was looked up what its actor was given."""
        if self.case.is_tainted:
            return True
        if self.call.borrowed is not None:
            return self.call.borrowed.knows_taint
        return self.case.contract.when_tainted is not None or self.revision.reads_taint

    @property
    def has_counted(self) -> bool:
        """Whether what is open and done in its run was counted when it was read."""
        if self.call.borrowed is not None:
            return self.call.borrowed.has_counted
        contract = self.case.contract
        return contract.effect is not Effect.READ or bool(contract.raises)

    def rule(self, id: str) -> CompiledRule | None:
        """Return the rule of then with an id."""
        return next((each for each in self.revision.policy.rules if each.id == id), None)

    def held(self, rule: CompiledRule, now: Case) -> tuple[bool | None, ...]:
        """Return what the condition of a rule can have come to: one answer where it is known.

        Known is it where the same condition was asked then, of the same values.
        """
        every: tuple[bool | None, ...] = (True, False, FAILS)
        before, inputs, judged = self.rule(rule.id), self.call.inputs, self.call.judged
        if before is None or not inputs or not self._is_same(before, rule, now):
            return every
        request = replaced(
            policy.request(self.case),
            effect=Effect(str(inputs.get("effect"))),
            phase=Phase(str(inputs.get("phase"))),
        )
        risk = Risk(str(inputs.get("risk")))
        if not before.matcher.matches(request, risk):
            return every
        if before.shadow:
            return self._shadowed(before, every)
        if rule.id in judged.matched:
            return (True,)
        if judged.code != engine.EVALUATION_ERROR or judged.rule in judged.matched:
            return (False,)  # and where it was a demand that failed, conditions had not
        return (FAILS,) if judged.rule == rule.id else self._beside_a_failure(before, every)

    def _beside_a_failure(
        self, rule: CompiledRule, every: tuple[bool | None, ...]
    ) -> tuple[bool | None, ...]:
        """Tell of a rule that did not hold while another one failed, the first that did.

        Rules that raise the class are evaluated before all, and alone where one of them fails.
        """
        about = self.revision.policy.candidates(policy.request(self.case).target)
        raising, enforced = ([each.id for each in some] for some in (about.raising, about.enforced))
        failed = self.call.judged.rule
        if failed in raising and rule.id not in raising:
            return every
        if failed not in raising and rule.id in raising:
            return (False,)
        order = raising if failed in raising else enforced
        if failed not in order or rule.id not in order:
            return every
        return (False,) if order.index(rule.id) < order.index(failed) else (False, FAILS)

    def _shadowed(
        self, rule: CompiledRule, every: tuple[bool | None, ...]
    ) -> tuple[bool | None, ...]:
        if rule.effect is None:
            return every
        return (True, FAILS) if rule.id in dict(self.call.judged.shadow) else (False,)

    def _is_same(self, before: CompiledRule, rule: CompiledRule, now: Case) -> bool:
        if before.condition is None or rule.condition is None or before.shadow != rule.shadow:
            return False
        return is_same(before.condition, rule.condition, self, now)


def is_same(before: Condition, after: Condition, then: Then, now: Case) -> bool:
    """Whether an expression is the very same, over the same sets, and reads nothing that moved."""
    text = after.text
    if before.text != text:
        return False
    old, new = _sets(then.revision.policy, text), _sets(now.revision.policy, text)
    if old != new:
        return False
    moving, inputs = reads.read(text, _MOVING), then.call.inputs
    if not moving:
        return True
    raising = now.revision.policy.candidates(policy.request(now).target).raising
    is_raised = "given" in inputs or bool(raising)
    return (
        str(now.effect) == inputs.get("effect")
        and str(now.phase) == inputs.get("phase")
        and str(now.risk) == inputs.get("risk")
        and not (is_raised and _CLASS in moving)
        and now.contract.pin == then.case.contract.pin
    )


def _sets(policy: CompiledPolicy, text: str) -> dict[str, list[object]]:
    return {
        name: [*values] for name, values in policy.sets.items() if name.rpartition(".")[2] in text
    }
