"""What every connection to a downstream can do, and the words that both transports share."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import gateway
from gateway.errors import WeighbridgeError
from gateway.protocol.words import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LOG_LEVEL_KEY,
    METHOD_NOT_FOUND,
    VERSION_KEY,
)
from gateway.types.calls import Era
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Delivery, Execution, Failure, Rejected, Undelivered
from gateway.types.relay import Ear, Outbound, Presence
from gateway.types.tools import Listed

OnNote: TypeAlias = Callable[[str, Json], None]  # a notification that belongs to no call
Mask: TypeAlias = Callable[[str], str]
# Runs work in a task of a connection's; False, and nothing is run, when that is lost.
Start: TypeAlias = Callable[[Callable[[], Awaitable[None]]], bool]

CLIENT_INFO: JsonObject = {"name": "weighbridge", "version": gateway.__version__}
# The gateway can do nothing of its own: whatever is declared to a server, a caller declared.
NOTHING: JsonObject = {}
ASKS = ("elicitation", "sampling", "roots")  # capabilities that let a server ask

GRACE_S = 5.0  # so long a server that was told that nobody waits may still answer a write

_LONGEST_ID = 256  # characters

CHANGES: Mapping[str, tuple[Listed, ...]] = {  # which lists a note makes stale
    "notifications/tools/list_changed": (Listed.TOOLS,),
    "notifications/prompts/list_changed": (Listed.PROMPTS,),
    "notifications/resources/list_changed": (Listed.RESOURCES, Listed.TEMPLATES),
}
_TELLING = ("tools", "prompts", "resources")
CANCELLED = "notifications/cancelled"
PROGRESS = "notifications/progress"
MESSAGE = "notifications/message"
UPDATED = "notifications/resources/updated"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TASK = "notifications/tasks"
TASKS = "io.modelcontextprotocol/tasks"  # the extension


class ConnectFault(WeighbridgeError):
    """A server can't be reached or understood; `slow` faults don't mend themselves soon."""

    def __init__(
        self, message: str, *, failure: Failure = Failure.UNAVAILABLE, slow: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.failure = failure
        self.slow = slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a connection of the handshake era says about its client, once and for all calls."""

    capabilities: JsonObject = field(default_factory=dict[str, Json])
    log_level: str = ""


NOBODY = Declared()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a handshake settled."""

    era: Era
    version: str
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    server: str = ""  # the server's own name for itself: for display only

    @property
    def logs(self) -> bool:
        """Whether the server writes log messages."""
        return isinstance(self.capabilities.get("logging"), dict)

    @property
    def watches(self) -> bool:
        """Whether the server tells when a resource was updated."""
        about = self.capabilities.get("resources")
        return isinstance(about, dict) and about.get("subscribe") is True

    @property
    def has_tasks(self) -> bool:
        """Whether the server's work may go on as tasks."""
        extensions = self.capabilities.get("extensions")
        modern = self.era is Era.MODERN
        return modern and isinstance(extensions, dict) and TASKS in extensions

    @property
    def changes(self) -> JsonObject:
        """The changes that the server tells of, as `subscriptions/listen` asks for them."""
        offered = (self.capabilities.get(name) for name in _TELLING)
        return {
            f"{name}ListChanged": True
            for name, about in zip(_TELLING, offered, strict=True)
            if isinstance(about, dict) and about.get("listChanged") is True
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMcp:
    """The other side answered, but not with an MCP message; `status` is HTTP's."""

    status: int
    detail: str
    executed: Execution
    retry_after_s: float | None = None

    @property
    def undelivered(self) -> Undelivered:
        """What that means to a call."""
        return Undelivered(
            failure=Failure.UNAVAILABLE,
            executed=self.executed,
            detail=self.detail,
            retry_after_s=self.retry_after_s,
            status=self.status,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Why a connection can't be used any more."""

    reason: str
    slow: bool = False


Reply: TypeAlias = Delivery | NotMcp


class Connection(Protocol):
    """A way to one server. Owned by one supervisor task; `call` may be used from any task."""

    @property
    def lost(self) -> Lost | None:
        """Why it can't be used any more, or None; its owner is told once through `on_lost`."""
        ...

    @property
    def declared(self) -> Declared:
        """What a handshake says about the client."""
        ...

    @property
    def tainted(self) -> bool:
        """Whether a question had to be refused that may belong to a call which was given up."""
        ...

    async def exchange(self, method: str, params: JsonObject, *, deadline: float) -> Reply:
        """Send a handshake request; never cancelled towards the server, never repeated."""
        ...

    def adopt(self, spoken: Spoken) -> None:
        """Use what the handshake settled from now on."""
        ...

    def listen(self, uris: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> None:
        """Ask to be told when lists, these resources or tasks change, as far as it is offered.

        In the handshake era a resource is subscribed to by a request; `uris` are ignored, and there
        are no tasks.
        """
        ...

    async def heard(self) -> None:
        """Wait a little until what the server says by itself can be heard."""
        ...

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Send a notification, as well as it goes."""
        ...

    async def call(
        self,
        method: str,
        params: JsonObject,
        *,
        deadline: float,
        ear: Ear | None = None,
        capabilities: JsonObject = NOTHING,
        log_level: str = "",
        traceparent: str = "",
        headers: Mapping[str, str] | None = None,
        is_read: bool = False,
        may_cancel: bool = False,
        presence: Presence | None = None,
    ) -> Delivery:
        """Send one request and return its end.

        `deadline` is on the loop's clock, and rests only while the `ear` is asked something.
        `capabilities` and `log_level` are what a stateless request declares. Raises nothing but
        `CancelledError`. A server is told that nobody waits, as well as its revision allows, of a
        read and with `may_cancel`; else it sees no sign of it. When the caller leaves (`presence`)
        it is told at once, and its answer still counts for `GRACE_S`.
        """
        ...

    def quick(self, outbound: Outbound, deadline: float) -> Awaitable[Delivery] | None:
        """Send a read whose arguments are written, and return what awaits its end.

        As `call` does, where that needs nothing but what is there; else None, with nothing done.
        """
        ...

    async def close(self) -> None:
        """End it within the configured times; nothing of it is left afterwards."""
        ...


def never_quick(outbound: Outbound, deadline: float) -> None:
    """Send nothing: there is no quicker way than `call`."""
    del outbound, deadline


def request(request_id: int, method: str, params: JsonObject) -> JsonObject:
    """Return a JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, params: JsonObject | None = None) -> JsonObject:
    """Return a JSON-RPC notification."""
    message: JsonObject = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def stamp(
    params: JsonObject,
    spoken: Spoken | None,
    progress_token: int | None,
    capabilities: JsonObject = NOTHING,
    log_level: str = "",
    *,
    traceparent: str = "",
) -> JsonObject:
    """Add the `_meta` that belongs to this hop; the caller's own object stays as it is.

    Servers look for the trace context there (SEP-414).
    """
    given = params.get("_meta")
    own = given if isinstance(given, dict) else NOTHING
    if traceparent:
        own = {**own, "traceparent": traceparent}
    if spoken is None or spoken.era is Era.LEGACY:
        if progress_token is None:
            return {**params, "_meta": own} if traceparent else params
        meta: JsonObject = {**own}
    else:
        meta = {
            **own,
            VERSION_KEY: spoken.version,
            CLIENT_KEY: CLIENT_INFO,
            CAPABILITIES_KEY: capabilities,
        }
        if log_level:
            meta[LOG_LEVEL_KEY] = log_level
    if progress_token is not None:
        meta["progressToken"] = progress_token
    return {**params, "_meta": meta}


def listening(
    spoken: Spoken | None, uris: tuple[str, ...], tasks: tuple[str, ...] = ()
) -> JsonObject:
    """Return a `subscriptions/listen`: the lists that change, these resources and tasks."""
    wanted: JsonObject = dict(spoken.changes) if spoken is not None else {}
    if uris:
        wanted["resourceSubscriptions"] = list(uris)
    if tasks:
        wanted["taskIds"] = list(tasks)
    # Whoever follows a task has declared the extension, and only such a client is told of one.
    declared: JsonObject = {"extensions": {TASKS: {}}} if tasks else NOTHING
    return stamp({"notifications": wanted}, spoken, None, declared)


def modern_meta(version: str, capabilities: JsonObject = NOTHING) -> JsonObject:
    """Return what every request of the stateless era carries (MCP 2026-07-28, basic)."""
    return {
        VERSION_KEY: version,
        CLIENT_KEY: CLIENT_INFO,
        CAPABILITIES_KEY: capabilities,
    }


def answer_to(message: JsonObject) -> JsonObject | None:
    """Answer what a server asks: pings get `{}`, everything else is refused at once.

    None for an id that no honest server makes: answers repeat it, and may have to wait.
    """
    number = message.get("id")
    fits = len(number) <= _LONGEST_ID if isinstance(number, str) else type(number) is int
    if not fits:
        return None
    reply: JsonObject = {"jsonrpc": "2.0", "id": number}
    if message.get("method") == "ping":
        return {**reply, "result": {}}
    return {**reply, "error": {"code": METHOD_NOT_FOUND, "message": "not offered by this client"}}


def outcome_of(
    message: JsonObject,
    *,
    server: str,
    size: int,
    modern: bool,
    capabilities: JsonObject = NOTHING,
    redactions: int = 0,
) -> Delivery:
    """Read a JSON-RPC response: exactly one of a result object and an error.

    `capabilities` are what the request declared: nothing else may come back.
    """
    if "error" in message:
        return _rejection(message, server=server, size=size)
    result = message.get("result")
    if not isinstance(result, dict):
        return malformed(server, "without a result object")
    kind = result.get("resultType", "complete")
    if kind != "complete":
        unasked = _unasked(kind, modern=modern, capabilities=capabilities)
        if unasked:
            return malformed(server, unasked)
    return Delivered(result=result, size=size, redactions=redactions)


def _unasked(kind: Json, *, modern: bool, capabilities: JsonObject) -> str:
    """Say what is wrong with a result that isn't complete, if anything is."""
    if not modern or not isinstance(kind, str):
        return "of an unknown `resultType`"
    if kind == "input_required":
        asks = any(each in capabilities for each in ASKS)
        return "" if asks else "that asks for input which its caller can't give"
    return "" if "extensions" in capabilities else "of an unknown `resultType`"


def _rejection(message: JsonObject, *, server: str, size: int) -> Delivery:
    error = message["error"]
    if "result" in message:
        return malformed(server, "with both a result and an error")
    if not isinstance(error, dict) or type(error.get("code")) is not int:
        return malformed(server, "with an error that has no code")
    code, text = error["code"], error.get("message")
    assert isinstance(code, int)  # noqa: S101 - just checked; narrows for the type checker
    return Rejected(
        code=code,
        message=text if isinstance(text, str) else "",
        data=error.get("data"),
        size=size,
    )


def malformed(server: str, what: str) -> Undelivered:
    """Say that an answer came which is no answer; the tool may well have run."""
    return Undelivered(
        failure=Failure.MALFORMED,
        executed=Execution.UNKNOWN,
        detail=f"`{server}` sent an answer {what}",
    )


def timed_out(server: str, executed: Execution) -> Undelivered:
    """Say that the deadline passed."""
    return Undelivered(
        failure=Failure.TIMEOUT,
        executed=executed,
        detail=f"`{server}` did not answer in time",
    )


def too_large(server: str, size: int, limit: int) -> Undelivered:
    """Say that an answer was not read to its end; sizes in bytes."""
    return Undelivered(
        failure=Failure.TOO_LARGE,
        executed=Execution.UNKNOWN,
        detail=f"the answer of `{server}` is too large: {size} bytes, the limit is {limit}",
    )
