"""Step 3: who acts, for which tenant, and do the contract's scopes hold?"""

from gateway.case import Case
from gateway.types.outcomes import Refusal, Status


def check(case: Case) -> Case | Refusal:
    """Refuse an actor without a tenant, or without a scope that the contract asks for."""
    if not case.actor.user or not case.actor.tenant:
        return Refusal(
            status=Status.UNAUTHENTICATED,
            code="no_tenant",
            reason="the credential names no user or no tenant",
        )
    missing = case.contract.scopes - case.actor.scopes
    if missing:
        needed = tuple(sorted(case.contract.scopes))
        return Refusal(
            status=Status.FORBIDDEN,
            code="insufficient_scope",
            reason=f"this tool needs the scope {', '.join(f'`{scope}`' for scope in needed)}",
            scopes=needed,
        )
    return case
