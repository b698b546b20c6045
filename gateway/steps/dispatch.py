"""Step 11: intent durable first, then send, then outcome."""

from asyncio import Future
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, assert_never

from gateway.case import Case
from gateway.crossing.patience import Patience
from gateway.crossing.presence import Callers
from gateway.errors import StoreUnavailable
from gateway.results import marks
from gateway.types.json import JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    Operation,
    Peer,
    Rejected,
    Undelivered,
)
from gateway.types.outcomes import Answer, Refusal, Status, WireError
from gateway.types.relay import URL_REQUIRED, Ear, Inquiry, Outbound, Underway
from gateway.types.tools import Effect


class Downstream(Protocol):
    """A supervised server."""

    @property
    def peer(self) -> Peer:
        """How it is reached right now."""
        ...

    def request(self, outbound: Outbound, ear: Ear | None) -> Coroutine[Any, Any, Delivery]:
        """Send one request; never raises for anything that a server can do."""
        ...


class Leases(Protocol):
    """What lets this process send the operations that it claimed."""

    def holds(self, operation: Operation) -> bool:
        """Whether an operation may be sent at this moment."""
        ...

    async def hold(self, operation: Operation) -> bool:
        """Say whether an operation may be sent, and ask its row when that is not certain."""
        ...


class Intent(Protocol):
    """The part of a ticket that dispatch uses."""

    async def started(self, case: Case, peer: Peer) -> None:
        """Keep the intent: durable for anything but a plain read. Raises StoreUnavailable."""
        ...

    def sending(self) -> None:
        """Note that from here on a request may have arrived, whatever came back before it."""
        ...

    def answered(self, delivery: Delivery) -> None:
        """Note when and how the downstream answered."""
        ...

    def sampled(self, request: JsonObject, result: JsonObject | None, error: str) -> None:
        """Keep one turn of the caller's model, or why there was none."""
        ...

    def goes_on(self, late: "Future[Delivery]") -> None:
        """Note that the request goes on though its caller gets its answer now."""
        ...

    def inquired(self, inquiry: Inquiry) -> bool:
        """Keep what became of a question, at once; False when that can't be kept."""
        ...

    @property
    def traceparent(self) -> str:
        """The trace context for the downstream, or an empty text."""
        ...


Send = Callable[[Outbound], Awaitable[Delivered | Refusal]]


class Relay(Protocol):
    """What a server may say to the caller, and ask of it, while it works."""

    def outbound(self, case: Case, traceparent: str) -> Outbound:
        """Return the request to the server, with as much of the caller as it may see."""
        ...

    def ear(self, case: Case, outbound: Outbound, turns: Intent) -> Ear | None:
        """Return who hears what the server says, or None when nobody wants to."""
        ...

    def keep_answers(self, case: Case, turns: Intent) -> None:
        """Keep what became of earlier questions, of which the request tells."""
        ...

    def visits(self, case: Case, turns: Intent, wanted: Rejected) -> Rejected | Delivered | Refusal:
        """Say what becomes of the URLs that a server wants visited first."""
        ...

    def is_settled(self, case: Case, delivered: Delivered) -> bool:
        """Say whether a result is one; else `settle` has to look."""
        ...

    def settle(
        self, case: Case, underway: Underway, delivered: Delivered, send: Send
    ) -> Awaitable[Delivered | Answer | Refusal]:
        """See a request through until its result is one, or has to go to the caller as it is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """Sends the final arguments, once."""

    server: Callable[[str], Downstream | None]
    relay: Relay
    patience: Patience
    leases: Leases
    callers: Callers = field(default_factory=Callers)

    async def __call__(self, case: Case, intent: Intent) -> Delivered | Answer | Refusal:
        """Return what came back, or a refusal that says whether anything may have happened.

        An answer is what a server gives in place of a result: questions, or a task.
        """
        server = self.server(case.tool.server)
        if case.arguments is None:
            return Refusal(status=Status.INTERNAL, reason="unchecked arguments are never sent")
        if server is None:
            return Refusal(
                status=Status.UNAVAILABLE, reason=f"the server `{case.tool.server}` is not running"
            )
        if case.operation is None:  # or the claim has kept the intent
            try:
                await intent.started(case, server.peer)
            except StoreUnavailable as error:
                return unrecorded(error)
        relay = self.relay
        relay.keep_answers(case, intent)
        first = relay.outbound(case, intent.traceparent)
        if first.may_cancel:
            first = replace(first, presence=self.callers.of(case))
        ear = relay.ear(case, first, intent)
        if case.operation is None:  # as `_send` does, where there is nothing to hold
            intent.sending()
            delivered = self._answered(case, intent, await server.request(first, ear))
        else:
            delivered = await self._send(case, intent, server, ear, first)
        if isinstance(delivered, Refusal) or relay.is_settled(case, delivered):
            return delivered
        underway = Underway(outbound=first, ear=ear, turns=intent)
        return await self._settled(case, intent, server, underway, delivered)

    async def after(
        self,
        case: Case,
        intent: Intent,
        server: Downstream,
        outbound: Outbound,
        delivery: Delivery,
    ) -> Delivered | Answer | Refusal:
        """Return what came back of a read that was sent already, and whose server nobody hears."""
        delivered = self._answered(case, intent, delivery)
        if isinstance(delivered, Refusal) or self.relay.is_settled(case, delivered):
            return delivered
        underway = Underway(outbound=outbound, ear=None, turns=intent)
        return await self._settled(case, intent, server, underway, delivered)

    async def _settled(
        self,
        case: Case,
        intent: Intent,
        server: Downstream,
        underway: Underway,
        delivered: Delivered,
    ) -> Delivered | Answer | Refusal:
        again = partial(self._send, case, intent, server, underway.ear)
        return await self.relay.settle(case, underway, delivered, again)

    async def _send(
        self, case: Case, intent: Intent, server: Downstream, ear: Ear | None, outbound: Outbound
    ) -> Delivered | Refusal:
        operation = case.operation
        if operation is None:
            intent.sending()
            delivery = await server.request(outbound, ear)
        elif await self.leases.hold(operation):
            may_leave = partial(self.leases.holds, operation)
            delivery = await self._waited(
                case, intent, server, replace(outbound, may_leave=may_leave), ear
            )
        else:
            return _given_up(operation)
        return self._answered(case, intent, delivery)

    async def _waited(
        self, case: Case, intent: Intent, server: Downstream, outbound: Outbound, ear: Ear | None
    ) -> Delivery:
        """Send as long as the caller waits, and let the request go on after that."""
        intent.sending()
        waited = await self.patience.wait(case.tool.server, server.request, outbound, ear)
        if waited.late is not None:
            intent.goes_on(waited.late)
        return waited.delivery

    def _answered(self, case: Case, intent: Intent, delivery: Delivery) -> Delivered | Refusal:
        intent.answered(delivery)
        if isinstance(delivery, Delivered):  # as `classify` says
            return delivery
        if isinstance(delivery, Rejected) and delivery.code == URL_REQUIRED:
            held = self.relay.visits(case, intent, delivery)
            return held if isinstance(held, Refusal) else classify(case, held)
        return classify(case, delivery)


def unrecorded(error: StoreUnavailable) -> Refusal:
    """Refuse a call that was not sent, since what was decided of it can't be kept."""
    return Refusal(
        status=Status.AUDIT_UNAVAILABLE,
        code="not_recorded",
        reason=f"the call could not be recorded before sending it: {error}",
    )


def _given_up(operation: Operation) -> Refusal:
    return Refusal(
        status=Status.UNAVAILABLE,
        code="not_sent",
        reason="the gateway was halted before it could send the call, and has lost the right to "
        f"(operation `{operation.op_id}`)",
        executed=Execution.NO,
    )


def classify(case: Case, delivery: Delivery) -> Delivered | Refusal:
    """Say what a delivery means: an unknown end is harmless for a read and never for a write."""
    match delivery:
        case Delivered():
            return delivery
        case Rejected():
            return Refusal(
                status=Status.TOOL_FAILED,
                code=str(delivery.code),
                reason=f"`{case.tool.server}` answered with an error and says: "
                f"{marks.quoted(delivery.message)}",
                executed=Execution.NO if case.effect is Effect.READ else Execution.UNKNOWN,
                error=WireError(code=delivery.code, message=delivery.message, data=delivery.data),
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
