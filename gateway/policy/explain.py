"""Why a call was decided as it was: every rule about the target, and what it said."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.policy import clauses
from gateway.policy.cel import ConditionError
from gateway.policy.compiled import STRENGTH, CompiledRule
from gateway.policy.engine import CompiledPolicy
from gateway.policy.request import PolicyRequest
from gateway.policy.view import View
from gateway.types.decisions import Decision, DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.tools import Kind, Risk

_LONGEST_CONDITION = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one rule said; `condition` is None when it wasn't reached or there is none."""

    effect: str  # deny | require_approval | allow | obligation
    rule: str
    place: str
    matched: bool
    why: str
    condition: bool | None = None
    failed: bool = False
    shadow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A decision, and the word of each rule: those about the target first, strongest first."""

    decision: Decision
    lines: tuple[Line, ...]

    def text(self) -> str:
        """Render for a terminal: the decision, then a line a rule in columns."""
        decision = self.decision
        by = f"by {decision.rule} ({decision.place})" if decision.rule else f"({decision.code})"
        rules = max((len(line.rule) for line in self.lines), default=0)
        rows = [f"{decision.effect} {by}"]
        if decision.approval is not None:
            rows.append(f"  needs {clauses.in_words(decision.approval)}")
        for line in self.lines:
            said = "ERROR" if line.failed else "MATCH" if line.matched else "no"
            note = f"{line.why} [shadow]" if line.shadow else line.why
            rows.append(f"  {line.effect:<16}  {line.rule:<{rules}}  {said:<5}  {note}".rstrip())
        return "\n".join(rows)

    def to_json(self) -> JsonObject:
        """Render for programs."""
        decision = self.decision
        return {
            "decision": decision.effect.value,
            "code": decision.code,
            "reason": decision.reason,
            "rule": decision.rule,
            "place": decision.place,
            "risk": decision.risk.value if decision.risk else None,
            "approval": clauses.to_json(decision.approval) if decision.approval else None,
            "rules": [
                {
                    "effect": line.effect,
                    "rule": line.rule,
                    "place": line.place,
                    "matched": line.matched,
                    "failed": line.failed,
                    "shadow": line.shadow,
                    "why": line.why,
                }
                for line in self.lines
            ],
        }


def explain(policy: CompiledPolicy, request: PolicyRequest, *, every: bool = False) -> Explanation:
    """Decide a request and say of every rule about its target why it matched, or why not.

    Rules that miss a resource or prompt are shown too, unless they name something else: its URI
    or server may be other than their author thought. With `every`, all rules are shown.
    """
    decision = policy.decide(request)
    lines = trace(policy, request, decision.risk)
    shown = {line.rule for line in lines}
    missed = (rule for rule in policy.rules if rule.id not in shown)
    near = [rule for rule in missed if every or _is_near(rule, request)]
    rest = sorted(near, key=lambda rule: STRENGTH.index(rule.effect))
    return Explanation(
        decision=decision, lines=(*lines, *(_missed(rule, request) for rule in rest))
    )


def trace(
    policy: CompiledPolicy, request: PolicyRequest, risk: Risk | None = None
) -> tuple[Line, ...]:
    """Evaluate every rule about the target on its own; `risk` is the class after raising."""
    view = policy.view(request)
    view.raise_to([risk] if risk is not None else [])
    about = policy.candidates(request.target)
    rules = sorted((*about.enforced, *about.shadow), key=lambda rule: STRENGTH.index(rule.effect))
    return tuple(_line(rule, view) for rule in rules)


def _is_near(rule: CompiledRule, request: PolicyRequest) -> bool:
    """Whether somebody may have meant the rule to be about such a target: tools have too many."""
    return request.kind is not Kind.TOOL and rule.matcher.kind in (None, request.kind)


def _missed(rule: CompiledRule, request: PolicyRequest) -> Line:
    """Say of a rule that was not evaluated why it is not about the target."""
    why = rule.matcher.why_not_target(request.target)
    if not why and rule.shadow and rule.effect is None:
        why = "an obligation in shadow mode demands nothing"
    return Line(
        effect=rule.effect or "obligation",
        rule=rule.id,
        place=rule.place,
        matched=False,
        why=why or "its arguments were weighed when the task began",
        shadow=rule.shadow,
    )


def _line(rule: CompiledRule, view: View) -> Line:
    condition: bool | None = None
    failed = False
    why = rule.matcher.why_not(view.request, view.risk)
    matched = not why
    if matched and rule.condition is not None:
        try:
            condition = matched = rule.condition.holds(view.scope())
        except ConditionError as error:
            failed, matched, why = True, False, f"{_when(rule)}: {error.message}"
    if not failed and not why:
        why = ", ".join(_reasons(rule, view, condition))
    return Line(
        effect=rule.effect or "obligation",
        rule=rule.id,
        place=rule.place,
        matched=matched,
        why=why,
        condition=condition,
        failed=failed,
        shadow=rule.shadow,
    )


def _reasons(rule: CompiledRule, view: View, condition: bool | None) -> Iterator[str]:
    if condition is False:
        yield _when(rule)
        return
    held = rule.matcher.why(view.request)
    if held:
        yield held
    if condition:
        yield "when true"
    if not held and condition is None:
        yield "unconditional"


def _when(rule: CompiledRule) -> str:
    text = " ".join(rule.condition.text.split()) if rule.condition else ""
    if len(text) > _LONGEST_CONDITION:
        text = text[: _LONGEST_CONDITION - 4] + " ..."
    return f"when: {text}"


def strongest_shadow(decision: Decision) -> DecisionEffect | None:
    """Return what the rules in shadow mode would have made of the call, or None."""
    order = list(DecisionEffect)
    effects = [each.effect for each in decision.shadow]
    return min(effects, key=order.index, default=None)
