"""A whole pipeline of real parts, with a log that a test can read and one server that answers."""

from asyncio import Future
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from gateway import jsontext
from gateway.clock import SystemClock
from gateway.crossing.ticket import SeenValue
from gateway.events.redact import Redactor
from gateway.pipeline import Pipeline
from gateway.relay.parking import Parking
from gateway.steps.claim import Claim
from gateway.steps.dispatch import Dispatch
from gateway.steps.normalise import Normalise
from gateway.steps.record import Record
from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.actors import Actor
from gateway.types.decisions import Exceeded, Limit
from gateway.types.events import Event
from gateway.types.json import Json
from gateway.types.operations import Delivered, Delivery, Peer
from gateway.types.outcomes import Finished
from gateway.types.relay import Ear, Outbound
from tests.helpers.relays import a_relay, some_states
from tests.helpers.shelves import Law, Shelf, a_resolve


@dataclass
class Log:
    """An event log that keeps everything in memory."""

    events: list[Event] = field(default_factory=list[Event])
    failing: str = ""

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        del durable, owed
        self.events += events

    async def kept(self) -> None:
        """Everything is."""


@dataclass
class Answering:
    """A server that gives one answer to everything, and keeps what it was asked."""

    answer: Delivery = field(default_factory=lambda: Delivered(result={"content": []}, size=14))
    asked: list[Outbound] = field(default_factory=list[Outbound])
    peer: Peer = field(default_factory=lambda: Peer(transport="http", version="2026-07-28"))

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        del ear
        self.asked.append(outbound)
        return self.answer


class _Unlimited:
    async def reserve(self, call_id: str, limits: Sequence[Limit]) -> Exceeded | None:
        del call_id, limits

    async def release(self, call_id: str) -> None:
        del call_id


class _Forgetting:
    async def remember(self, actor: Actor, tool: str, found: Sequence[SeenValue]) -> None:
        del actor, tool, found


class _Inline:
    """An owner for calls that nobody leaves."""

    async def run(self, work: Callable[[], Awaitable[Finished]]) -> Finished:
        return await work()

    def start(self, work: Callable[[], Awaitable[Finished]]) -> "Future[Finished]":
        raise NotImplementedError(work)


def digest(tenant: str, value: Json) -> str:
    """Return what stands for a value: nothing of it shows."""
    return jsontext.digest([tenant, value])


def a_pipeline(shelf: Shelf, law: Law, server: Answering | None, log: Log) -> Pipeline:
    """Return a pipeline over a shelf and a law, with one server for every name."""
    states, relay, owner = some_states(), a_relay(), _Inline()
    return Pipeline(
        resolve=a_resolve(shelf, law),
        claim=Claim(limits=_Unlimited()),
        dispatch=Dispatch(server=lambda name: server, relay=relay),
        normalise=Normalise(max_result_bytes=100_000, digest=digest),
        record=Record(
            journal=log,
            telemetry=Telemetry.start(TelemetryOptions(), {}),
            redactor=Redactor(lambda tenant: tenant.encode()),
            digest=digest,
            seen_values=_Forgetting(),
            clock=SystemClock(),
        ),
        owner=owner,
        relay=relay,
        states=states,
        parking=Parking(owner, states),
    )
