"""Which way a request takes to a server: the connection that everybody shares, or a lane."""

import asyncio
from collections.abc import Callable

from gateway.protocol import mirroring
from gateway.servers.connection import METHOD_NOT_FOUND, Connection, Mask, Spoken, stamp
from gateway.servers.entry import Entry
from gateway.servers.lanes import Lanes
from gateway.servers.life import Life
from gateway.servers.masking import masked
from gateway.servers.places import Lending, Place, Places
from gateway.servers.subscriptions import Subscriptions
from gateway.types.calls import Era, Method
from gateway.types.operations import Delivered, Delivery, Execution, Failure, Rejected, Undelivered
from gateway.types.relay import Ear, Outbound, Told

_NO_MIRRORS: mirroring.HeaderMap = {}


class Ways:
    """The ways to one server, and the places on them. Its supervisor says what is open."""

    def __init__(self, entry: Entry, life: Life, mask: Mask) -> None:
        self.lanes: Lanes | None = None  # while it runs
        self.spoken: Spoken | None = None  # what the shared connection settled last
        self.mirrors: dict[str, mirroring.HeaderMap] = {}  # arguments of tools that headers repeat
        self.places = Places(entry)
        self.subscriptions = Subscriptions(entry.name)
        self._entry = entry
        self._is_http = entry.is_http
        self._life = life
        self._mask = mask

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        """Send one request; never raises for anything that a server can do.

        Waiting for a free place and for a first start counts towards the deadline. When the
        calling task is cancelled, `CancelledError` goes on; the server is told if it may be.
        """
        deadline = asyncio.get_running_loop().time() + outbound.deadline_s
        if outbound.written and ear is None and not self.mirrors and self.places.take_free():
            try:
                connection = self._life.connection
                reading = connection.quick(outbound, deadline) if connection is not None else None
                if reading is not None:
                    delivery = await reading
                    is_there = isinstance(delivery, Delivered)
                    return delivery if is_there else masked(delivery, self._mask)
            finally:
                self.places.leave()
        is_own = outbound.capabilities or outbound.log_level
        send = self._send_for if is_own else self._over
        delivery = await send(outbound, ear, deadline)
        if isinstance(delivery, Delivered):  # there is nothing to repeat or to mask
            return delivery
        if self._may_repeat(outbound, delivery) and await self._life.back(deadline):
            delivery = await send(outbound, ear, deadline)
        return masked(delivery, self._mask)

    def _may_repeat(self, outbound: Outbound, delivery: Delivery) -> bool:
        """A child that was lost takes its calls along; over HTTP the connection repeats by itself.

        What the child never got may be sent again as well as a read.
        """
        return (
            isinstance(delivery, Undelivered)
            and delivery.failure is Failure.CLOSED
            and not self._is_http
            and (outbound.is_read or delivery.executed is Execution.NO)
        )

    async def _send_for(self, outbound: Outbound, ear: Ear | None, deadline: float) -> Delivery:
        """Send what is sent for a certain caller: on a lane, where it needs one."""
        lanes = await self._lanes_for(outbound, deadline)
        if isinstance(lanes, Undelivered):
            return lanes
        if lanes is None:
            return await self._over(outbound, ear, deadline)
        async with lanes.lent(outbound, deadline) as connection:
            if isinstance(connection, Undelivered):
                return connection
            return await self._over(outbound, ear, deadline, connection)

    async def _lanes_for(self, outbound: Outbound, deadline: float) -> Lanes | Undelivered | None:
        """Return the lanes when a request needs one, None when it goes the way of everybody."""
        own = bool(outbound.capabilities or outbound.log_level)
        lanes = self.lanes if own else None
        if lanes is None or lanes.holds(outbound):  # a lane works on through an outage
            return lanes
        connection = self._life.connection or await self._life.connected(deadline)
        if isinstance(connection, Undelivered):
            return connection
        mirrors = self._needs_lane(outbound) or await lanes.mirrors(outbound, deadline)
        if isinstance(mirrors, Undelivered):
            return mirrors
        return lanes if mirrors else None

    async def _over(
        self, outbound: Outbound, ear: Ear | None, deadline: float, lane: Connection | None = None
    ) -> Delivery:
        """Send a request from a place of its own; without a lane over the shared connection."""
        if not self.places.take_free():
            refused = await self.places.take(deadline)
            if refused is not None:
                return refused
        # Only who is asked something, or let go, leaves its place before the end.
        place = Place(self.places) if ear is not None or outbound.patience is not None else None
        if place is not None and outbound.patience is not None:
            outbound.patience.on_left(place.leave)
        try:
            connection = lane or self._life.connection
            if connection is None:
                found = await self._life.connected(deadline)
                if isinstance(found, Undelivered):
                    return found
                connection = found
            if outbound.may_leave is not None and not outbound.may_leave():
                return _too_late(self._entry.name)
            return await connection.call(
                outbound.method,
                outbound.params,
                deadline=deadline + outbound.late_s,
                ear=ear if ear is None or place is None else _lending(ear, place, outbound),
                capabilities=outbound.capabilities,
                log_level=outbound.log_level,
                traceparent=outbound.traceparent,
                headers=self._headers(outbound),
                is_read=outbound.is_read,
                may_cancel=outbound.may_cancel,
                presence=outbound.presence,
            )
        finally:
            (place or self.places).leave()

    def _needs_lane(self, outbound: Outbound) -> bool:
        """In the handshake era, what a client can do is said once for a connection."""
        spoken = self.spoken
        if spoken is None or spoken.era is Era.MODERN:
            return False
        return outbound.may_ask or (bool(outbound.log_level) and spoken.logs)

    async def subscribe(
        self, uri: str, outbound: Outbound, told: Callable[[], None]
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Have `told` called whenever a resource was updated; returns the way out.

        The subscription outlives connections: after each new one, `told` is called in any case.
        """
        deadline = asyncio.get_running_loop().time() + outbound.deadline_s
        joined = await self._join(uri, outbound, told, deadline)
        if isinstance(joined, Rejected | Undelivered):
            failed = masked(joined, self._mask)
            assert not isinstance(failed, Delivered)  # noqa: S101 - masking keeps the kind
            return failed
        return joined

    async def _join(
        self, uri: str, outbound: Outbound, told: Callable[[], None], deadline: float
    ) -> Callable[[], None] | Rejected | Undelivered:
        params = stamp(outbound.params, None, None, traceparent=outbound.traceparent)
        # Over HTTP one process serves all sessions, and tells of what any of them does.
        has_lanes = bool(outbound.lane) and not self._is_http
        lanes = await self._lanes_for(outbound, deadline) if has_lanes else None
        if isinstance(lanes, Undelivered):
            return lanes
        if lanes is not None:
            return await lanes.watching.add(outbound, uri, params, told, deadline=deadline)
        connection = self._life.connection or await self._life.connected(deadline)
        if isinstance(connection, Undelivered):
            return connection
        assert self.spoken is not None  # noqa: S101 - it was settled before there was a connection
        leave = await self.subscriptions.add(
            connection, uri, params, told, spoken=self.spoken, deadline=deadline
        )
        if isinstance(leave, Rejected | Undelivered) or not has_lanes or self.lanes is None:
            return leave
        leave_lanes = self.lanes.watching.follow(outbound.lane, uri, told)

        def leave_all() -> None:
            leave()
            leave_lanes()

        return leave_all

    async def follow(
        self, task: str, outbound: Outbound, told: Told
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Have `told` called with all that the server tells of a task; returns the way out.

        Outlives connections, like a subscription.
        """
        deadline = asyncio.get_running_loop().time() + outbound.deadline_s
        connection = self._life.connection or await self._life.connected(deadline)
        if isinstance(connection, Undelivered):
            return connection
        leave = None
        if self.spoken is not None and self.spoken.has_tasks:
            leave = await self.subscriptions.tasks.add(task, told, deadline)
        if leave is None:
            text = f"`{self._entry.name}` does not tell of this task"
            return Rejected(code=METHOD_NOT_FOUND, message=text)
        return leave

    def _headers(self, outbound: Outbound) -> dict[str, str] | None:
        if not self._is_http:
            return None
        trace = outbound.traceparent
        if not self.mirrors and not outbound.headers:  # of most servers no tool has any
            return {"traceparent": trace} if trace else None
        made: dict[str, str] = {}
        modern = self.spoken is not None and self.spoken.era is Era.MODERN
        if modern and outbound.method is Method.CALL_TOOL:
            mirrors = self.mirrors.get(str(outbound.params["name"]), _NO_MIRRORS)
            arguments = outbound.params["arguments"]
            if mirrors and isinstance(arguments, dict):
                made = mirroring.made(mirrors, arguments)
        if trace:
            made["traceparent"] = trace
        made.update(outbound.headers)
        return made


def _lending(ear: Ear, place: Place, outbound: Outbound) -> Ear:
    return Lending(ear=ear, place=place) if outbound.may_ask else ear


def _too_late(server: str) -> Undelivered:
    return Undelivered(
        failure=Failure.UNAVAILABLE,
        executed=Execution.NO,
        detail=f"it was too late to send anything to `{server}`: the gateway had been halted",
    )
