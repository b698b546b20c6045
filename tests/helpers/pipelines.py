"""A whole pipeline of real parts, with a log that a test can read and one server that answers."""

from asyncio import Future, ensure_future
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gateway import jsontext
from gateway.case import Case
from gateway.clock import SystemClock
from gateway.crossing.belonging import Belonging
from gateway.crossing.books import SeenValue
from gateway.crossing.checks import Checks
from gateway.crossing.joins import Joins
from gateway.crossing.leases import Living
from gateway.crossing.operate import Operate
from gateway.crossing.patience import Patience
from gateway.crossing.reads import Reads
from gateway.events.redact import Redactor
from gateway.pipeline import Pipeline
from gateway.relay.parking import Parking
from gateway.steps.claim import Claim, Terms
from gateway.steps.dispatch import Dispatch, Downstream
from gateway.steps.normalise import Normalise
from gateway.steps.record import Record
from gateway.store.claims import Wanted
from gateway.store.keys import TenantKeys
from gateway.store.operations import Settlement
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types import operations as types
from gateway.types.actors import Actor
from gateway.types.decisions import Exceeded, Limit
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json
from gateway.types.operations import Delivered, Delivery, Operation, OpState, Peer
from gateway.types.outcomes import Finished
from gateway.types.relay import Ear, Outbound
from gateway.types.runs import Evidence, Run
from tests.helpers.people import a_holding, no_tools, some_people
from tests.helpers.reads import NOT_FOUND, Scripted
from tests.helpers.relays import a_relay, some_states
from tests.helpers.shelves import Law, Shelf, a_belonging, a_resolve

_T = TypeVar("_T")


@dataclass
class Log:
    """An event log that keeps everything in memory."""

    events: list[Event] = field(default_factory=list[Event])
    failing: str = ""
    caught_up: int = 0  # how often somebody had nothing else to do

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        del durable, owed
        self.events += events

    def append_later(
        self, make: Callable[[], Sequence[Event | EventRow]], most: int, *, owed: bool = False
    ) -> None:
        made = [each for each in make() if isinstance(each, Event)]
        assert len(made) <= most
        self.append(made, owed=owed)

    def catch_up(self) -> None:
        self.caught_up += 1

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
    async def remember(
        self, actor: Actor, run_id: str, tool: str, found: Sequence[SeenValue]
    ) -> None:
        del actor, run_id, tool, found

    async def taint(self, actor: Actor, run: Run | None, call_id: str) -> None:
        del actor, run, call_id

    async def collect(self, run_id: str, evidence: Sequence[Evidence]) -> None:
        del run_id, evidence


class _Inline:
    """An owner for calls that nobody leaves."""

    async def run(self, work: Callable[[], Awaitable[Finished]]) -> Finished:
        return await work()

    def start(self, work: Callable[[], Awaitable[Finished]]) -> "Future[Finished]":
        raise NotImplementedError(work)


class Aside:
    """The process as the owner of work that nobody waits for: tasks of the loop."""

    def aside(self, work: Callable[[], Awaitable[_T]]) -> "Future[_T]":
        return ensure_future(work())


class _Reading:
    """The operations of a pipeline that only reads."""

    async def claim(
        self, wanted: Wanted, events: Sequence[Event], *, lease_s: float
    ) -> types.Claim:
        raise NotImplementedError(wanted)

    def unsend(self, wanted: Operation, events: Sequence[Event] = ()) -> None:
        raise NotImplementedError(wanted)

    async def settle(
        self,
        ending: Settlement,
        events: Sequence[Event],
        *,
        before: OpState = OpState.DISPATCHING,
    ) -> bool:
        raise NotImplementedError(ending)

    def settle_soon(self, ending: Settlement, events: Sequence[Event]) -> None:
        raise NotImplementedError(ending)

    async def get(self, op_id: str) -> Operation | None:
        raise NotImplementedError(op_id)

    async def renew(self, living: Sequence[tuple[str, int]], lease_s: float) -> frozenset[str]:
        raise NotImplementedError(living, lease_s)


async def unresolved(case: Case, operation: Operation) -> bool:
    """Find nothing out."""
    del case, operation
    return False


def digest(tenant: str, value: Json) -> str:
    """Return what stands for a value: nothing of it shows."""
    return jsontext.digest([tenant, value])


def a_pipeline(
    shelf: Shelf,
    law: Law,
    server: Downstream | None,
    log: Log,
    *,
    store: Store | None = None,
    window_s: float = 0.0,
    terms: Terms | None = None,
    reads: Reads | None = None,
    belonging: Belonging | None = None,
) -> Pipeline:
    """Return a pipeline over a shelf and a law, with one server for every name.

    With a `store` it may write; `window_s` is how long late answers are taken. `reads` answer the
    reads of checks, which find nothing without. `belonging` finds the runs of calls.
    """
    states, relay, owner = some_states(), a_relay(), _Inline()
    record = Record(
        journal=log if store is None else store.events,
        telemetry=Telemetry.start(TelemetryOptions(), {}),
        redactor=Redactor(lambda tenant: tenant.encode()),
        digest=digest,
        seen_values=_Forgetting(),
        clock=SystemClock(),
    )
    operations = _Reading() if store is None else store.operations
    vault = Vault(TenantKeys(b"s" * 32).operations)
    joins = Joins(operations.get)
    living = Living(
        table=operations, clock=SystemClock(), lease_s=terms.lease_s if terms else Terms().lease_s
    )
    claim = Claim(
        limits=_Unlimited(),
        operations=operations,
        people=some_people(vault),
        joins=joins,
        vault=vault,
        shown=lambda case: jsontext.dump(case.arguments or {}).decode(),
        patience_s=relay.outbounds.deadline_s,
        leaving=Normalise(max_result_bytes=100_000, digest=digest).again,
        resolve=unresolved,
        terms=terms or Terms(),
    )
    return Pipeline(
        resolve=a_resolve(shelf, law, belonging),
        belonging=belonging or a_belonging(law),
        claim=claim,
        dispatch=Dispatch(
            server=lambda name: server,
            relay=relay,
            patience=Patience(starter=Aside(), window_s=window_s),
            leases=living,
        ),
        operate=Operate(
            operations=operations,
            starter=Aside(),
            living=living,
            joins=joins,
            vault=vault,
            clock=SystemClock(),
            window_s=claim.window_s,
            fault=lambda case, error: record.fault(case.call, error),
        ),
        checks=Checks(reads=reads or Scripted([NOT_FOUND])),
        normalise=Normalise(max_result_bytes=100_000, digest=digest),
        record=record,
        owner=owner,
        relay=relay,
        states=states,
        parking=Parking(owner, states),
        holding=a_holding(states),
        own_tools=no_tools(),
    )
