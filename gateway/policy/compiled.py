"""One rule, ready to be evaluated, and the rules that are about one target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from gateway.policy.cel import Condition
from gateway.policy.match import Matcher
from gateway.policy.methods import Target
from gateway.policy.obligations import Obligations
from gateway.types.approvals import ApprovalClause
from gateway.types.decisions import DecisionEffect
from gateway.types.tools import Risk

# INVARIANT: strongest first; within one effect the order of the files decides.
STRENGTH: Sequence[DecisionEffect | None] = (
    DecisionEffect.DENY,
    DecisionEffect.REQUIRE_APPROVAL,
    DecisionEffect.ALLOW,
    None,  # obligations decide nothing
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRule:
    """A rule as the engine evaluates it; `effect` is None for a rule that only obliges."""

    id: str
    place: str  # file:line
    effect: DecisionEffect | None
    code: str
    reason: str
    matcher: Matcher
    condition: Condition | None
    reads_arguments: bool = False  # the condition names `args`
    shadow: bool = False
    risk: Risk | None = None
    obligations: Obligations = field(default_factory=Obligations)
    approval: ApprovalClause | None = None

    def mentions(self, word: str) -> bool:
        """Whether an expression may speak of something; also where a text only has that word."""
        demands = self.obligations
        conditions = (
            self.condition,
            *(each.source for each in demands.constraints),
            *(each.total for each in demands.limits),
            *(each.where for each in demands.rows),
        )
        return any(isinstance(each, Condition) and word in each.text for each in conditions)

    def after_the_call(self) -> "CompiledRule | None":
        """Return the rule as it is about a task whose call was weighed when the task began.

        Arguments, limits and approvals were settled then and aren't known now. What is left is
        whether this caller may still use the tool, and what of its result may leave.
        """
        if self.matcher.names_methods:
            return self  # written for tasks: its condition is about the request itself
        if self.reads_arguments and (self.effect is DecisionEffect.DENY or self.shadow):
            return None
        is_approval = self.effect is DecisionEffect.REQUIRE_APPROVAL
        return replace(
            self,
            effect=DecisionEffect.ALLOW if is_approval else self.effect,
            approval=None,
            risk=None if self.reads_arguments else self.risk,
            condition=None if self.reads_arguments else self.condition,
            obligations=Obligations(output=self.obligations.output, rows=self.obligations.rows),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The rules that are about one target, strongest effect first."""

    enforced: tuple[CompiledRule, ...]
    raising: tuple[CompiledRule, ...]
    shadow: tuple[CompiledRule, ...]


def candidates(
    rules: Iterable[CompiledRule], target: Target, *, for_listing: bool = False
) -> Candidates:
    """Pick the rules that are about a target.

    A template stands for many URIs. It is listed when a rule could allow one of them, and
    completed only when a rule allows it whole and none denies any of them.
    """
    picked = (rule for rule in rules if _is_about(rule, target, for_listing=for_listing))
    if target.method.is_task:
        after = (rule.after_the_call() for rule in picked)
        picked = (rule for rule in after if rule is not None)
    about = sorted(picked, key=lambda rule: STRENGTH.index(rule.effect))
    enforced = tuple(rule for rule in about if not rule.shadow)
    return Candidates(
        enforced=enforced,
        raising=tuple(rule for rule in enforced if rule.risk is not None),
        shadow=tuple(rule for rule in about if rule.shadow and rule.effect is not None),
    )


def _is_about(rule: CompiledRule, target: Target, *, for_listing: bool) -> bool:
    grants = rule.effect in (DecisionEffect.ALLOW, DecisionEffect.REQUIRE_APPROVAL)
    if target.is_template and grants is for_listing:
        return rule.matcher.touches_template(target)
    return rule.matcher.selects_target(target)
