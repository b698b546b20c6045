"""What reads that are alike have in common, laid by one that went all the way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.case import Case
from gateway.contracts.schemas import Schema
from gateway.crossing.usual import Forms, Usual
from gateway.policy.request import PolicyRequest
from gateway.precedents import Admission, admission, reads_arguments
from gateway.steps import policy
from gateway.telemetry.stencils import Stencil
from gateway.types.calls import Caller, Era, Method, Nobody, ProposedCall
from gateway.types.decisions import Decision
from gateway.types.runs import Phase
from gateway.types.values import replaced

_CALL_TOOL: Final = Method.CALL_TOOL

Key: TypeAlias = tuple[str, int, Era, str, str]
"""Of whom and what: tool, actor, and how its caller speaks."""
Inside: TypeAlias = tuple[Key, Phase, bool]
"""The same where runs are looked for: the phase, and whether there is a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """What holds for all calls that are like one which was allowed, sent and answered."""

    case: Case  # of that call: its tool, contract, actor and revision are those of all
    admission: Admission
    output: Schema | None
    request: PolicyRequest  # but for the arguments and the time
    decides: Callable[[PolicyRequest], Decision] | None  # None: one decision is for all of them
    is_placed: bool  # the run of each call is looked for
    usual: Usual
    forms: Forms
    stencil: Stencil
    deadline_s: float
    maximum: int  # bytes of a result


def key_of(call: ProposedCall) -> Key:
    """Return what calls have to share to be on one track."""
    caller: Caller = call.caller
    actor = call.principal.actor  # is held by its track, so that its id is nobody else's
    return call.name, id(actor), caller.era, caller.transport, caller.protocol_version


def is_usual(case: Case, *, hears_logs: Callable[[Case], bool]) -> bool:
    """Whether reads like this one need nothing on their way but what is done on a track.

    `Forms` say the same of their events and of what decides about them, a `Stencil` of their spans.
    """
    contract, revision, call = case.contract, case.revision, case.call
    if call.method is not _CALL_TOOL or not case.is_plain_read or case.leaves_traces:
        return False
    if case.held or case.notes or case.decision.risk is not None or case.injected is not None:
        return False
    if contract.audit.seal or contract.ensure or contract.sensitive_results:
        return False
    if reads_arguments(contract) or contract.idempotency.is_cancel_safe or revision.reads_taint:
        return False
    if case.run is not None and case.run.parent:
        return False  # who works for another one is made anew for each call
    return call.caller.era is Era.MODERN or not hears_logs(case)


def laid(
    case: Case,
    usual: Usual,
    forms: Forms,
    stencil: Stencil,
    *,
    is_placed: bool,
    deadline_s: float,
    maximum: int,
) -> Track | None:
    """Return the track of calls like a usual read that was answered, or None for want of one."""
    asked = policy.request(case)
    is_settled = case.run is None and case.revision.policy.is_settled(asked)
    if is_settled and case.revision.policy.decide(asked) is not case.decision:
        return None
    # Nothing of that one call is kept: neither its values, nor the way to its caller.
    call = replaced(case.call, caller=Nobody(), arguments={}, params={}, meta={})
    return Track(
        case=replaced(case, call=call, arguments=None, run=None, passage=None),
        admission=admission(case),
        output=case.revision.schemas_for(case.contract).output,
        request=replaced(asked, arguments={}, run=None),
        decides=None if is_settled else case.revision.policy.decider(asked),
        is_placed=is_placed,
        usual=usual,
        forms=forms,
        stencil=stencil,
        deadline_s=deadline_s,
        maximum=maximum,
    )
