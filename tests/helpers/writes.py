"""A pipeline with one tool that writes, over a real store."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gateway import ids
from gateway.crossing.reads import Reads
from gateway.pipeline import Pipeline
from gateway.results.envelope import OUTCOME
from gateway.revision import Unreviewed
from gateway.steps.claim import Terms
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.calls import ProposedCall
from gateway.types.guarantees import Idempotency
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Delivery, Operation, Peer
from gateway.types.outcomes import Finished
from gateway.types.relay import Ear, Outbound
from gateway.types.tools import Effect, Risk
from tests.helpers.cases import ALLOW_ALL, a_call, a_contract, a_definition, a_revision, a_tool
from tests.helpers.pipelines import Log, a_pipeline
from tests.helpers.shelves import Law, Shelf

PROPERTIES: JsonObject = {"v": {"type": "integer"}, "note": {"type": "string"}}
PUT = a_tool(a_definition("put", PROPERTIES))
DROP = a_tool(a_definition("drop", PROPERTIES))


def text_of(finished: Finished) -> str:
    """Return the first text of a result."""
    content = finished.result["content"]
    assert isinstance(content, list)
    first = content[0]
    assert isinstance(first, dict)
    return str(first["text"])


def outcome_of(finished: Finished) -> dict[str, Any]:
    """Return what the gateway says of a result."""
    meta = finished.result["_meta"]
    assert isinstance(meta, dict)
    outcome = meta[OUTCOME]
    assert isinstance(outcome, dict)
    return outcome


@dataclass
class Counting:
    """A server that counts what it carries out; it can be made to wait, or to answer otherwise."""

    answers: list[Delivery | Exception] = field(default_factory=list[Delivery | Exception])
    asked: list[Outbound] = field(default_factory=list[Outbound])
    peer: Peer = field(default_factory=lambda: Peer(transport="http", version="2026-07-28"))
    go: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.go.set()

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        del ear
        self.asked.append(outbound)
        number = len(self.asked)
        self.came.set()
        await self.go.wait()
        answer = self.answers.pop(0) if self.answers else said(f"done {number}")
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def count(self) -> int:
        """How often something was carried out."""
        return len(self.asked)


def said(text: str, **more: Any) -> Delivered:
    """Return a result with one text."""
    return Delivered(result={"content": [{"type": "text", "text": text}], **more}, size=10)


@dataclass(frozen=True, kw_only=True)
class Writes:
    """A pipeline whose tools `put` and `drop` write, and what is around it."""

    store: Store
    server: Counting
    pipeline: Pipeline

    async def call(
        self, arguments: JsonObject | None = None, name: str = "crm__put", **changes: Any
    ) -> Finished:
        """Call once; every call is one of its own."""
        return await self.pipeline.handle(self.proposed(arguments, name, **changes))

    def proposed(
        self, arguments: JsonObject | None = None, name: str = "crm__put", **changes: Any
    ) -> ProposedCall:
        """Return a call with an id of its own."""
        arguments = {"v": 1} if arguments is None else arguments
        return a_call(name, arguments, call_id=ids.new("call"), **changes)

    async def operation(self, finished: Finished) -> Operation:
        """Return the operation that a result names."""
        found = await self.store.operations.get(outcome_of(finished)["op_id"])
        assert found is not None
        return found

    async def events(self, finished: Finished) -> list[str]:
        """Return kind and stage of the events of the call of a result."""
        return await self.events_of(str(outcome_of(finished)["call_id"]))

    async def events_of(self, call: str) -> list[str]:
        """Return kind and stage of the events of a call."""
        await self.store.events.kept()
        found = await self.store.events.query(EventFilter(call=call))
        return [f"{event.json()['kind']} {event.json()['stage']}" for event in found]


def writes(
    store: Store,
    server: Counting | None = None,
    *,
    idempotency: Idempotency | None = None,
    risk: Risk = Risk.LOW,
    timeout_s: float = 15.0,
    window_s: float = 0.0,
    terms: Terms | None = None,
    policy: str | None = None,
    unreviewed: Unreviewed = Unreviewed.OBSERVE,
    reads: Reads | None = None,
    change: Callable[[Pipeline], Pipeline] = lambda pipeline: pipeline,
    **contract: Any,
) -> Writes:
    """Return a pipeline over a store; without a server one that counts and answers."""
    server = server or Counting()
    contracts = [
        a_contract(
            tool,
            effect=Effect.WRITE,
            risk=risk,
            timeout_s=timeout_s,
            idempotency=idempotency or Idempotency(),
            **contract,
        )
        for tool in (PUT, DROP)
    ]
    law = Law(a_revision(contracts, policy or ALLOW_ALL, unreviewed))
    pipeline = a_pipeline(
        Shelf((PUT, DROP)),
        law,
        server,
        Log(),
        store=store,
        window_s=window_s,
        terms=terms,
        reads=reads,
    )
    return Writes(store=store, server=server, pipeline=change(pipeline))
