"""Step 11: intent durable first, then send, then outcome."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, assert_never

from gateway.case import Case
from gateway.errors import StoreUnavailable
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    Peer,
    Rejected,
    Undelivered,
)
from gateway.types.outcomes import Refusal, Status
from gateway.types.tools import Effect

Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]

# `_meta` keys that belong to one hop (MCP 2026-07-28, basic), and our own.
_HOP_KEYS = frozenset({"progressToken", "traceparent", "tracestate", "baggage"})
_HOP_PREFIXES = ("io.modelcontextprotocol/", "weighbridge/")


class Downstream(Protocol):
    """A supervised server."""

    @property
    def peer(self) -> Peer:
        """How it is reached right now."""
        ...

    async def call_tool(
        self,
        name: str,
        arguments: JsonObject,
        *,
        meta: JsonObject,
        deadline_s: float,
        on_progress: Progress | None,
        traceparent: str,
        is_read: bool,
    ) -> Delivery:
        """Send one `tools/call`; never raises for anything that a server can do."""
        ...


class Intent(Protocol):
    """The part of a ticket that dispatch uses."""

    async def started(self, case: Case, peer: Peer) -> None:
        """Keep the intent: durable for anything but a plain read. Raises StoreUnavailable."""
        ...

    def answered(self, delivery: Delivery) -> None:
        """Note when and how the downstream answered."""
        ...

    @property
    def traceparent(self) -> str:
        """The trace context for the downstream, or an empty text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Sends the final arguments, once."""

    server: Callable[[str], Downstream | None]
    timeout_s: float
    server_timeouts_s: Mapping[str, float] = field(default_factory=dict[str, float])

    async def __call__(self, case: Case, intent: Intent) -> Delivered | Refusal:
        """Return what came back, or a refusal that says whether anything may have happened."""
        server = self.server(case.tool.server)
        if case.arguments is None:
            return Refusal(status=Status.INTERNAL, reason="unchecked arguments are never sent")
        if server is None:
            return Refusal(
                status=Status.UNAVAILABLE, reason=f"the server `{case.tool.server}` is not running"
            )
        try:
            await intent.started(case, server.peer)
        except StoreUnavailable as error:
            return Refusal(
                status=Status.AUDIT_UNAVAILABLE,
                code="not_recorded",
                reason=f"the call could not be recorded before sending it: {error}",
            )
        caller = case.call.caller
        delivery = await server.call_tool(
            case.tool.name,
            case.arguments,
            meta=forwardable(case.call.meta),
            deadline_s=case.contract.timeout_s
            or self.server_timeouts_s.get(case.tool.server, self.timeout_s),
            on_progress=caller.progress if caller.wants_progress else None,
            traceparent=intent.traceparent,
            is_read=case.effect is Effect.READ,
        )
        intent.answered(delivery)
        return classify(case, delivery)


def forwardable(meta: JsonObject) -> JsonObject:
    """Drop what belongs to this hop; everything else is the downstream's to read."""
    return {
        key: value
        for key, value in meta.items()
        if key not in _HOP_KEYS and not key.startswith(_HOP_PREFIXES)
    }


def classify(case: Case, delivery: Delivery) -> Delivered | Refusal:
    """Say what a delivery means: an unknown end is harmless for a read and never for a write."""
    match delivery:
        case Delivered():
            return delivery
        case Rejected():
            return Refusal(
                status=Status.TOOL_FAILED,
                code=str(delivery.code),
                reason=f"`{case.tool.server}` answered with an error: {delivery.message}",
                executed=Execution.NO if case.effect is Effect.READ else Execution.UNKNOWN,
                details=({"code": delivery.code, "data": delivery.data},),
            )
        case Undelivered():
            return _undelivered(case, delivery)
        case _:
            assert_never(delivery)


_PLAIN: dict[Failure, Status] = {
    Failure.UNAVAILABLE: Status.UNAVAILABLE,
    Failure.STARTING: Status.UNAVAILABLE,
    Failure.BUSY: Status.BUSY,
    Failure.TIMEOUT: Status.TIMEOUT,
    Failure.CLOSED: Status.UNAVAILABLE,
    Failure.MALFORMED: Status.RESULT_INVALID,
    Failure.TOO_LARGE: Status.RESULT_TOO_LARGE,
    Failure.UNAUTHORIZED: Status.UNAVAILABLE,
    Failure.RATE_LIMITED: Status.BUSY,
    Failure.CANCELLED: Status.CANCELLED,
}


def _undelivered(case: Case, delivery: Undelivered) -> Refusal:
    unsure = delivery.executed is not Execution.NO and case.effect is not Effect.READ
    executed = delivery.executed if case.effect is not Effect.READ else Execution.NO
    return Refusal(
        status=Status.INDETERMINATE if unsure else _PLAIN[delivery.failure],
        code=f"downstream_{delivery.failure.value}",
        reason=delivery.detail,
        executed=executed,
        retry_after_s=delivery.retry_after_s,
    )
