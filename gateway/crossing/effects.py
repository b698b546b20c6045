"""What is known of a side effect when an attempt is over, for the event that tells it."""

from gateway.case import Case
from gateway.crossing.settle import Ending
from gateway.events.effects import Effect
from gateway.types.json import Json
from gateway.types.outcomes import Answer


def effect_of(case: Case, end: Ending, *, old: Json = None, late: bool = False) -> Effect:
    """Return the effect of an operation; `old` is the data of the read before the call.

    Of an answer that was kept from leaving, what its server sent is told: it took place all the
    same.
    """
    if case.operation is None:
        raise ValueError("only operations have effects")
    outcome = end.outcome
    return Effect(
        operation=case.operation,
        contract=case.contract,
        executed=end.executed,
        state=end.state,
        status=outcome.status,
        arguments=case.arguments or {},
        result=outcome.result if isinstance(outcome, Answer) else outcome.original,
        old=old,
        evidence=end.evidence,
        verification=end.verification,
        late=late,
    )
