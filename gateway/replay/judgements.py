"""From verdicts to judgements: what an event would say of them, and what lies behind it."""

from gateway.case import Verdict
from gateway.replay.types import Judgement, Rows, Taken, Written
from gateway.types.approvals import ApprovalClause
from gateway.types.decisions import Constraint, Decision, DecisionEffect, Limit, RowFilter
from gateway.types.outcomes import Status
from gateway.types.values import maker

_judgement = maker(Judgement)


def judgement(verdict: Verdict) -> Judgement:
    """Return what a verdict says, in the members that events have."""
    case, refusal = verdict.case, verdict.refusal
    decision, output = case.decision, case.decision.output
    is_denied = refusal is not None or decision.effect is DecisionEffect.DENY
    clause = decision.approval
    return _judgement(
        effect=DecisionEffect.DENY if is_denied else decision.effect,
        status=refusal.status if refusal is not None else Status.OK,
        code=(refusal.code if refusal is not None else "") or decision.code,
        reason=refusal.reason if refusal is not None else decision.reason,
        rule=(refusal.rule if refusal is not None else "") or decision.rule,
        place=decision.place,
        matched=decision.matched,
        does=case.effect if case.is_classified else None,
        risk=case.risk if case.is_classified else None,
        phase=str(case.phase),
        constraints=tuple(map(_written, decision.constraints)) if decision.constraints else (),
        limits=tuple(map(_taken, decision.limits)) if decision.limits else (),
        keep=output.keep,
        redact={each.path: str(each.form) for each in output.redact},
        rows=tuple(map(_rows, output.rows)) if output.rows else (),
        people=_people(clause) if clause is not None else "",
        quorum=clause.quorum if clause is not None else 0,
        shadow=_shadow(decision) if decision.shadow else (),
    )


def _written(constraint: Constraint) -> Written:
    return Written(
        pointer=constraint.pointer,
        kind=constraint.kind,
        rule=constraint.rule,
        value=constraint.value,
        expression=constraint.expression,
    )


def _taken(limit: Limit) -> Taken:
    return Taken(
        id=limit.id,
        rule=limit.rule,
        amount=limit.amount,
        key=limit.key,
        maximum=limit.maximum,
        window_s=limit.window_s,
    )


def _rows(condition: RowFilter) -> Rows:
    return Rows(path=condition.path, where=condition.where, rule=condition.rule)


def _people(clause: ApprovalClause) -> str:
    return ", ".join(
        f"{each.count} of {' or '.join((*each.roles, *each.users)) or each.name}"
        for each in clause.factors
    )


def _shadow(decision: Decision) -> tuple[tuple[str, str], ...]:
    return tuple((each.rule, str(each.effect)) for each in decision.shadow)
