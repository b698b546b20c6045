"""What is written at once is, byte for byte, what the events made one by one are."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.case import Case, Facts, Origin, Verdict
from gateway.crossing import usual
from gateway.crossing.ticket import Ticket
from gateway.crossing.usual import Usual
from gateway.events.envelope import Origin as Writer
from gateway.store.event_rows import row_of
from gateway.types.actors import Actor
from gateway.types.audit import Audit, Level
from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect, Inputs, Limit, OutputPolicy, RowCount
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject
from gateway.types.observed import Observed, Would
from gateway.types.operations import Delivered, Delivery, Peer, Rejected
from gateway.types.outcomes import Answer, Refusal, Status
from gateway.types.records import CallRecord
from gateway.types.runs import (
    BindingKind,
    Collected,
    Holder,
    Mode,
    Phase,
    StopReason,
    Trust,
)
from gateway.types.tools import (
    Effect,
    OnFail,
    ProvenanceRule,
    Retrieval,
    Risk,
    Sensitivity,
    SourceTrust,
    Tool,
    Yield,
)
from gateway.types.values import replaced
from tests.helpers.cases import (
    ALLOW_ALL,
    NOW,
    a_call,
    a_case,
    a_contract,
    a_resource,
    a_revision,
    a_tool,
    an_actor,
)
from tests.helpers.ledgers import Books, Clock, MemoryLog
from tests.helpers.runs import a_run

ORIGIN = Writer(instance='gw-"1" 100%s', version="0.1.0")
TOOL = a_tool()
PEER = Peer(transport="http", version="2026-07-28")
RESULT: JsonObject = {"content": [{"type": "text", "text": "x"}]}
ALLOWED = Decision(
    effect=DecisionEffect.ALLOW,
    code="",
    rule='all "50 %d" \\',
    place="rules.yaml:2",
    matched=("all",),
    revision="sha256:r",
    inputs=Inputs(effect=Effect.READ, risk=Risk.LOW, phase=Phase.ACTING),
)
TIMED = ALLOW_ALL.replace("match:", "when: now > timestamp('2026-01-01T00:00:00Z'), match:")
LIMIT = Limit(id="l", key="k", maximum=1, window_s=1, amount=2, rule="all")
SOURCE = Origin(type="crm.id", record="call_1/0", tool="crm.find", trust=SourceTrust.SYSTEM)


class Journal:
    """Has everything made both ways, and keeps how much was written at once."""

    failing = ""

    def __init__(self, writer: Usual) -> None:
        self.writer = writer
        self.books: Books | None = None
        self.at_once = 0

    def append_later(
        self, make: Callable[[], Sequence[Event | EventRow]], most: int, *, owed: bool = False
    ) -> None:
        del owed
        assert self.books is not None
        found = self._made(make, self.writer)
        assert [row_of(each, ORIGIN) if isinstance(each, Event) else each for each in found] == [
            row_of(each, ORIGIN) for each in self._made(make, None) if isinstance(each, Event)
        ]
        assert len(found) <= most
        self.at_once += sum(isinstance(each, EventRow) for each in found)

    def _made(
        self, make: Callable[[], Sequence[Event | EventRow]], writer: Usual | None
    ) -> Sequence[Event | EventRow]:
        assert self.books is not None
        self.books.usual = writer
        numbers: Iterator[int] = itertools.count(1)
        with patch("gateway.ids.ulid", lambda: f"01ID{next(numbers)}"):
            return make()

    def append(self, events: Sequence[Event], *, durable: bool = False, owed: bool = False) -> None:
        del events, durable, owed

    def catch_up(self) -> None:
        return None

    async def kept(self) -> None:
        return None


class World:
    """Tickets that write their events both ways."""

    def __init__(self) -> None:
        self.books = Books(MemoryLog(), Clock())
        self.journal = Journal(Usual(ORIGIN, self.books.redactor))
        self.journal.books = self.books
        self.books.journal = self.journal  # type: ignore[assignment]
        self.books.level = Level.REQUEST

    async def call(
        self,
        case: Case,
        outcome: Answer | Refusal | None = None,
        delivery: Delivery | None = None,
        sent: Case | None = None,
        **noted: Any,
    ) -> int:
        """Take a call from its verdict to its end; return how many events were written at once."""
        before = self.journal.at_once
        self.books.clock = Clock()  # or in time all calls would have come in long ago
        record = CallRecord(
            call=case.call,
            parent=None,
            trace_id="ab" * 16,
            server_span="cd" * 8,
            authorize_span="ef" * 8,
            client_span="01" * 8,
            received_ns=self.books.clock.time_ns(),
            actor=case.actor,
        )
        ticket = Ticket(owner=self.books, record=record, traceparent="")
        ticket.judged(Verdict(case=case, refusal=None, findings=()))
        for name, value in noted.items():
            setattr(record, name, value)
        await ticket.started(sent or case, PEER)
        ticket.answered(delivery or Delivered(result=RESULT, size=len(case.call.call_id)))
        ticket.closed(outcome or Answer(result=RESULT))
        return self.journal.at_once - before


def a_read(sent: JsonObject | None = None, **changes: Any) -> Case:
    fields: dict[str, Any] = {
        "tool": TOOL,
        "contract": CONTRACT,
        "actor": ACTOR,
        "effect": Effect.READ,
        "risk": Risk.LOW,
        "risk_reason": "contract",
        "decision": ALLOWED,
        "arguments": sent or {},
    }
    of_call = changes.pop("call", {})
    case = a_case(**(fields | changes))
    return replaced(case, call=a_call(TOOL.exposed_name, sent, **of_call))


CONTRACT, ACTOR = a_contract(TOOL), an_actor()
WORLD = World()  # of all examples: what is kept of one must not get into another


@pytest.fixture
async def world() -> World:
    """Return one that has met usual calls before."""
    made = World()
    for _ in range(2):
        await made.call(a_read())
    return made


async def test_events_of_usual_reads_are_written_at_once_from_the_second_on() -> None:
    world = World()
    assert await world.call(a_read({"n": 1})) == 2, "its end, after it was met at its decision"
    for number in range(3):
        sent: JsonObject = {"n": number, "text": "100 %s é \u2028", "deep": [{"a": None}, 1.5]}
        assert await world.call(a_read(sent, call={"call_id": f"call_{number}"})) == 3


async def test_in_a_run_they_are_written_at_once_too() -> None:
    world = World()
    for number in range(5):
        run = f"run_{number}"
        case = a_read({"n": number}, run=a_run(run_id=run), run_id=run)
        assert await world.call(case) == (3 if number else 2)
        assert await world.call(a_read({"n": number})) == (3 if number else 2)


HELD = Holder(run_id="run_0", is_over=True)
# Whatever a decision may tell of a run, beside what is redacted.
RUNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "later": {"version": 7, "phase": Phase.FINALIZING, "mode": Mode.HOST},
    "is held": {"held_by": HELD},
    "paused": {"is_paused": True, "phase": Phase.AWAITING_APPROVAL},
    "stopped": {"stop_reason": StopReason.BLOCKED, "is_tainted": True},
    "counts": {"ends_at": 9, "evidence": 2, "calls": 3, "tokens": 4},
    "operations": {"open_ops": 1, "pending_approvals": 2},
    "tools": {"verified": ('a."b"',), "succeeded": ("a.%s", "a.c")},
}


@pytest.mark.parametrize("bound", [{}, {"bound_by": BindingKind.META, "reads_while_paused": False}])
async def test_how_a_run_stood_is_told_anew_wherever_it_is_another(bound: dict[str, Any]) -> None:
    world = World()
    for _ in range(2):
        await world.call(a_read(run=a_run(), run_id="run_1"))
    for changes in (*RUNS.values(), *RUNS.values()):
        case = a_read({"a": 1}, run=a_run(run_id="run_1", **changes), run_id="run_1", **bound)
        late = replaced(case, facts=Facts(now=NOW - timedelta(milliseconds=20)))
        assert await world.call(case) == await world.call(late) == 3


COLLECTED = Collected(value="x", trust=Trust.MODEL, source="model", at=1)
ASKS_WHAT_FOR = ALLOW_ALL.replace("match:", "when: run.objective == 'x', match:")


@pytest.mark.parametrize(
    "changes",
    [
        {"run": a_run(run_id="run_1", fields={"a": COLLECTED})},
        {"run": a_run(run_id="run_1"), "revision": a_revision([CONTRACT], ASKS_WHAT_FOR)},
    ],
)
async def test_what_of_a_run_is_redacted_is_told_the_long_way(changes: dict[str, Any]) -> None:
    world = World()
    for _ in range(3):
        assert await world.call(a_read(run_id="run_1", **changes)) <= 2


async def test_a_run_is_told_of_as_it_was_when_the_call_was_judged() -> None:
    world = World()
    for nth in range(3):
        case = a_read(run=a_run(run_id="run_1", phase=Phase.CREATED), run_id="run_1")
        moved = replaced(case, run=a_run(run_id="run_1", phase=Phase.RETRIEVING, version=2))
        assert await world.call(case, sent=moved) == (3 if nth else 2)


OTHERS: dict[str, dict[str, Any]] = {
    "another effect": {"decision": replaced(ALLOWED, limits=(LIMIT,))},
    "a reason": {"decision": replaced(ALLOWED, reason="since")},
    "no revision": {"decision": replaced(ALLOWED, revision="")},
    "held back": {"decision": replaced(ALLOWED, output=OutputPolicy(keep=("/a",)))},
    "tags": {"contract": a_contract(TOOL, sensitive={"/a": Sensitivity.SECRET})},
    "yields": {"contract": a_contract(TOOL, yields=(Yield(type="t", path="/a"),))},
    "retrieves": {"contract": a_contract(TOOL, retrieval=Retrieval(query="/q"))},
    "proves": {
        "contract": a_contract(
            TOOL, provenance=(ProvenanceRule(pointer="/a", sources=(), on_fail=OnFail.DENY),)
        )
    },
    "another pin": {"tool": replace(TOOL, pin="sha256:other")},
    "its names alone": {"contract": a_contract(TOOL, audit=Audit(level=Level.METADATA))},
    "all of it": {"contract": a_contract(TOOL, audit=Audit(level=Level.FULL))},
    "the time": {"revision": a_revision([a_contract(TOOL)], TIMED)},
    "is held": {"held": "unsure"},
    "tainted": {"facts": Facts(now=NOW, is_tainted=True)},
    "origins": {"facts": Facts(now=NOW, origins={"/a": (SOURCE,)})},
    "late": {"facts": Facts(now=NOW - timedelta(seconds=2))},
    "no call": {"call": {"call_id": ""}},
    "an odd call": {"call": {"call_id": 'call_"1\\'}},
    "an odd run": {"run": a_run(run_id='r"1\\'), "run_id": 'r"1\\'},
    "a parent": {"call": {"parent": "call_0"}},
    "a cause": {"call": {"cause": "lookup"}},
    "concealed": {"call": {"concealed": {"one": Sensitivity.SECRET}}},
    "a run": {"run_id": "run_1"},
    "a completion": {"call": {"method": Method.COMPLETE}},
    "a resource": {"tool": a_resource()},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS)
async def test_what_has_more_to_say_is_told_like_any(changes: dict[str, Any]) -> None:
    world = World()
    for _ in range(3):
        await world.call(a_read({"a": "one", "q": "two"}, **changes))
    before = world.journal.at_once
    assert await world.call(a_read({"a": "one", "q": "two"}, **changes)) < 3
    assert world.journal.at_once - before < 3


ARGUMENTS: dict[str, JsonObject] = {
    "a secret": {"text": "Bearer ghp_0123456789abcdefghij0123456789abcdef"},
    "a telling key": {"password": "x"},
    "a mail address": {"to": "ann@example.org"},
    "too large": {"text": "x" * 20_000},
    "too many": {"texts": list[Json](["x" * 900] * 30)},
    "a card": {"n": 4111111111111111},
}


@pytest.mark.parametrize("sent", ARGUMENTS.values(), ids=ARGUMENTS)
async def test_arguments_that_are_not_kept_as_they_came_are_looked_at(
    world: World, sent: JsonObject
) -> None:
    assert await world.call(a_read(sent)) == 2, "its end has nothing of them"
    assert await world.call(a_read({"n": 1})) == 3


ENDS: dict[str, dict[str, Any]] = {
    "refused": {"outcome": Refusal(status=Status.RESULT_INVALID, reason="no")},
    "failed": {"outcome": Answer(result={**RESULT, "isError": True}, status=Status.TOOL_FAILED)},
    "an error": {"delivery": Delivered(result={**RESULT, "isError": True}, size=9)},
    "rejected": {"delivery": Rejected(code=-32000, message="no", size=3)},
    "observed": {"observed": Observed(would=Would.DENY, status=Status.DENIED)},
    "observed result": {"observed_result": Observed(would=Would.DENY, status=Status.DENIED)},
    "a code": {"code": "odd"},
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
async def test_ends_that_have_more_to_say_are_told_like_any(
    world: World, end: dict[str, Any]
) -> None:
    assert await world.call(a_read(), **end) < 3
    assert await world.call(a_read()) == 3


async def test_an_answer_that_lost_values_or_rows_says_so(world: World) -> None:
    answer = Answer(result=RESULT, redactions=3, rows=RowCount(kept=1, removed=2))
    assert await world.call(a_read(), answer) == 3


SITUATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"actor": an_actor(user='o"brien\\', tenant="t%s")},
    {"actor": an_actor(tenant="ü" * 300)},
    {"tool": replace(TOOL, exposed_name='x"%s'), "contract": CONTRACT},
    {"decision": replaced(ALLOWED, rule="x" * 300)},
    {"phase": Phase.PLANNING},
    {"risk": Risk.HIGH},
    {"run": a_run(run_id="run_2"), "run_id": "run_2"},
    {"run": a_run(run_id="run_3"), "run_id": "run_3", "phase": Phase.RETRIEVING},
    *(changes for changes in OTHERS.values() if "revision" not in changes),  # of another policy
)
texts = st.text(max_size=6) | st.sampled_from(["%s", '"', "\\", "%(a)s", "\0", "ann@example.org"])
values: st.SearchStrategy[Any] = st.recursive(
    texts
    | st.integers(-(2**70), 2**70)
    | st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(texts, values, max_size=3), st.sampled_from(SITUATIONS))
async def test_events_of_any_read_are_the_same_either_way(
    sent: JsonObject, situation: dict[str, Any]
) -> None:
    await WORLD.call(a_read(sent, **situation))


async def test_what_is_kept_is_bounded(world: World) -> None:
    with patch.object(usual, "_MOST", 4):
        for number in range(20):
            actor: Actor = an_actor(user=f"u{number}")
            for _ in range(2):
                await world.call(a_read(actor=actor))
            assert len(world.journal.writer) <= 4


async def test_a_mark_in_what_is_told_stops_nobody(world: World) -> None:
    named: Tool = replace(TOOL, exposed_name=f"{usual.MARK}:id")
    for _ in range(3):
        await world.call(a_read(tool=named))
    assert await world.call(a_read()) == 3
