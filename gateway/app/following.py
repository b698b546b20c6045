"""Following a task: what its server tells of it is weighed like an answer to `tasks/get`.

So whatever leaves by a notification has met the same rules, minimisation and event log as if its
caller had asked (extension for tasks: both are the same task).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.pipeline import Pipeline
from gateway.relay.outbound import forwardable
from gateway.relay.tasks import ID
from gateway.types.calls import Caller, Era, Nobody, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivered, Delivery, Peer, Rejected, Undelivered
from gateway.types.outcomes import Finished, Status
from gateway.types.relay import Ear, Outbound, Told

_OF_THE_ANSWER: Final = ("resultType", "ttlMs", "cacheScope")  # and of no notification


class Follower(Protocol):
    """A server that tells how its tasks are getting on."""

    @property
    def peer(self) -> Peer:
        """How it is reached right now."""
        ...

    async def follow(
        self, task: str, outbound: Outbound, told: Told
    ) -> Callable[[], None] | Rejected | Undelivered:
        """Call `told` with all that is told of a task; returns the way out, or why not."""
        ...


class _Quiet(Nobody):
    """A caller to whom a task is told, and nothing but that (no progress, no log messages)."""

    def __init__(self, caller: Caller) -> None:
        self.era: Era = caller.era
        self.protocol_version = caller.protocol_version
        self.transport = caller.transport
        self._capabilities = caller.capabilities

    @property
    def capabilities(self) -> JsonObject:
        """What the client declared: questions of a task are held against it."""
        return self._capabilities


async def follow(
    pipeline: Pipeline,
    server: Callable[[str], Follower | None],
    clock: Clock,
    call: ProposedCall,
    told: Told,
) -> Callable[[], None] | Finished:
    """Weigh a `tasks/get` and follow its task; returns the way out, or why there is none."""
    call = replace(call, caller=_Quiet(call.caller))
    news = _News(pipeline=pipeline, clock=clock, call=call, told=told)

    def joining(name: str) -> _Joining | None:
        found = server(name)
        return None if found is None else _Joining(follower=found, news=news)

    try:
        finished = await _with(pipeline, joining).handle(call)
    except BaseException:
        news.leave()
        raise
    if finished.status is Status.OK and news.way_out is not None:
        return news.leave
    news.leave()
    return finished


@dataclass(slots=True, kw_only=True)
class _News:
    """What is told of one task, one after the other; of what waits, the latest is enough."""

    pipeline: Pipeline
    clock: Clock
    call: ProposedCall
    told: Told
    way_out: Callable[[], None] | None = None
    is_left: bool = False
    _waiting: list[JsonObject] = field(default_factory=list[JsonObject])
    _is_telling: bool = False

    def join(self, way_out: Callable[[], None]) -> None:
        """Keep the way out, or take it at once when its caller has left meanwhile."""
        if self.is_left:
            way_out()
        else:
            self.way_out = way_out

    def leave(self) -> None:
        """Hear no more."""
        self.is_left = True
        way_out, self.way_out = self.way_out, None
        if way_out is not None:
            way_out()

    def hear(self, params: JsonObject) -> None:
        """Take what the server tells: the task, or just its id when it has to be asked for."""
        self._waiting = [params]
        if not self._is_telling:
            self._is_telling = True
            self.pipeline.owner.start(self._tell)

    async def _tell(self) -> Finished:
        finished = Finished(result={}, status=Status.OK)
        try:
            while self._waiting and not self.is_left:
                finished = await self._weighed(self._waiting.pop())
                if finished.status is Status.OK and ID in finished.result and not self.is_left:
                    self.told(_as_note(finished.result))
        finally:
            self._is_telling = False
        return finished

    async def _weighed(self, params: JsonObject) -> Finished:
        call = replace(self.call, call_id=ids.new("call"), received_at=self.clock.now())
        if not isinstance(params.get("status"), str):
            return await self.pipeline.handle(call)
        return await _with(self.pipeline, lambda _: _Saying(params=params)).handle(call)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joining:
    """A server as the pipeline sends to it, for which to ask after a task is to follow it."""

    follower: Follower
    news: _News

    @property
    def peer(self) -> Peer:
        return self.follower.peer

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        del ear  # a server says nothing else on the way
        joined = await self.follower.follow(str(outbound.params[ID]), outbound, self.news.hear)
        if isinstance(joined, Rejected | Undelivered):
            return joined
        self.news.join(joined)
        return Delivered(result={}, size=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saying:
    """A server that has said already how a task is."""

    params: JsonObject
    peer: Peer = field(default_factory=lambda: Peer(transport=""))

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        del outbound, ear
        result: JsonObject = {**self.params, "resultType": "complete"}
        meta: Json = result.pop("_meta", None)
        if isinstance(meta, dict) and forwardable(meta):
            result["_meta"] = forwardable(meta)
        return Delivered(result=result, size=len(jsontext.dump(result)))


def _with(pipeline: Pipeline, server: Callable[[str], "_Joining | _Saying | None"]) -> Pipeline:
    return replace(pipeline, dispatch=replace(pipeline.dispatch, server=server))


def _as_note(result: JsonObject) -> JsonObject:
    return {name: member for name, member in result.items() if name not in _OF_THE_ANSWER}
