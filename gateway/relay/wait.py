"""`gateway_wait`: an agent that would rather wait for a decision than do something else."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from gateway.relay.tools import OwnTool, define, invalid, told
from gateway.results import envelope
from gateway.steps import gate
from gateway.types.approvals import Approval, ApprovalState
from gateway.types.calls import ProposedCall
from gateway.types.json import JsonObject
from gateway.types.outcomes import Answer, Refusal
from gateway.types.own import Own

_ID: Final = "approval_id"
_LONGEST_S: Final = 3600

_DEFINITION: Final = define(
    Own.WAIT,
    "Wait for an approval",
    "Waits until a person has decided about a call that was answered with `approval_pending`, or "
    "for at most `max_seconds`. It carries nothing out: once the request is approved, call the "
    "tool itself again with the same arguments.",
    {
        _ID: {"type": "string", "description": "the `approval_id` of the pending answer"},
        "max_seconds": {"type": "integer", "minimum": 0, "maximum": _LONGEST_S},
    },
    required=[_ID],
)
_NEXT: Final = {
    ApprovalState.PENDING: "nobody has decided; go on with other work, or end your turn",
    ApprovalState.APPROVED: "call the tool again with the same arguments",
    ApprovalState.CONSUMED: "the call was sent; calling again with the same arguments tells how it "
    "ended",
    ApprovalState.DENIED: "do not repeat the call; calling again with the same arguments tells why",
    ApprovalState.EXPIRED: "calling the tool again with the same arguments asks anew",
    ApprovalState.CANCELLED: "calling the tool again with the same arguments asks anew",
    ApprovalState.SUPERSEDED: "another request has taken its place; call the tool again for it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Waits for requests of whoever calls; those of others are not there."""

    find: Callable[[str], Awaitable[Approval | None]]
    """Read a request; raises StoreUnavailable."""
    wait: Callable[[ProposedCall, Approval, float | None], Awaitable[Approval]]
    """Wait for a decision, as long as the caller has patience and no longer than given."""

    def tool(self, is_offered: Callable[[], bool]) -> OwnTool:
        """Return the tool."""
        return OwnTool(definition=_DEFINITION, is_offered=is_offered, answer=self._answer)

    async def _answer(self, call: ProposedCall) -> Answer | Refusal:
        wanted, at_most = str(call.arguments[_ID]), call.arguments.get("max_seconds")
        approval = await self.find(wanted)
        if approval is None or not _is_theirs(approval, call):
            return invalid(f"`{envelope.shown(wanted)}` is no request of yours", code=_ID)
        at_most_s = float(at_most) if isinstance(at_most, int | float) else None
        return _told(await self.wait(call, approval, at_most_s))


def _is_theirs(approval: Approval, call: ProposedCall) -> bool:
    who = call.principal
    asked = (approval.tenant, approval.user, approval.client)
    return asked == (who.tenant, who.user, who.client)


def _told(approval: Approval) -> Answer:
    seen = gate.told(approval)
    said: JsonObject = {
        _ID: approval.approval_id,
        "status": approval.state.value,
        "tool": approval.tool,
        "next": _NEXT[approval.state],
    }
    if seen.decide_by:
        said["decide_by"] = seen.decide_by
    if approval.closed_reason:
        said["reason"] = approval.closed_reason
    return told(f"{approval.approval_id} is {approval.state.value}: {_NEXT[approval.state]}.", said)
