"""Step 6: does the phase of the run allow a call of this effect and class?"""

from gateway.case import Case
from gateway.runs import machine, moves
from gateway.runs.machine import Need, Terms
from gateway.runs.moves import Blocked
from gateway.store.times import microseconds
from gateway.types.causes import Cause
from gateway.types.outcomes import Refusal, Status
from gateway.types.runs import BindingKind, Passage, Run
from gateway.types.tools import Effect
from gateway.types.values import maker, replaced

_terms, _need, _passage = maker(Terms), maker(Need), maker(Passage)
# Names of the module, as every call in a run looks at them.
_READ, _CALLER, _PRINCIPAL = Effect.READ, Cause.CALLER, BindingKind.PRINCIPAL


def check(case: Case) -> Case | Refusal:
    """Refuse what the phase has no room for, and note what a call asks of its run."""
    if case.run is not None:
        return _within(case, case.run)
    if machine.allows(case.phase, case.effect, case.risk):
        return case
    return Refusal(
        status=Status.PHASE_BLOCKED,
        code="phase_blocked",
        reason=f"the phase `{case.phase}` allows no {case.effect} of class {case.risk}",
    )


def _within(case: Case, run: Run) -> Case | Refusal:
    template = case.revision.templates.get(run.template)
    need = _needed(case)
    if run.template and template is None and need.effect is not _READ:
        return Refusal(
            status=Status.PHASE_BLOCKED,
            code="unknown_template",
            reason=f"the template `{run.template}` of the run is not in force",
            next="tell the administrator, or hand the run over",
        )
    terms = _terms(
        template=template,
        kind=case.bound_by or _PRINCIPAL,
        reads_while_paused=case.reads_while_paused,
    )
    # Guards beware of what the actor has read in other runs too; the run itself is as it is.
    is_as_weighed = run.is_tainted is case.is_tainted
    weighed = run if is_as_weighed else replaced(run, is_tainted=case.is_tainted)
    met = machine.weigh(weighed, need, terms, now=microseconds(case.facts.now))
    if isinstance(met, Blocked):
        return moves.refusal(met)
    passage = _passage(run=run, move_to=met.move_to, only=met.only)
    return replaced(case, phase=met.phase, passage=passage)


def _needed(case: Case) -> Need:
    # A task was let through when its call was: asking after it, or ending it, begins nothing.
    effect = _READ if case.call.method.is_task else case.effect
    cause = Cause(case.call.cause) if case.call.cause else _CALLER
    return _need(effect=effect, risk=case.risk, tool=case.tool.key, cause=cause)
