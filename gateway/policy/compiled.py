"""One rule, ready to be evaluated, and the rules that are about one tool."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gateway.policy.cel import Condition
from gateway.policy.match import Matcher
from gateway.policy.obligations import Obligations
from gateway.types.decisions import ApprovalClause, DecisionEffect
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
    shadow: bool = False
    risk: Risk | None = None
    obligations: Obligations = field(default_factory=Obligations)
    approval: ApprovalClause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The rules that are about one tool, strongest effect first."""

    enforced: tuple[CompiledRule, ...]
    raising: tuple[CompiledRule, ...]
    shadow: tuple[CompiledRule, ...]


def candidates(rules: Iterable[CompiledRule], tool: str, server: str) -> Candidates:
    """Pick the rules that are about a tool."""
    about = sorted(
        (rule for rule in rules if rule.matcher.selects_tool(tool, server)),
        key=lambda rule: STRENGTH.index(rule.effect),
    )
    enforced = tuple(rule for rule in about if not rule.shadow)
    return Candidates(
        enforced=enforced,
        raising=tuple(rule for rule in enforced if rule.risk is not None),
        shadow=tuple(rule for rule in about if rule.shadow and rule.effect is not None),
    )
