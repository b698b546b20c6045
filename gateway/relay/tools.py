"""Tools of the gateway's own, which agents see beside those of the servers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from gateway.relay.errands import Errands
from gateway.results import envelope
from gateway.steps import gate
from gateway.types.approvals import Approval, ApprovalState
from gateway.types.calls import Method, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.outcomes import Answer, Refusal, Status

WAIT: Final = "gateway_wait"
_ID: Final = "approval_id"
_LONGEST_S: Final = 3600

_DEFINITION: Final[JsonObject] = {
    "name": WAIT,
    "title": "Wait for an approval",
    "description": "Waits until a person has decided about a call that was answered with "
    "`approval_pending`, or for at most `max_seconds`. It carries nothing out: once the request is "
    "approved, call the tool itself again with the same arguments.",
    "inputSchema": {
        "type": "object",
        "properties": {
            _ID: {"type": "string", "description": "the `approval_id` of the pending answer"},
            "max_seconds": {"type": "integer", "minimum": 0, "maximum": _LONGEST_S},
        },
        "required": [_ID],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "_meta": {"weighbridge/tool": {"own": True, "effect": "read", "risk": "low"}},
}
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
class OwnTools:
    """Lists and answers them; whoever sees none of them is told that there is no such tool."""

    are_offered: Callable[[], bool]
    """Whether any rule in force has calls held, and the configuration shows own tools."""
    find: Callable[[str], Awaitable[Approval | None]]
    """Read a request; raises StoreUnavailable."""
    wait: Callable[[ProposedCall, Approval, float | None], Awaitable[Approval]]
    """Wait for a decision, as long as the caller has patience and no longer than given."""
    errands: Errands
    """Tasks of the gateway's own."""

    def definitions(self) -> tuple[JsonObject, ...]:
        """Return what tools/list shows of them."""
        return (_DEFINITION,) if self.are_offered() else ()

    def has(self, call: ProposedCall) -> bool:
        """Whether a call is of one of them, or about a task of our own."""
        if call.method is Method.CALL_TOOL:
            return call.name == WAIT and self.are_offered()
        return call.method.is_task and self.errands.find(call) is not None

    async def handle(self, call: ProposedCall) -> Answer | Refusal:
        """Answer such a call; raises StoreUnavailable."""
        errand = self.errands.find(call) if call.method.is_task else None
        return await (self._wait(call) if errand is None else self.errands.handle(call, errand))

    async def _wait(self, call: ProposedCall) -> Answer | Refusal:
        wanted, at_most = call.arguments.get(_ID), call.arguments.get("max_seconds")
        is_number = isinstance(at_most, int) and not isinstance(at_most, bool)
        if not isinstance(wanted, str) or not (at_most is None or is_number):
            return _invalid(f"`{_ID}` is a text, and `max_seconds` a whole number")
        approval = await self.find(wanted)
        if approval is None or not _is_theirs(approval, call):
            return _invalid(f"`{envelope.shown(wanted)}` is no request of yours")
        at_most_s = float(at_most) if isinstance(at_most, int) else None
        return _told(await self.wait(call, approval, at_most_s))


def _is_theirs(approval: Approval, call: ProposedCall) -> bool:
    who = call.principal
    asked = (approval.tenant, approval.user, approval.client)
    return asked == (who.tenant, who.user, who.client)


def _told(approval: Approval) -> Answer:
    told = gate.told(approval)
    said: JsonObject = {
        _ID: approval.approval_id,
        "status": approval.state.value,
        "tool": approval.tool,
        "next": _NEXT[approval.state],
    }
    if told.decide_by:
        said["decide_by"] = told.decide_by
    if approval.closed_reason:
        said["reason"] = approval.closed_reason
    text = f"{approval.approval_id} is {approval.state.value}: {_NEXT[approval.state]}."
    content: list[Json] = [{"type": "text", "text": text}]
    return Answer(result={"content": content, "structuredContent": said})


def _invalid(reason: str) -> Refusal:
    return Refusal(status=Status.INVALID_ARGUMENTS, code="approval_id", reason=reason)
