"""One read taken two ways: the short one, and all the way by parts that write nothing at once.

Whatever may be seen of a call from outside is kept of both, down to the byte. Time stands still but
where somebody is waited for, and ids are counted, so that nothing differs by chance.
"""

import asyncio
import itertools
import json
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Protocol
from unittest.mock import patch

from gateway import jsontext
from gateway.crossing.usual import Usual
from gateway.events.redact import Redactor
from gateway.pipeline import Pipeline
from gateway.relay.questions import Questions
from gateway.relay.tools import OwnTools
from gateway.steps.record import Record
from gateway.store.times import microseconds
from gateway.telemetry.options import TelemetryOptions
from gateway.types.calls import Nobody, Principal, ProposedCall
from gateway.types.event_rows import EventRow
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Delivery, Peer
from gateway.types.outcomes import Finished
from gateway.types.relay import Ear, Outbound
from gateway.types.runs import BindingKind, Bound, Place, Run
from gateway.types.tools import Contract, Tool
from gateway.types.values import replaced
from tests.helpers.cases import (
    ALLOW_ALL,
    NOW,
    a_call,
    a_contract,
    a_definition,
    a_principal,
    a_revision,
    a_tool,
)
from tests.helpers.pipelines import Log, a_pipeline, digest
from tests.helpers.relays import a_relay
from tests.helpers.shelves import Law, NoRuns, Shelf, a_belonging
from tests.helpers.watched import ORIGIN, Clock, Journal, Watched

PRINCIPAL: Final = a_principal()
TEXTS: Final[JsonObject] = {"type": "object", "additionalProperties": {"type": "string"}}
DEFINITION: Final = a_definition(
    properties={"text": {"type": "string"}, "n": {"type": "number"}, "deep": TEXTS, "any": {}},
    outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}},
)
TOOL: Final = a_tool(DEFINITION)
OPEN: Final = a_tool(a_definition(properties={"text": {"type": "string"}}))  # says of results nil
RESULT: Final[JsonObject] = {
    "content": [{"type": "text", "text": "one"}],
    "structuredContent": {"n": 1},
}
TAUGHT: Final = 4  # like calls, after which others go the short way
RUN: Final = Run(
    run_id="run_1",
    tenant="acme",
    owner="0" * 32,
    user="sam",
    created_at=microseconds(NOW),
    active_at=microseconds(NOW),
)


@dataclass
class Server:
    """Answers, or breaks, after 50 ms of the clock."""

    clock: Clock
    answer: Delivery | BaseException = field(
        default_factory=lambda: Delivered(result=RESULT, size=90)
    )
    asked: list[tuple[Outbound, bool]] = field(default_factory=list[tuple[Outbound, bool]])
    peer: Peer = field(default_factory=lambda: Peer(transport="http", version="2026-07-28"))
    may_answer: asyncio.Event | None = None
    meanwhile: Callable[[], object] = lambda: None

    async def request(self, outbound: Outbound, ear: Ear | None) -> Delivery:
        # The short way sends along what it has written already; what is asked is the same.
        assert outbound.written in (b"", jsontext.dump(outbound.params["arguments"]))
        self.asked.append((replaced(outbound, written=b""), ear is not None))
        self.clock.passes(50)
        if self.may_answer is not None:
            await self.may_answer.wait()
        self.meanwhile()
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Runs(NoRuns):
    """Leads every call to one run, or to none, after 7 ms of the clock.

    But once for each call: to look twice takes longer, which is no difference of what is said.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.is_new = True  # the call that is looked up
        self.run: Run | None = None
        self.meanwhile: Callable[[], object] = lambda: None
        self.fails: Exception | None = None
        self.may_answer: asyncio.Event | None = None
        self.noted: list[tuple[str, datetime]] = []
        self.moved: list[Run] = []

    async def bound(
        self, principal: Principal, places: Sequence[Place], *, with_counts: bool = False
    ) -> list[Bound]:
        del principal, places, with_counts
        if self.is_new:
            self._clock.passes(7)
        self.is_new = False
        if self.may_answer is not None:
            await self.may_answer.wait()
        self.meanwhile()
        if self.fails is not None:
            raise self.fails
        return [] if self.run is None else [Bound(run=self.run, kind=BindingKind.CONVERSATION)]

    async def move(self, before: Run, after: Run, told: object) -> Run | None:
        del before, told
        self.moved.append(after)
        self.run = after
        return after

    def touched(self, run_id: str, at: datetime, *, calls: int = 1, tokens: int = 0) -> None:
        del calls, tokens
        self.noted.append((run_id, at))


@contextmanager
def counted_ids() -> Generator[None]:
    """Count ids from the beginning, each kind by itself."""
    ulids, traces, spans = itertools.count(1), itertools.count(1), itertools.count(1)

    def span_id() -> str:
        return f"{next(spans):016x}"

    with patch.multiple(
        "gateway.ids",
        ulid=lambda: f"01{next(ulids):024d}",
        trace_id=lambda: f"{next(traces):032x}",
        span_id=span_id,
        two_span_ids=lambda: (span_id(), span_id()),
    ):
        yield


@dataclass(frozen=True)
class Seen:
    """All that may be seen of one call from outside."""

    left: bytes  # with the order of its members
    finished: Finished | None
    failure: str
    rows: list[EventRow]
    spans: list[bytes]
    metrics: list[object]
    asked: list[tuple[Outbound, bool]]
    noted: list[tuple[str, datetime]]
    moved: list[Run]
    refused: int
    owed: list[tuple[int, bool]]
    under_way: int


class Way(Protocol):
    """How a call is taken."""

    def __call__(self, call: ProposedCall) -> Coroutine[Any, Any, Finished]: ...


@dataclass(kw_only=True)
class Setting:
    """What both ways have in common."""

    tool: Tool = TOOL
    contract: Contract | None = None
    policy: str = ALLOW_ALL
    in_runs: bool = False
    is_at_once: bool = False  # what is put off is not
    questions: Questions | None = None
    reads_wait_for_log: bool = False
    environ: dict[str, str] = field(default_factory=dict[str, str])
    own_tools: OwnTools | None = None
    tools: tuple[Tool, ...] = ()  # beside the one


def at_length(pipeline: Pipeline, call: ProposedCall) -> Coroutine[Any, Any, Finished]:
    """Return the long way of a call."""
    sees: Any = pipeline
    way: Coroutine[Any, Any, Finished] = sees._at_length(call)
    return way


class Side:
    """A pipeline that is looked at from outside."""

    def __init__(self, setting: Setting, *, is_short: bool) -> None:
        self.is_short = is_short
        self.clock = Clock()
        self.journal = Journal(is_at_once=setting.is_at_once)
        self.server, self.runs = Server(self.clock), Runs(self.clock)
        self.servers: dict[str, Server] = {setting.tool.server: self.server}
        contract = setting.contract or a_contract(setting.tool)
        self.law = Law(a_revision([contract, *map(a_contract, setting.tools)], setting.policy))
        self.shelf = Shelf((setting.tool, *setting.tools))
        redactor = Redactor(lambda tenant: tenant.encode())
        telemetry = Watched.start(TelemetryOptions(), setting.environ)
        assert isinstance(telemetry, Watched)
        self.telemetry: Watched = telemetry.watch(is_early=is_short)
        belonging = a_belonging(
            self.law, runs=self.runs, is_enabled=setting.in_runs, clock=self.clock
        )
        made = a_pipeline(self.shelf, self.law, self.server, Log(), belonging=belonging)
        relay = a_relay(setting.questions) if setting.questions is not None else made.relay
        self.pipeline: Pipeline = replace(
            made,
            relay=relay,
            dispatch=replace(made.dispatch, relay=relay, server=self.servers.get),
            own_tools=setting.own_tools or made.own_tools,
            record=Record(
                journal=self.journal,
                telemetry=self.telemetry,
                redactor=redactor,
                digest=digest,
                seen_values=made.record.seen_values,
                clock=self.clock,
                reads_wait_for_log=setting.reads_wait_for_log,
                usual=Usual(ORIGIN, redactor) if is_short else None,
            ),
        )
        self.alike = 0  # calls that were recorded as others, since the beginning

    def way(self, call: ProposedCall) -> Coroutine[Any, Any, Finished]:
        """Return the way of a call through this side."""
        pipeline = self.pipeline
        if self.is_short or pipeline.own_tools.has(call):
            return pipeline.handle(call)
        return at_length(pipeline, call)

    async def take(self, call: ProposedCall, way: Way | None = None) -> Seen:
        """Take one call, and return what was seen of it."""
        finished, failure, self.runs.is_new = None, "", True
        with counted_ids():
            try:
                finished = await (way or self.way)(call)
            except BaseException as error:  # told, and held against the other way's
                failure = type(error).__name__
            rows = self.journal.taken()
        return self._seen(finished, failure, rows)

    def _seen(self, finished: Finished | None, failure: str, rows: list[EventRow]) -> Seen:
        metrics, alike = self.telemetry.metered()
        self.alike += alike
        asked = [each for server in self.servers.values() for each in server.asked]
        for server in self.servers.values():
            server.asked = []
        noted, self.runs.noted = self.runs.noted, []
        moved, self.runs.moved = self.runs.moved, []
        owed, self.journal.owed = self.journal.owed, []
        refused, self.journal.refused = self.journal.refused, 0
        return Seen(
            left=b""
            if finished is None
            else json.dumps(finished.result).encode("utf-8", "replace"),
            finished=finished,
            failure=failure,
            rows=rows,
            spans=self.telemetry.written(),
            metrics=metrics,
            asked=asked,
            noted=noted,
            moved=moved,
            refused=refused,
            owed=owed,
            under_way=self.pipeline.record.under_way.calls,
        )

    def is_taken(self, call: ProposedCall) -> bool:
        """Whether a call would begin on the short way."""
        going = self.pipeline.express.taken(call)
        if going is None:
            return False
        going.close()
        return True


class Speaker(Nobody):
    """A caller that says how it speaks."""

    protocol_version = "2026-07-28"
    transport = "http"

    def __init__(self, **said: Any) -> None:
        self._declared: JsonObject = said.pop("capabilities", {})
        for name, value in said.items():
            setattr(self, name, value)

    @property
    def capabilities(self) -> JsonObject:
        return self._declared


SPEAKER: Final = Speaker()


def read(arguments: JsonObject | None = None, /, **changes: Any) -> ProposedCall:
    """Return a read of the one principal."""
    fields: dict[str, Any] = {
        "principal": PRINCIPAL,
        "caller": SPEAKER,
        "request_id": "7",
        "peer": "192.0.2.9:51000",
    }
    name = changes.pop("name", TOOL.exposed_name)
    return a_call(name, {"text": "x"} if arguments is None else arguments, **(fields | changes))


class Both:
    """Takes each call both ways, and holds what is seen of the one against the other."""

    def __init__(self, **setting: Any) -> None:
        self.setting = Setting(**setting)
        self.short = Side(self.setting, is_short=True)
        self.long = Side(self.setting, is_short=False)
        self.sides = (self.short, self.long)

    def both(self, change: Callable[[Side], object]) -> None:
        """Change both sides alike."""
        for side in self.sides:
            change(side)

    def revised(self, **changes: Any) -> None:
        """Put another revision in force."""
        revision = replace(self.short.law.revision, **changes)
        for side in self.sides:
            side.law.revision = revision

    def answers(self, answer: Delivery | BaseException) -> None:
        """Have the server answer so from now on."""
        self.both(lambda side: setattr(side.server, "answer", answer))

    async def taught(self, *calls: ProposedCall) -> "Both":
        """Take calls that lay the tracks, by which calls that are like them go the short way."""
        for call in calls or (read(),):
            for number in range(TAUGHT):
                await self.take(replaced(call, call_id=f"taught_{number}"))
        return self

    async def take(self, call: ProposedCall, way: Way | None = None) -> tuple[Seen, bool]:
        """Return what was seen of a call, the same both ways, and whether it went the short one."""
        before = self.short.alike
        call = replaced(call, received_at=self.short.clock.at)
        short = await self.short.take(call, way)
        long = await self.long.take(call)
        same(short, long)
        assert self.short.clock.at == self.long.clock.at
        return short, self.short.alike > before

    async def short_way(self, call: ProposedCall) -> Seen:
        """Take a call that has to go the short way to its end."""
        seen, is_short = await self.take(call)
        assert is_short, "it went the long way"
        return seen

    async def long_way(self, call: ProposedCall) -> Seen:
        """Take a call that may not go the short way to its end."""
        seen, is_short = await self.take(call)
        assert not is_short, "it went the short way"
        return seen


def same(short: Seen, long: Seen) -> None:
    """Hold what was seen of one way against the other, part by part: messages say which."""
    for name in Seen.__dataclass_fields__:
        assert getattr(short, name) == getattr(long, name), name
