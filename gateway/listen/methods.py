"""The requests that the fronts serve, and what each is about."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.listen.rpc import RpcError
from gateway.protocol.words import INVALID_PARAMS
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Kind, Listed

LISTS: Final[Mapping[str, Listed]] = MappingProxyType(
    {
        "tools/list": Listed.TOOLS,
        "resources/list": Listed.RESOURCES,
        "resources/templates/list": Listed.TEMPLATES,
        "prompts/list": Listed.PROMPTS,
    }
)
# Answered with a result of a server, in both eras.
HANDLED: Final[Mapping[str, Method]] = MappingProxyType(
    {
        method.value: method
        for method in (
            Method.CALL_TOOL,
            Method.READ_RESOURCE,
            Method.GET_PROMPT,
            Method.COMPLETE,
        )
    }
)
# The extension for tasks has no form in the handshake era.
HANDLED_STATELESS: Final[Mapping[str, Method]] = MappingProxyType(
    {**HANDLED, **{method.value: method for method in Method if method.is_task}}
)

DISCOVER: Final = "server/discover"
LISTEN: Final = "subscriptions/listen"
INITIALIZE: Final = "initialize"
SET_LEVEL: Final = "logging/setLevel"
SUBSCRIBE: Final = Method.SUBSCRIBE.value
UNSUBSCRIBE: Final = "resources/unsubscribe"

CANCELLED: Final = "notifications/cancelled"
INITIALIZED: Final = "notifications/initialized"
MESSAGE: Final = Method.LOG.value
PROGRESS: Final = "notifications/progress"
UPDATED: Final = "notifications/resources/updated"
ELICITED: Final = "notifications/elicitation/complete"  # in 2025-11-25 alone
TASK: Final = "notifications/tasks"  # of the extension for tasks
CHANGED: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        Kind.TOOL: "notifications/tools/list_changed",
        Kind.RESOURCE: "notifications/resources/list_changed",
        Kind.PROMPT: "notifications/prompts/list_changed",
    }
)

# Every method of MCP that a client may send; anything else is the sender's own text.
KNOWN: Final = frozenset(
    {
        *LISTS,
        *HANDLED_STATELESS,
        DISCOVER,
        LISTEN,
        INITIALIZE,
        "ping",
        SET_LEVEL,
        SUBSCRIBE,
        UNSUBSCRIBE,
        CANCELLED,
        INITIALIZED,
        PROGRESS,
        "notifications/roots/list_changed",
    }
)

# The member of `params` that names what a request is about; HTTP mirrors some in `Mcp-Name`.
NAMED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {
        Method.CALL_TOOL: "name",
        Method.GET_PROMPT: "name",
        Method.READ_RESOURCE: "uri",
        Method.SUBSCRIBE: "uri",
        **{method: "taskId" for method in Method if method.is_task},
    }
)
_REFERENCES: Final = {"ref/prompt": "name", "ref/resource": "uri"}


def target(method: Method, params: JsonObject) -> str | RpcError:
    """Return the name of the tool or prompt, the URI, or the id of the task."""
    if method is Method.COMPLETE:
        return _completed(params)
    member = NAMED_BY[method]
    return _text(params.get(member), f"params.{member}")


def _completed(params: JsonObject) -> str | RpcError:
    argument = params.get("argument")
    if (
        not isinstance(argument, dict)
        or not isinstance(argument.get("name"), str)
        or not isinstance(argument.get("value"), str)
    ):
        return _malformed("`params.argument` must be an object with the texts `name` and `value`")
    reference = params.get("ref")
    kind = reference.get("type") if isinstance(reference, dict) else None
    member = _REFERENCES.get(kind) if isinstance(kind, str) else None
    if member is None or not isinstance(reference, dict):
        return _malformed("`params.ref.type` must be `ref/prompt` or `ref/resource`")
    return _text(reference.get(member), f"params.ref.{member}")


def _text(value: Json, where: str) -> str | RpcError:
    if isinstance(value, str) and value:
        return value
    return _malformed(f"`{where}` must be a non-empty string")


def _malformed(message: str) -> RpcError:
    return RpcError(code=INVALID_PARAMS, message=message)
