"""`gateway_repeat`: an agent that wants the same done once more says so, instead of doing it twice.

It stands for the earlier call, with its arguments and the reason: that one is weighed anew, and its
contract says whether anybody may repeat it (`idempotency.repeat`).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from gateway.crossing.remains import Gone, Remains
from gateway.relay.tools import OwnTool, define, invalid
from gateway.results import envelope
from gateway.types import repeats
from gateway.types.calls import Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation
from gateway.types.outcomes import Answer, Refusal
from gateway.types.own import Own
from gateway.types.tools import Tool

_ID: Final = "op_id"

_DEFINITION: Final = define(
    Own.REPEAT,
    "Repeat a call on purpose",
    "Carries a call that has ended out once more, with the same arguments. Only for what is meant "
    "to happen twice: a call without an answer is repeated by calling its tool again, which never "
    "does it twice.",
    {
        _ID: {
            "type": "string",
            "description": "the `op_id` in `_meta` of the earlier result",
            "pattern": "^op_[0-9A-HJKMNP-TV-Z]{26}$",
        },
        "reason": {
            "type": "string",
            "description": "why it is to happen twice; people see it",
            "minLength": 1,
            "maxLength": 1000,
            "pattern": "\\S",
        },
    },
    required=[_ID, "reason"],
    effect="write",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Finds the call that an operation was of; one of somebody else is not there."""

    operation: Callable[[str], Awaitable[Operation | None]]
    """Read an operation; raises StoreUnavailable."""
    remains: Remains
    tool_of: Callable[[str], Tool | None]
    """The tool of a `server.name`, as agents see it now."""
    own: Callable[[str, JsonObject], JsonObject]
    """The arguments of a tool (`server.name`) without what the gateway puts into them."""

    def tool(self, is_offered: Callable[[], bool]) -> OwnTool:
        """Return the tool."""
        return OwnTool(
            definition=_DEFINITION,
            is_offered=is_offered,
            answer=self._answer,
            stands_for=self._stands_for,
        )

    async def _stands_for(self, call: ProposedCall) -> ProposedCall | None:
        found = await self._found(call)
        if isinstance(found, Refusal):
            return None
        name, arguments = found
        said: JsonObject = {_ID: call.arguments[_ID], "reason": call.arguments["reason"]}
        return replace(
            call,
            name=name,
            arguments=arguments,
            meta={**call.meta, repeats.KEY: said},
            params={**call.params, "name": name, "arguments": arguments},
        )

    async def _answer(self, call: ProposedCall) -> Answer | Refusal:
        """Say why there is nothing to repeat."""
        found = await self._found(call)
        if isinstance(found, Refusal):
            return found
        return invalid(f"`{call.arguments[_ID]}` can't be repeated right now", code=_ID)

    async def _found(self, call: ProposedCall) -> tuple[str, JsonObject] | Refusal:
        """Return the name and the arguments of the earlier call."""
        wanted = str(call.arguments[_ID])
        op = await self.operation(wanted)
        not_theirs = invalid(f"`{envelope.shown(wanted)}` is no operation of yours", code=_ID)
        if op is None or op.tenant != call.principal.tenant:
            return not_theirs
        try:
            asked = self.remains.asked(op)
        except Gone:
            return invalid(f"what `{wanted}` was asked for is no longer kept", code=_ID)
        if not _is_of(asked.get("principal"), call.principal):
            return not_theirs
        tool = self.tool_of(op.tool)
        arguments = asked.get("asked", asked.get("arguments"))
        if tool is None or not isinstance(arguments, dict):
            return invalid(f"the tool of `{wanted}` is not there any more", code=_ID)
        return tool.exposed_name, self.own(op.tool, arguments)


def _is_of(asked: Json, principal: Principal) -> bool:
    """Whether an operation was asked for by a principal: all that its owner is."""
    return isinstance(asked, dict) and principal.owner == (
        asked.get("issuer"),
        asked.get("subject"),
        asked.get("client"),
        asked.get("tenant"),
        asked.get("user"),
        asked.get("method"),
    )
