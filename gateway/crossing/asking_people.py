"""What approvers are shown of a judged case."""

from typing import Final

from gateway.approvals.masking import Sight
from gateway.approvals.presenting import Asked, present
from gateway.case import Case
from gateway.events.profile import RESULTS
from gateway.events.redact import Redactor
from gateway.operations import keys
from gateway.types.json import JsonObject
from gateway.types.operations import Operation
from gateway.types.tools import Contract, Sensitivity

NOTE: Final = "weighbridge/note"  # key in `_meta`: why a host or its model wants the call
_LONGEST_NOTE: Final = 2000  # characters


def presented(
    case: Case, operation: Operation, before: JsonObject | None, redactor: Redactor
) -> JsonObject:
    """Return the document for a case; `before` are the arguments of what its request replaces.

    Approvers see personal data: they decide whom something is done to. Secrets nobody sees.
    """
    contract, tenant = case.contract, operation.tenant
    asked = Asked(
        contract=contract,
        server=case.tool.server,
        arguments=_sight(case.arguments or {}, contract, redactor, tenant),
        before=None if before is None else _sight(before, contract, redactor, tenant),
        effect=case.effect,
        risk=case.risk,
        risk_reason=_risk_reason(case),
        actor=case.actor,
        run_id=case.run_id,
        phase=str(case.phase),
        rule=case.decision.rule,
        reason=case.decision.reason,
        provenance=tuple(dict.fromkeys(filter(None, (case.held, *case.notes)))),
        note=_note(case.call.meta, redactor, tenant),
    )
    return present(asked, lambda value: redactor.digest(value, tenant=tenant))


def _risk_reason(case: Case) -> str:
    raised = case.decision.risk
    return "by the policy" if raised is not None and raised is case.risk else case.risk_reason


def _sight(arguments: JsonObject, contract: Contract, redactor: Redactor, tenant: str) -> Sight:
    """Return arguments without the key that the gateway puts over them, and how they are seen."""
    arguments = keys.own(arguments, contract.idempotency.inject)
    secret = {
        pointer: kind for pointer, kind in contract.sensitive.items() if kind is Sensitivity.SECRET
    }
    safe = redactor.value(arguments, tenant=tenant, tags=secret, profile=RESULTS).value
    return Sight(whole=arguments, safe=safe if isinstance(safe, dict) else {})


def _note(meta: JsonObject, redactor: Redactor, tenant: str) -> str:
    """Return the words of the agent; a longer text is cut, and says so."""
    note = meta.get(NOTE)
    if not isinstance(note, str):
        return ""
    safe = redactor.text(note, tenant=tenant, profile=RESULTS)
    return f"{safe[:_LONGEST_NOTE]}…" if len(safe) > _LONGEST_NOTE else safe
