"""Calls and people around one run, in any order, against somebody who knows the rules by heart.

A call is judged at one time and claimed at another, with anything in between: so every race between
two gateways is an order of steps here. What the store says of the run, and what it lets be sent, is
compared with a model that knows nothing of its code.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

from gateway import ids
from gateway.runs import machine, moves
from gateway.runs.machine import Go, Need, Terms
from gateway.runs.moves import Blocked
from gateway.runs.templates import Guard, Template
from gateway.store.events import EventFilter
from gateway.store.requests import Asking
from gateway.store.store import Store
from gateway.types.approvals import Approval, Choice
from gateway.types.events import Event, EventKind, Stage
from gateway.types.operations import Met, Operation, OpState
from gateway.types.runs import Mode, Mover, Passage, Phase, Run
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced
from tests.helpers.approvals import BINDING, LEADS, an_approval, vote
from tests.helpers.events import an_event
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.runs import a_run, started, told

T = TypeVar("T")
P = Phase
OVER: Final = (P.COMPLETED, P.HANDOFF, P.FAILED)
KEYS: Final = ("k0", "k1", "k2", "k3", "k4", "k5")
ASKED_ABOUT: Final = {"k0", "k1"}  # people decide about these calls
ASKED: Final = st.lists(st.sampled_from(sorted(ASKED_ABOUT)), min_size=1, max_size=2)
TOOLS: Final = ("desk.low", "desk.high", "desk.last")
ENDS: Final = (
    OpState.SUCCEEDED,
    OpState.SUCCEEDED,
    OpState.FAILED_RETRYABLE,
    OpState.INDETERMINATE,
)
TEMPLATE: Final = Template(
    name="work",
    enter_when={
        P.ACTING: (Guard(text="open_ops < 2", holds=lambda run: run.open_ops < 2),),
        P.FINALIZING: (Guard(text="open_ops == 0", holds=lambda run: run.open_ops == 0),),
    },
    tools={P.ACTING: frozenset({"desk.low", "desk.high"}), P.FINALIZING: frozenset({"desk.last"})},
    finalizers=frozenset({"desk.last"}),
    during_wait=frozenset({"desk.low"}),
)


@dataclass(frozen=True)
class Attempt:
    """A write as it was judged; whether it may still be sent is another question."""

    need: Need
    key: str
    name: str  # the key in the store
    passage: Passage


@dataclass
class Model:
    """What a run is like, by the rules and by what was done to it."""

    mode: Mode
    phase: Phase = P.CREATED
    back: Phase | None = None
    is_paused: bool = False
    open: dict[str, OpState] = field(default_factory=dict[str, OpState])
    pending: set[str] = field(default_factory=set[str])
    approved: set[str] = field(default_factory=set[str])  # keys of calls
    failed: set[str] = field(default_factory=set[str])  # keys of what was not carried out

    @property
    def under_way(self) -> int:
        return len(self.open)

    def lets(self, tool: str, key: str) -> bool:
        """Whether a write may be sent now, by the words of the reference."""
        if self.is_paused:
            return False
        if self.phase is P.FAILED:
            return key in self.failed
        place = self.back if self.phase is P.AWAITING_APPROVAL else self.phase
        if tool == "desk.last":
            has_room = place is P.FINALIZING or (place is P.ACTING and self.may_finalize)
        else:
            has_room = place is P.ACTING or (place is P.RETRIEVING and self.may_act)
        if self.phase is not P.AWAITING_APPROVAL:
            return has_room
        is_there = place is (P.FINALIZING if tool == "desk.last" else P.ACTING)
        return is_there and (key in self.approved or tool == "desk.low")

    def asks(self, tool: str) -> bool:
        """Whether people may be asked about a write now."""
        if self.is_paused or self.phase in OVER:
            return False
        if self.phase is not P.AWAITING_APPROVAL:
            return self.lets(tool, "")
        return self.back is (P.FINALIZING if tool == "desk.last" else P.ACTING)

    @property
    def may_act(self) -> bool:
        return self.mode is Mode.AUTO and self.under_way < 2

    @property
    def may_finalize(self) -> bool:
        return self.mode is Mode.AUTO and self.under_way == 0

    def enters(self, tool: str) -> None:
        """Take the run to where a write that was let through is made."""
        if self.phase in (P.RETRIEVING, P.ACTING):
            self.phase = P.FINALIZING if tool == "desk.last" else P.ACTING

    def count(self) -> None:
        """Wait for people as long as they have to decide."""
        if self.phase in OVER or bool(self.pending) is (self.phase is P.AWAITING_APPROVAL):
            return
        if self.pending:
            self.phase, self.back = P.AWAITING_APPROVAL, self.phase
        else:
            self.phase, self.back = self.back or P.ACTING, None


@dataclass
class World:
    """The gateways' stores, on one database, and what they have been asked so far."""

    stores: Sequence[Store]
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)
    rules: int = 0  # that were applied
    sent: int = 0  # writes that were let through
    held: int = 0  # writes that were judged, and then met another run

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)


def asking(run: Run) -> Asking:
    """Return how people are asked about a write."""

    def made(operation: Operation, earlier: Operation | None) -> Approval:
        del earlier
        return an_approval(op_id=operation.op_id, tenant=run.tenant, run_id=run.run_id)

    def tells(approval: Approval, stage: Stage) -> Sequence[Event]:
        kind = EventKind.APPROVAL
        name = f"{approval.approval_id}-{stage}"
        return [an_event(id=name, tenant=run.tenant, kind=kind, stage=stage)]

    return Asking(
        clause=LEADS,
        tenant=run.tenant,
        user="ana",
        binding=lambda op_id: BINDING,
        was_like_this=lambda operation, approval: False,
        made=made,
        tells=tells,
        voted=lambda ruling, vote: [],
        notices=lambda approval, stage: [],
        most_pending=1_000,
        most_requests=1_000_000,
    )


class Runs(RuleBasedStateMachine):
    """A run, its calls, its host, its model and the people around it."""

    world: ClassVar[World]
    attempts: "Bundle[Attempt]" = Bundle("attempts")
    seen: "Bundle[Run]" = Bundle("seen")
    # A run as it was read some time ago, or None: as it is now.
    versions: ClassVar[Any] = st.none() | st.none() | seen

    def __init__(self) -> None:
        super().__init__()
        self.tenant, self.next = ids.new("t"), 0
        self.known: dict[str, Operation] = {}  # the newest operation of a key
        self.requests: dict[str, str] = {}  # the newest request of a key
        self.names = {key: ids.new(key) for key in KEYS}  # as they are: another once one is done

    @property
    def store(self) -> Store:
        """The gateways take turns."""
        self.next += 1
        return self.world.stores[self.next % len(self.world.stores)]

    @initialize(
        mode=st.sampled_from([Mode.AUTO, Mode.AUTO, Mode.AUTO, Mode.AGENT, Mode.HOST]),
        phase=st.sampled_from([P.CREATED, P.RETRIEVING, P.RETRIEVING, P.ACTING, P.ACTING]),
    )
    def begin(self, mode: Mode, phase: Phase) -> None:
        """Begin a run; most of them where something can happen."""
        run = a_run(tenant=self.tenant, mode=mode, template="work", phase=phase)
        self.run = self.world.do(self.store.runs.start(run, [], started))
        self.model = Model(mode, phase)

    @property
    def now(self) -> Run:
        found = self.world.do(self.store.runs.get(self.run.run_id))
        assert found is not None
        return found

    @rule(target=seen)
    def look(self) -> Run:
        """Read the run, for somebody who changes it later."""
        return self.now

    @rule(
        target=attempts,
        tool=st.sampled_from(TOOLS),
        key=st.sampled_from(KEYS),
    )
    def judge(self, tool: str, key: str) -> Any:
        """Judge a write, which is claimed some time later, if ever."""
        attempt = self.judged(tool, key)
        return attempt or multiple()  # pyright: ignore[reportUnknownVariableType] - of nothing

    @rule(
        tools=st.lists(st.sampled_from([*TOOLS, "desk.high"]), min_size=3, max_size=6),
        key=st.sampled_from(KEYS),
        end=st.none() | st.sampled_from(ENDS),
    )
    def call(self, tools: Sequence[str], key: str, end: OpState | None) -> None:
        """Judge writes and claim each at once; they end, or stay under way."""
        for nr, tool in enumerate(tools):
            one = KEYS[(KEYS.index(key) + nr) % len(KEYS)]
            attempt = self.judged(tool, one)
            if attempt is not None:
                self.take(attempt)
            if end is not None:
                self.settled(one, end)

    def judged(self, tool: str, key: str) -> Attempt | None:
        """Judge a write by the run as it is."""
        risk = Risk.HIGH if tool == "desk.high" else Risk.LOW
        need = Need(effect=Effect.WRITE, risk=risk, tool=tool)
        run, model = self.now, self.model
        met = machine.weigh(run, need, Terms(template=TEMPLATE), now=0)
        may = model.lets(tool, key) or model.asks(tool) or model.phase is P.FAILED
        if isinstance(met, Blocked):
            assert not may or model.is_paused, (met, model)
            return None
        assert may, (met, model)
        passage = Passage(run=run, move_to=met.move_to, only=met.only)
        return Attempt(need=need, key=key, name=self.names[key], passage=passage)

    @rule(attempt=attempts)
    def late(self, attempt: Attempt) -> None:
        """Claim a write that was judged some time ago."""
        self.take(attempt)

    def take(self, attempt: Attempt) -> None:
        """Claim a write, and send it where that is let."""
        key, model, tool = attempt.key, self.model, attempt.need.tool
        name = attempt.name
        asked = wanted(tenant=self.tenant, key=name, run_id=self.run.run_id, tool=tool)
        how = asking(self.run) if key in ASKED_ABOUT else None
        made = self.world.do(claim(self.store, asked, passage=attempt.passage, asking=how))
        match made.met:
            case Met.TAKEN:
                assert model.lets(tool, key), (attempt, model)
                self.world.sent += 1
                self.known[key] = made.operation
                model.enters(tool)
                model.open[made.operation.op_id] = OpState.DISPATCHING
                model.failed.discard(key)
                model.approved.discard(key)
            case Met.HELD:
                assert model.asks(tool), (attempt, model)
                assert made.approval is not None
                self.known[key] = made.operation
                self.requests[key] = made.approval.approval_id
                model.enters(tool)
                if key not in model.approved:
                    model.pending.add(key)
                model.failed.discard(key)
                model.count()
            case Met.RUN_CHANGED:
                self.world.held += 1
                assert self.now != attempt.passage.run
            case _:
                pass

    @rule(key=st.sampled_from(KEYS), end=st.sampled_from(ENDS))
    def settle(self, key: str, end: OpState) -> None:
        """Have a write that was sent come to an end."""
        self.settled(key, end)

    def settled(self, key: str, end: OpState) -> None:
        taken = self.known.get(key)
        if taken is None or taken.state is not OpState.DISPATCHING:
            return
        if not self.world.do(settle(self.store, taken, end)):
            return
        if end is OpState.INDETERMINATE:
            self.forget(key)
            return  # it stays open: nobody knows
        self.model.open.pop(taken.op_id, None)
        if end is OpState.FAILED_RETRYABLE:
            self.model.failed.add(key)
        else:
            self.forget(key)

    def forget(self, key: str) -> None:
        """Have the next such call be another one."""
        self.names[key] = ids.new(key)
        self.known.pop(key, None)

    @rule(keys=ASKED, choice=st.sampled_from(Choice))
    def decide(self, keys: Sequence[str], choice: Choice) -> None:
        """Have people decide about one call after the other."""
        for key in keys:
            self.decided(key, choice)

    def decided(self, key: str, choice: Choice) -> None:
        name = self.requests.get(key, "")
        approval = self.world.do(self.store.approvals.get(name))
        if approval is None or not approval.state.is_open:
            return
        ruling = self.world.do(vote(self.store, approval, choice=choice))
        if not ruling.cast.is_accepted:
            return
        self.model.pending.discard(key)
        self.model.approved.discard(key)
        if choice is Choice.APPROVE:
            self.model.approved.add(key)
        else:
            self.forget(key)
        self.model.count()

    @rule(before=versions, to=st.sampled_from(P), by=st.sampled_from([Mover.HOST, Mover.AGENT]))
    def move(self, before: Run | None, to: Phase, by: Mover) -> None:
        """Move a run, by hand."""
        before = before or self.now
        after = moves.moved(before, to, by, TEMPLATE, now=1)
        if isinstance(after, Blocked):
            return
        made = self.world.do(self.store.runs.move(before, after, told))
        if made is not None:
            assert (before.phase, to) in moves.MOVES
            assert self.model.phase is before.phase
            assert by is Mover.HOST or self.model.mode is not Mode.HOST
            self.model.phase = to

    @rule(before=versions)
    def read(self, before: Run | None) -> None:
        """Make a read, which takes a run that has just begun on to retrieving."""
        before = before or self.now
        need = Need(effect=Effect.READ, risk=Risk.LOW, tool="desk.read")
        met = machine.weigh(before, need, Terms(template=TEMPLATE), now=0)
        if not isinstance(met, Go) or met.move_to is None:
            return
        after = replaced(before, phase=met.move_to)
        if self.world.do(self.store.runs.move(before, after, told)) is not None:
            assert self.model.phase in (P.CREATED, P.PLANNING)
            assert self.model.mode is Mode.AUTO
            self.model.phase = P.RETRIEVING

    @rule(before=versions, pauses=st.sampled_from([True, False, False]))
    def pause(self, before: Run | None, *, pauses: bool) -> None:
        """Pause a run, or resume it."""
        pauses = pauses and before is not None
        before = before or self.now
        after = moves.paused(before) if pauses else moves.resumed(before, TEMPLATE, now=1)
        if isinstance(after, Blocked):
            return
        if self.world.do(self.store.runs.change(before, after, told)) is not None:
            goes_on = self.model.phase.is_final and not pauses  # what was given up
            assert goes_on or self.model.is_paused is not pauses
            self.model.is_paused = pauses
            if goes_on:
                self.model.phase = P.RETRIEVING

    @rule(before=versions, to=st.sampled_from(OVER), rarely=st.integers(0, 9))
    def end(self, before: Run | None, to: Phase, rarely: int) -> None:
        """End a run."""
        before = before or self.now
        after = moves.ended(before, to, Mover.HOST, TEMPLATE, now=1)
        if rarely or isinstance(after, Blocked):
            return
        made = self.world.do(self.store.runs.move(before, after, told))
        if made is None:
            return
        if to is P.COMPLETED:
            assert not self.model.open
            assert not self.model.pending
        self.model.phase, self.model.back, self.model.is_paused = to, None, False

    @rule(before=seen, rarely=st.integers(0, 3))
    def taint(self, before: Run, rarely: int) -> None:
        """Have a result come in that others can write: whatever was judged is judged anew."""
        if not rarely:
            self.world.do(self.store.runs.taint(before, told))

    @invariant()
    def hold(self) -> None:
        """The row is as the model says."""
        self.world.rules += 1
        row, model = self.now, self.model
        assert (row.phase, row.resume_phase) == (model.phase, model.back)
        assert row.is_paused is model.is_paused
        assert row.open_ops == model.under_way
        assert row.pending_approvals == len(model.pending)

    def teardown(self) -> None:
        """Each version is told once, in order."""
        wanted_events = EventFilter(tenant=self.tenant, kind="run", limit=10_000)
        kept = self.world.do(self.store.events.query(wanted_events))
        versions = [each.json()["body"] for each in kept]
        assert [body["version"] for body in versions if isinstance(body, dict)] == [
            *range(self.now.version + 1)
        ]
