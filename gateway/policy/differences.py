"""How two words on one request differ though the decision is the same: what else they demand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway import jsontext
from gateway.policy.clauses import in_words
from gateway.policy.constraints import is_number
from gateway.policy.obligations import strength
from gateway.types.approvals import ApprovalClause, Factor
from gateway.types.decisions import Constraint, Decision, DecisionEffect, Limit, OutputPolicy
from gateway.types.json import Json
from gateway.types.leans import Lean
from gateway.types.tools import Risk


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Difference:
    """One thing that differs, in words for people, and which way it goes."""

    what: str
    lean: Lean


def differences(
    before: Decision, after: Decision, risks: tuple[Risk, Risk]
) -> tuple[Difference, ...]:
    """Say how two decisions with the same effect differ; `risks` are the classes of the call."""
    if before.effect is DecisionEffect.DENY:
        return ()
    return (
        *_risk(*risks),
        *_constraints(before.constraints, after.constraints),
        *_limits(before.limits, after.limits),
        *_output(before.output, after.output),
        *_approval(before.approval, after.approval),
    )


def of_all(found: Sequence[Difference]) -> Lean:
    """Return which way several differences go together: wider when one of them does."""
    leans = {each.lean for each in found}
    return next((lean for lean in Lean if lean in leans), Lean.OTHER)


def _risk(before: Risk, after: Risk) -> Iterator[Difference]:
    if before is not after:
        lean = Lean.WIDER if after.rank < before.rank else Lean.NARROWER
        yield Difference(what=f"class: {before} → {after}", lean=lean)


def _constraints(before: Sequence[Constraint], after: Sequence[Constraint]) -> Iterator[Difference]:
    old = {(each.pointer, each.kind): each for each in before}
    new = {(each.pointer, each.kind): each for each in after}
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key), new.get(key)
        what = f"`{key[1]}` of `{key[0]}`"
        if now is None and was is not None:
            yield Difference(what=f"{what}: {_shown(was)} → none", lean=Lean.WIDER)
        elif was is None and now is not None:
            yield Difference(what=f"{what}: none → {_shown(now)}", lean=Lean.NARROWER)
        elif was is not None and now is not None and not _same(was.value, now.value):
            lean = _bound(key[1], was.value, now.value)
            yield Difference(what=f"{what}: {_shown(was)} → {_shown(now)}", lean=lean)


def _bound(kind: str, was: Json, now: Json) -> Lean:
    if kind not in ("max", "min") or not is_number(was) or not is_number(now):
        return Lean.OTHER
    return Lean.WIDER if (now > was) is (kind == "max") else Lean.NARROWER


def _same(was: Json, now: Json) -> bool:
    return type(was) is type(now) and was == now


def _shown(constraint: Constraint) -> str:
    if constraint.expression:
        return f"`{constraint.expression}`"
    return jsontext.dump(constraint.value).decode()


def _limits(before: Sequence[Limit], after: Sequence[Limit]) -> Iterator[Difference]:
    old, new = {each.id: each for each in before}, {each.id: each for each in after}
    for id in dict.fromkeys((*old, *new)):
        was, now = old.get(id), new.get(id)
        if now is None and was is not None:
            yield Difference(what=f"limit `{id}`: {_per(was)} → none", lean=Lean.WIDER)
        elif was is None and now is not None:
            yield Difference(what=f"limit `{id}`: none → {_per(now)}", lean=Lean.NARROWER)
        elif was is not None and now is not None:
            yield from _limit(id, was, now)


def _limit(id: str, was: Limit, now: Limit) -> Iterator[Difference]:
    if (was.maximum, was.window_s) != (now.maximum, now.window_s):
        # What may be taken in the same time; of two that can't be told apart so, nobody knows.
        more = (now.maximum >= was.maximum, now.window_s <= was.window_s)
        less = (now.maximum <= was.maximum, now.window_s >= was.window_s)
        lean = Lean.WIDER if all(more) else Lean.NARROWER if all(less) else Lean.OTHER
        yield Difference(what=f"limit `{id}`: {_per(was)} → {_per(now)}", lean=lean)
    if _keys(was) != _keys(now):
        yield Difference(
            what=f"limit `{id}` counts for each {_keys(was)} → {_keys(now)}", lean=Lean.OTHER
        )
    if was.amount != now.amount:
        lean = Lean.WIDER if now.amount < was.amount else Lean.NARROWER
        yield Difference(what=f"what a call takes of limit `{id}`", lean=lean)


def _per(limit: Limit) -> str:
    window = "a run" if limit.is_of_run else f"{limit.window_s:g} s"
    return f"{limit.maximum:g} in {window}"


def _keys(limit: Limit) -> str:
    return ", ".join(part.partition("=")[0] for part in limit.key.split("|")) or "gateway"


def _output(before: OutputPolicy, after: OutputPolicy) -> Iterator[Difference]:
    if before.keep != after.keep:
        yield from _kept(before.keep, after.keep)
    old = {each.path: each.form for each in before.redact}
    new = {each.path: each.form for each in after.redact}
    for path in dict.fromkeys((*old, *new)):
        was, now = old.get(path), new.get(path)
        if was is not now:
            lean = Lean.WIDER if strength(now) < strength(was) else Lean.NARROWER
            yield Difference(what=f"`{path}` leaves {_form(was)} → {_form(now)}", lean=lean)
    rows = {(each.path, each.where) for each in before.rows}
    others = {(each.path, each.where) for each in after.rows}
    for path, where in sorted(rows - others):
        yield Difference(what=f"{_of_rows(path)} need not meet `{where}` any more", lean=Lean.WIDER)
    for path, where in sorted(others - rows):
        yield Difference(what=f"{_of_rows(path)} have to meet `{where}`", lean=Lean.NARROWER)


def _kept(before: Sequence[str], after: Sequence[str]) -> Iterator[Difference]:
    if not after:
        yield Difference(what="all fields leave, not only those of `keep`", lean=Lean.WIDER)
    elif not before:
        yield Difference(what="only the fields of `keep` leave", lean=Lean.NARROWER)
    else:
        for path in sorted({*after} - {*before}):
            yield Difference(what=f"`{path}` leaves", lean=Lean.WIDER)
        for path in sorted({*before} - {*after}):
            yield Difference(what=f"`{path}` leaves no more", lean=Lean.NARROWER)


def _form(form: object) -> str:
    return "as it is" if form is None else f"as {form}"


def _of_rows(path: str) -> str:
    return f"rows of `{path}`" if path else "documents"


def _approval(before: ApprovalClause | None, after: ApprovalClause | None) -> Iterator[Difference]:
    if before == after or before is None or after is None:
        return
    found = [*_who(before, after), *_terms(before, after)]
    if found:
        yield from found
    else:  # a field that nothing above looks at
        what = f"approval: {in_words(before)} → {in_words(after)}"
        yield Difference(what=what, lean=Lean.OTHER)


def _who(before: ApprovalClause, after: ApprovalClause) -> Iterator[Difference]:
    old, new = _by_name(before), _by_name(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if now is None and was is not None:
            what = f"approval by {was.count} of `{name}` is not needed any more"
            yield Difference(what=what, lean=Lean.WIDER)
        elif was is None and now is not None:
            what = f"approval by {now.count} of `{name}` is needed too"
            yield Difference(what=what, lean=Lean.NARROWER)
        elif was is not None and now is not None:
            yield from _factor(name, was, now)


def _by_name(clause: ApprovalClause) -> Mapping[str, Factor]:
    return {each.name: each for each in clause.factors}


def _factor(name: str, was: Factor, now: Factor) -> Iterator[Difference]:
    if was.count != now.count:
        lean = Lean.WIDER if now.count < was.count else Lean.NARROWER
        yield Difference(what=f"`{name}`: {was.count} → {now.count} people", lean=lean)
    old, new = {*was.roles, *was.users}, {*now.roles, *now.users}
    for who in sorted(new - old):
        yield Difference(what=f"`{name}`: `{who}` may approve", lean=Lean.WIDER)
    for who in sorted(old - new):
        yield Difference(what=f"`{name}`: `{who}` may not approve any more", lean=Lean.NARROWER)


def _terms(before: ApprovalClause, after: ApprovalClause) -> Iterator[Difference]:
    told: Sequence[tuple[str, Json, Json, float]] = (
        # positive: more is let through
        (
            "the requester may approve",
            before.requester_may_approve,
            after.requester_may_approve,
            after.requester_may_approve - before.requester_may_approve,
        ),
        (
            "`min_assurance`",
            before.min_assurance,
            after.min_assurance,
            before.min_assurance.rank - after.min_assurance.rank,
        ),
        ("`deny_count`", before.denials, after.denials, after.denials - before.denials),
        (
            "`not_before` in s",
            before.not_before_s,
            after.not_before_s,
            before.not_before_s - after.not_before_s,
        ),
        (
            "`expires` in s",
            before.expires_s,
            after.expires_s,
            after.expires_s - before.expires_s,
        ),
        ("`use_within` in s", before.use_within_s, after.use_within_s, 0),
        ("`fallback`", before.fallback, after.fallback, 0),
    )
    for what, was, now, more in told:
        if was != now:
            lean = Lean.WIDER if more > 0 else Lean.NARROWER if more < 0 else Lean.OTHER
            yield Difference(what=f"{what}: {_said(was)} → {_said(now)}", lean=lean)
    if before.escalation != after.escalation:
        yield Difference(what="`escalate` names others or other times", lean=Lean.OTHER)


def _said(value: Json) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case _:
            return str(value)
