"""Subscriptions of callers that have lanes of their own at a server over a pipe (ADR-0011).

What a call changes in the process of its lane, no other process tells of. So such a subscription is
held in every lane of its caller's session, and keeps one of them open.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from gateway.servers.backoff import Backoff
from gateway.servers.connection import Connection, timed_out
from gateway.servers.entry import Entry
from gateway.servers.lane import Lane, LaneKey, key_of
from gateway.servers.subscriptions import Subscriptions
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Rejected, Undelivered
from gateway.types.relay import Outbound


class Giver(Protocol):
    """Who gives lanes away."""

    def named(self, name: str) -> tuple[Lane, ...]:
        """Return the lanes of one session of a caller."""
        ...

    async def obtain(self, outbound: Outbound, deadline: float | None) -> Lane | Undelivered:
        """Return a lane that counts the request as a user."""
        ...

    def leave(self, lane: Lane) -> None:
        """Take note that a request has left its lane."""
        ...


@dataclass(slots=True, eq=False)
class _Keeper:
    """Who keeps a lane open, for so many subscriptions."""

    count: int = 0
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class Watching:
    """All such subscriptions at one server."""

    def __init__(self, entry: Entry, tasks: TaskGroup, lanes: Giver) -> None:
        self._entry = entry
        self._tasks = tasks
        self._lanes = lanes
        self._audiences: dict[str, Subscriptions] = {}  # by the name of the lanes
        self._besides: dict[Lane, TaskGroup] = {}  # of the open lanes
        self._keepers: dict[LaneKey, _Keeper] = {}  # by the key of the lane

    async def add(
        self,
        outbound: Outbound,
        uri: str,
        params: JsonObject,
        told: Callable[[], None],
        *,
        deadline: float,
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Subscribe in the request's lane, and keep that open; returns the way out.

        When the lane is lost it is opened again, and `told` is called: nobody knows what happened
        in between.
        """
        lane = await self._lanes.obtain(outbound, deadline)
        if isinstance(lane, Undelivered):
            return lane
        try:
            opened = await lane.opened(deadline)
            if opened is None:
                return timed_out(self._entry.name, Execution.NO)
            if lane.spoken is None or not opened:
                return lane.unopened()
            keeper = self._keep(outbound, lane)
            try:
                found = await self._audience(outbound.lane).add(
                    lane, uri, params, told, spoken=lane.spoken, deadline=deadline
                )
            except BaseException:
                self._drop(outbound, keeper)
                raise
            if isinstance(found, Rejected | Undelivered):
                self._drop(outbound, keeper)
                return found
            return self._way_out(outbound, keeper, found)
        finally:
            self._lanes.leave(lane)

    def follow(self, name: str, uri: str, told: Callable[[], None]) -> Callable[[], None]:
        """Subscribe in whatever lanes a session has and gets; returns the way out."""
        leave = self._audience(name).follow(uri, told)

        def leave_all() -> None:
            leave()
            self._disperse(name)

        return leave_all

    async def welcome(self, lane: Lane, connection: Connection, tasks: TaskGroup) -> None:
        """Subscribe in a lane that was opened just now to what its caller watches."""
        self._besides[lane] = tasks
        audience = self._audiences.get(lane.name)
        if audience is not None:
            self._admit(lane, audience)
            if lane.audience is audience:
                await audience.renew(connection)

    def closed(self, lane: Lane) -> None:
        """Take note that a lane is not open any more."""
        self._besides.pop(lane, None)
        if lane.audience is not None:
            lane.audience.detach(lane)
        self._disperse(lane.name)

    def _audience(self, name: str) -> Subscriptions:
        """Return who is told of what happens in the lanes of one session."""
        audience = self._audiences.get(name)
        if audience is None:
            audience = self._audiences[name] = Subscriptions(self._entry.name)
            for lane in self._lanes.named(name):
                self._admit(lane, audience)
        return audience

    def _admit(self, lane: Lane, audience: Subscriptions) -> None:
        beside = self._besides.get(lane)
        if beside is not None and lane.spoken is not None and lane.spoken.watches:
            lane.audience = audience
            audience.admit(lane, lane.spoken, beside)

    def _disperse(self, name: str) -> None:
        """Forget an audience that hears of nothing, once no lane could owe it an answer."""
        audience = self._audiences.get(name)
        if audience is not None and not audience.uris and not self._lanes.named(name):
            del self._audiences[name]

    # Lanes that are kept open

    def _way_out(
        self, outbound: Outbound, keeper: _Keeper, leave: Callable[[], None]
    ) -> Callable[[], None]:
        is_left = False

        def leave_once() -> None:
            nonlocal is_left
            if not is_left:
                is_left = True
                leave()
                self._drop(outbound, keeper)

        return leave_once

    def _keep(self, outbound: Outbound, lane: Lane) -> _Keeper:
        """Keep an open lane, for one more subscription."""
        key = key_of(outbound)
        keeper = self._keepers.get(key)
        if keeper is None:
            keeper = self._keepers[key] = _Keeper()
            _hold(lane)
            self._tasks.start_soon(self._keep_open, outbound, lane, keeper)
        keeper.count += 1
        return keeper

    def _drop(self, outbound: Outbound, keeper: _Keeper) -> None:
        keeper.count -= 1
        self._disperse(outbound.lane)
        if not keeper.count:
            del self._keepers[key_of(outbound)]
            keeper.scope.cancel()

    async def _keep_open(self, outbound: Outbound, first: Lane, keeper: _Keeper) -> None:
        """Hold a lane until nobody subscribes any more, and open another when it is lost."""
        loop, times = asyncio.get_running_loop(), self._entry.timeouts
        backoff = Backoff(times, random.random)
        lane: Lane | Undelivered = first
        with keeper.scope:
            while True:
                since, fault = loop.time(), None
                if isinstance(lane, Lane):
                    try:
                        await lane.retired.wait()
                    finally:
                        lane.keepers -= 1
                        self._lanes.leave(lane)
                    fault = lane.fault
                if loop.time() - since >= times.healthy_s:
                    backoff.reset()
                await anyio.sleep(backoff.next_s(slow=fault is not None and fault.slow))
                lane = await self._lanes.obtain(outbound, None)
                if isinstance(lane, Lane):
                    lane.keepers += 1


def _hold(lane: Lane) -> None:
    """Count a keeper as a user."""
    lane.users += 1
    lane.keepers += 1
