"""What policy writes into arguments of which not all is known, and what a run counts of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Protocol

from gateway import jsontext
from gateway.case import Case
from gateway.contracts.schemas import ToolSchemas
from gateway.operations import keys
from gateway.policy import constraints
from gateway.replay.oracle import Oracle
from gateway.replay.reads import Path
from gateway.replay.then import Then
from gateway.replay.types import Missing, Recorded
from gateway.replay.unknown import Unknown, touches
from gateway.runs import limits
from gateway.steps import constrain
from gateway.steps.contract import injected
from gateway.types.decisions import Constraint, DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import Run
from gateway.types.values import replaced

UNSATISFIABLE: Final = "constraint_unsatisfiable"


class Judge(Protocol):
    """Who can say whether arguments match a schema though not all of them is known."""

    @property
    def oracle(self) -> Oracle:
        """Who is asked about what is unknown."""
        ...

    def valid(self, case: Case, judged: JsonObject, unknown: Unknown, *, readers: str) -> bool:
        """Say whether they match."""
        ...


def apply(
    case: Case, call: Recorded, then: Then | None, paths: Mapping[Path, Missing], judge: Judge
) -> Case | Refusal:
    """Write constraints as far as they and their arguments are known, and take of the run."""
    decision = case.decision
    if decision.effect is DecisionEffect.DENY or not call.unknown:
        return constrain.apply(case)
    if not decision.constraints:
        return _limited(case, call, judge)
    if then is not None and _alike(case, call, then):
        if call.judged.code == UNSATISFIABLE:
            return _refused(case, call.judged.reason)
        return _limited(_written(case, call), call, judge)
    if any(_is_open(each, call, judge) for each in decision.constraints):
        missing = [replaced(each, readers=("constrain",)) for each in paths.values()]
        if not judge.oracle.ask(("fits",), (True, False), missing):
            return _refused(case, "a constraint on an unknown argument")
        return _limited(case, call, judge)
    return _fitted(case, call, judge)


def _fitted(case: Case, call: Recorded, judge: Judge) -> Case | Refusal:
    """Write constraints on known arguments beside unknown ones."""
    try:
        arguments = constraints.apply(case.arguments or {}, case.decision.constraints)
        judged = keys.filled(arguments, injected(case.contract))
    except (constraints.ConstraintError, keys.KeyRefused) as error:
        return _refused(case, str(error))
    if not judge.valid(case, judged, call.unknown, readers="constrained"):
        return _refused(case, "the constrained arguments do not match the tool's schema")
    schemas = case.revision.schemas_for(case.contract)
    passing = ToolSchemas(input=replace(schemas.input, judge=_passes), output=schemas.output)
    revision = case.revision.swapped(schemas={case.contract.pin: passing}, templates={})
    written = constrain.apply(replaced(case, revision=revision))
    if isinstance(written, Refusal):
        return written
    return _limited(replaced(written, revision=case.revision), call, judge)


def _passes(value: Json) -> bool:
    del value
    return True


def _written(case: Case, call: Recorded) -> Case:
    return case if call.final is None else replaced(case, arguments=call.final)


def _is_open(constraint: Constraint, call: Recorded, judge: Judge) -> bool:
    """Whether a constraint, or what it is about, is unknown."""
    pointer = constraint.pointer.partition("/*")[0]
    name = (constraint.rule, constraint.pointer, constraint.kind)
    return bool(touches(call.unknown, pointer)) or name in judge.oracle.opaque


def _alike(case: Case, call: Recorded, then: Then) -> bool:
    """Whether the same constraints were written into the same arguments of the same schema."""
    now = [(each.pointer, each.kind, each.rule) for each in case.decision.constraints]
    before = [(each.pointer, each.kind, each.rule) for each in call.judged.constraints]
    new, old = case.contract, then.case.contract
    return (
        now == before
        and new.input_schema == old.input_schema
        and new.provenance == old.provenance
        and new.idempotency.inject == old.idempotency.inject
        and all(_source(case, id) == _of(then, id) for id in {rule for *_, rule in now})
    )


def _source(case: Case, id: str) -> object:
    rules = case.revision.policy.rules
    return next((each.obligations.constraints for each in rules if each.id == id), None)


def _of(then: Then, id: str) -> object:
    rule = then.rule(id)
    return rule.obligations.constraints if rule is not None else None


def _limited(case: Case, call: Recorded, judge: Judge) -> Case | Refusal:
    """Take of the limits of the run; an unknown amount is the one that was taken then."""
    run, decision, sent = case.run, case.decision, case.arguments
    if run is None or sent is None:
        return case
    counted: Json = sent
    for name, pointer in _sums(case, run):
        if not touches(call.unknown, pointer):
            continue
        taken = next((each.amount for each in call.judged.limits if each.id == name), None)
        if taken is None:
            judge.oracle.opaque.add((f"runs.{run.template}", name, "limit"))
        if any(each == pointer for each in call.unknown):
            counted = jsontext.replace(counted, pointer, taken or 0.0)
    known = counted if isinstance(counted, dict) else sent
    bare = replaced(case, arguments=known, decision=replaced(decision, constraints=()))
    limited = constrain.apply(bare)
    if isinstance(limited, Refusal):
        return limited
    full = replaced(limited.decision, constraints=decision.constraints)
    return replaced(limited, arguments=sent, decision=full)


def _sums(case: Case, run: Run) -> list[tuple[str, JsonPointer]]:
    template = case.revision.templates.get(run.template)
    money = [each for each in template.limits if each.kind == "money"] if template else []
    names = [each for each in limits.TAKEN if each not in (limits.CALLS, limits.WRITES)]
    return [(name, each.argument) for name, each in zip(names, money, strict=False)]


def _refused(case: Case, reason: str) -> Refusal:
    return Refusal(status=Status.DENIED, code=UNSATISFIABLE, rule=case.decision.rule, reason=reason)
