"""`resources/subscribe`: weighed like any request, and held open at the server after that."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.app.observing import Observing
from gateway.judging import sees
from gateway.pipeline import Pipeline
from gateway.types.calls import ProposedCall
from gateway.types.operations import Delivered, Delivery, Peer, Rejected, Undelivered
from gateway.types.outcomes import Finished
from gateway.types.relay import Ear, Outbound
from gateway.types.tools import Tool


class Publisher(Protocol):
    """A server that says when its resources were updated."""

    @property
    def peer(self) -> Peer:
        """How it is reached right now."""
        ...

    async def subscribe(
        self, uri: str, outbound: Outbound, told: Callable[[], None]
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Call `told` at every update of a resource; returns the way out, or why not."""
        ...


async def subscribe(
    pipeline: Pipeline,
    server: Callable[[str], Publisher | None],
    call: ProposedCall,
    told: Callable[[], None],
) -> Callable[[], None] | Finished:
    """Weigh a subscription and join it; returns the way out, or the end of a call without one."""
    held = _Held()

    def tell() -> None:
        if _may_still(pipeline, call):
            told()

    def joining(name: str) -> _Joining | None:
        found = server(name)
        return None if found is None else _Joining(publisher=found, told=tell, held=held)

    weighed = replace(pipeline, dispatch=replace(pipeline.dispatch, server=joining))
    try:
        finished = await weighed.handle(call)
    except BaseException:
        held.leave()
        raise
    if finished.error is None and held.is_joined:
        return held.leave
    held.leave()
    return finished


def _may_still(pipeline: Pipeline, call: ProposedCall) -> bool:
    """Whether the rules in force now would let the caller see what it watches."""
    if isinstance(pipeline, Observing) and pipeline.stance.observes:
        return True
    tool = pipeline.resolve.find(call)
    case = pipeline.resolve.case_for(call, tool) if isinstance(tool, Tool) else None
    return case is not None and sees(case)


@dataclass(slots=True)
class _Held:
    """One subscription, which its caller may leave before it was joined."""

    _way_out: Callable[[], None] | None = None
    _is_left: bool = False

    @property
    def is_joined(self) -> bool:
        return self._way_out is not None

    def join(self, way_out: Callable[[], None]) -> None:
        if self._is_left:
            way_out()
        else:
            self._way_out = way_out

    def leave(self) -> None:
        self._is_left = True
        way_out, self._way_out = self._way_out, None
        if way_out is not None:
            way_out()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joining:
    """A server as the pipeline sends to it, for which sending is to join."""

    publisher: Publisher
    told: Callable[[], None]
    held: _Held

    @property
    def peer(self) -> Peer:
        return self.publisher.peer

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        del ear  # a server says nothing else on the way
        uri = str(outbound.params["uri"])
        joined = await self.publisher.subscribe(uri, outbound, self.told)
        if isinstance(joined, Rejected | Undelivered):
            return joined
        self.held.join(joined)
        return Delivered(result={}, size=0)
