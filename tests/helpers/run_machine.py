"""Calls and people around runs, in any order, against somebody who knows the rules by heart.

A call is judged at one time and claimed at another, with anything in between: so every race between
two gateways is an order of steps here. Three runs of one user make the same calls: one, another one
inside of it, and one beside them. What the store says of them, and what it lets be sent, is
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
from gateway.store.events import EventFilter
from gateway.store.requests import Asking
from gateway.store.store import Store
from gateway.types.approvals import Approval, Choice
from gateway.types.events import Event, EventKind, Stage
from gateway.types.operations import Met, Operation, OpState
from gateway.types.runs import Mode, Mover, Passage, Phase, Run
from gateway.types.tools import Effect, Risk
from gateway.types.values import replaced
from tests.helpers.approvals import BINDING, LEADS, an_approval, nobody, told_of, vote
from tests.helpers.events import an_event
from tests.helpers.operations import claim, settle, wanted
from tests.helpers.run_model import OVER, TEMPLATE, TOOLS, Attempt, Books, Model, P
from tests.helpers.runs import a_run, started, told

T = TypeVar("T")
RUNS: Final = ("outer", "inner", "beside")
WHICH: Final = st.sampled_from([*RUNS, "inner"])
KEYS: Final = ("k0", "k1", "k2")
ASKED_ABOUT: Final = "k0"  # people decide about these calls
ENDS: Final = (
    OpState.SUCCEEDED,
    OpState.SUCCEEDED,
    OpState.FAILED_RETRYABLE,
    OpState.FAILED_RETRYABLE,
    OpState.INDETERMINATE,
)
LATE_ENDS: Final = (OpState.SUCCEEDED, OpState.FAILED_RETRYABLE)
HANDS: Final = st.sampled_from([Mover.HOST, Mover.AGENT])
ANY: Final = st.integers(0, 1_000)  # one of those that there are


@dataclass
class World:
    """The gateways' stores, on one database, and what they have been asked so far."""

    stores: Sequence[Store]
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)
    rules: int = 0  # that were applied
    sent: int = 0  # writes that were let through
    held: int = 0  # writes that were judged, and then met another run
    taken_over: int = 0  # that were another run's before
    again: int = 0  # that were sent before: retries, and what was repeated on purpose

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
    """Runs, their calls, their host, their model and the people around them."""

    world: ClassVar[World]
    attempts: "Bundle[Attempt]" = Bundle("attempts")
    seen: "Bundle[Run]" = Bundle("seen")
    # A run as it was read some time ago, or the name of one: as it is now.
    versions: ClassVar[Any] = WHICH | WHICH | seen

    def __init__(self) -> None:
        super().__init__()
        self.tenant, self.next = ids.new("t"), 0
        self.known: dict[str, Operation] = {}  # the newest operation of a key, while it is open
        self.done: dict[str, tuple[str, Operation]] = {}  # the last that succeeded of a call
        self.requests: dict[str, tuple[str, str]] = {}  # of a key: the newest, and its run
        self.names: dict[str, str] = {}  # the key of a call as it is: another once one is done

    @property
    def store(self) -> Store:
        """The gateways take turns."""
        self.next += 1
        return self.world.stores[self.next % len(self.world.stores)]

    @initialize(
        mode=st.sampled_from([Mode.AUTO, Mode.AUTO, Mode.AUTO, Mode.AGENT, Mode.HOST]),
        phases=st.lists(
            st.sampled_from([P.CREATED, P.RETRIEVING, P.RETRIEVING, P.ACTING, P.ACTING]),
            min_size=len(RUNS),
            max_size=len(RUNS),
        ),
    )
    def begin(self, mode: Mode, phases: Sequence[Phase]) -> None:
        """Begin runs; most of them where something can happen."""
        self.ids: dict[str, str] = {}
        self.models: dict[str, Model] = {}
        self.books = Books()
        for name, phase in zip(RUNS, phases, strict=True):
            parent = self.ids["outer"] if name == "inner" else ""
            run = a_run(
                tenant=self.tenant,
                owner=self.tenant,  # of one owner only so many go on at once
                mode=mode,
                template="work",
                phase=phase,
                parent=parent,
            )
            self.world.do(self.store.runs.start(run, [], started))
            around = self.models["outer"] if parent else None
            self.ids[name] = run.run_id
            self.models[name] = Model(name, mode, self.books, phase, around)

    def now(self, which: str) -> Run:
        """Read a run."""
        found = self.world.do(self.store.runs.get(self.ids[which]))
        assert found is not None
        return found

    def before(self, version: str | Run) -> tuple[Run, Model]:
        """Return a run as somebody knows it, and what is known of it."""
        run = self.now(version) if isinstance(version, str) else version
        return run, next(each for name, each in self.models.items() if self.ids[name] == run.run_id)

    def name(self, call: str) -> str:
        """Return the key under which a call is known now."""
        return self.names.setdefault(call, ids.new(call.replace(" ", "-")))

    @rule(target=seen, which=WHICH)
    def look(self, which: str) -> Run:
        """Read a run, for somebody who changes it later."""
        return self.now(which)

    @rule(target=attempts, which=WHICH, tool=st.sampled_from(TOOLS), key=st.sampled_from(KEYS))
    def judge(self, which: str, tool: str, key: str) -> Any:
        """Judge a write, which is claimed some time later, if ever."""
        attempt = self.judged(which, tool, self.name(f"{key} {tool}"))
        return attempt or multiple()  # pyright: ignore[reportUnknownVariableType] - of nothing

    @rule(
        which=WHICH,
        tools=st.lists(st.sampled_from([*TOOLS, "desk.high"]), min_size=3, max_size=6),
        key=st.sampled_from(KEYS),
        end=st.none() | st.sampled_from(ENDS),
    )
    def call(self, which: str, tools: Sequence[str], key: str, end: OpState | None) -> None:
        """Judge writes and claim each at once; they end, or stay under way."""
        for nr, tool in enumerate(tools):
            name = self.name(f"{KEYS[(KEYS.index(key) + nr) % len(KEYS)]} {tool}")
            attempt = self.judged(which, tool, name)
            if attempt is not None:
                self.take(attempt)
            if end is not None:
                self.settled(name, end)

    @rule(which=WHICH, tool=st.sampled_from(TOOLS), key=st.sampled_from(KEYS))
    def repeat(self, which: str, tool: str, key: str) -> None:
        """Make a call once more that has succeeded, on purpose."""
        call = f"{key} {tool}"
        is_open = self.name(call) in {*self.known, *self.requests}
        if is_open or call not in self.done:
            return
        name, operation = self.done[call]
        attempt = self.judged(which, tool, name, repeats=operation.op_id)
        if attempt is not None and self.take(attempt):
            self.names[call] = name
            del self.done[call]

    def judged(self, which: str, tool: str, name: str, repeats: str = "") -> Attempt | None:
        """Judge a write by the run as it is."""
        risk = Risk.HIGH if tool == "desk.high" else Risk.LOW
        need = Need(effect=Effect.WRITE, risk=risk, tool=tool)
        run, model = self.now(which), self.models[which]
        met = machine.weigh(run, need, Terms(template=TEMPLATE), now=0)
        may = model.lets(tool, name) or model.asks(tool) or model.phase is P.FAILED
        if isinstance(met, Blocked):
            assert not may or model.is_paused or model.is_held, (met, model)
            return None
        assert may, (met, model)
        passage = Passage(run=run, move_to=met.move_to, only=met.only)
        return Attempt(run=which, need=need, name=name, passage=passage, repeats=repeats)

    @rule(attempt=attempts)
    def late(self, attempt: Attempt) -> None:
        """Claim a write that was judged some time ago."""
        self.take(attempt)

    def take(self, attempt: Attempt) -> bool:
        """Claim a write, and send it where that is let; whether it is under way or asked about."""
        name, model, run = attempt.name, self.models[attempt.run], attempt.passage.run
        tool = attempt.need.tool
        asked = wanted(
            tenant=self.tenant, key=name, arguments_digest=name, run_id=run.run_id, tool=tool
        )
        how = asking(run) if name.startswith(ASKED_ABOUT) else None
        made = self.world.do(
            claim(
                self.store,
                asked,
                passage=attempt.passage,
                asking=how,
                repeats=attempt.repeats,
            )
        )
        match made.met:
            case Met.TAKEN:
                assert model.lets(tool, name), (attempt, model)
                self.taken(model, name, made.operation)
                model.enters(tool)
            case Met.HELD:
                assert model.asks(tool), (attempt, model)
                assert made.approval is not None
                model.enters(tool)
                if made.approval.approval_id != self.requests.get(name, ("", ""))[0]:
                    self.requests[name] = (made.approval.approval_id, attempt.run)
                    model.pending.add(name)
                self.known.pop(name, None)
                self.books.failed.pop(name, None)
                model.count()
            case Met.RUN_CHANGED:
                self.world.held += 1
                now = self.now(attempt.run)
                assert now != run, (attempt, model)
            case _:
                pass
        return made.met in (Met.TAKEN, Met.HELD)

    def taken(self, model: Model, name: str, operation: Operation) -> None:
        """Have a write be of the run that sends it, and of no other."""
        self.world.sent += 1
        before = self.books.failed.pop(name, model.name)
        self.world.taken_over += before != model.name
        self.world.again += operation.epoch > 1 or operation.generation > 0
        self.known[name] = operation
        for each in self.models.values():
            each.open.discard(operation.op_id)
        model.open.add(operation.op_id)
        self.books.approved.discard(name)
        self.requests.pop(name, None)
        assert operation.run_id == self.ids[model.name]

    @rule(which=ANY, end=st.sampled_from(ENDS))
    def settle(self, which: int, end: OpState) -> None:
        """Have a write that was sent come to an end."""
        if self.known:
            self.settled([*self.known][which % len(self.known)], end)

    def settled(self, name: str, end: OpState) -> None:
        taken = self.known.get(name)
        if taken is None or taken.state not in (OpState.DISPATCHING, OpState.INDETERMINATE):
            return
        if taken.state is OpState.INDETERMINATE and end not in LATE_ENDS:
            return
        if not self.world.do(settle(self.store, taken, end, before=taken.state)):
            return
        self.known[name] = taken = replaced(taken, state=end)
        if end is OpState.INDETERMINATE:
            return  # it stays open: nobody knows
        for each in self.models.values():
            if taken.op_id in each.open:
                each.open.discard(taken.op_id)
                self.books.failed[name] = each.name
        if end is OpState.SUCCEEDED:
            del self.books.failed[name]
            self.forget(name, taken)

    def forget(self, name: str, operation: Operation | None = None) -> None:
        """Have the next such call be another one."""
        self.known.pop(name, None)
        self.requests.pop(name, None)
        for call in [each for each, known in self.names.items() if known == name]:
            del self.names[call]
            if operation is not None:
                self.done[call] = (name, operation)

    @rule(which=ANY, many=st.integers(1, 2), choice=st.sampled_from(Choice))
    def decide(self, which: int, many: int, choice: Choice) -> None:
        """Have people decide about one call after the other."""
        waiting = [*self.requests]
        for name in waiting[which % max(len(waiting), 1) :][:many]:
            self.decided(name, choice)

    def decided(self, name: str, choice: Choice) -> None:
        approval_id, run = self.requests[name]
        approval = self.world.do(self.store.approvals.get(approval_id))
        if approval is None or not approval.state.is_open:
            return
        ruling = self.world.do(vote(self.store, approval, choice=choice))
        if not ruling.cast.is_accepted:
            return
        self.models[run].pending.discard(name)
        self.books.approved.discard(name)
        if choice is Choice.APPROVE:
            self.books.approved.add(name)
        else:
            self.forget(name)
        self.models[run].count()

    @rule()
    def sweep(self) -> None:
        """Have the gateway end requests of runs that do not go on."""
        for each in self.world.do(self.store.runs.to_cancel()):
            ended = self.store.approvals.cancel(each, "over", told=tell, notices=nobody)
            if self.world.do(ended) is None or each.tenant != self.tenant:
                continue
            name = next(n for n, (known, _) in self.requests.items() if known == each.approval_id)
            model = self.models[self.requests[name][1]]
            model.pending.discard(name)
            self.books.approved.discard(name)
            self.forget(name)
            model.count()

    @rule(version=versions, to=st.sampled_from(P), by=HANDS)
    def move(self, version: str | Run, to: Phase, by: Mover) -> None:
        """Move a run, by hand."""
        before, model = self.before(version)
        after = moves.moved(before, to, by, TEMPLATE, now=1)
        if isinstance(after, Blocked):
            return
        made = self.world.do(self.store.runs.move(before, after, told))
        if made is not None:
            assert (before.phase, to) in moves.MOVES
            assert model.phase is before.phase
            assert by is Mover.HOST or model.mode is not Mode.HOST
            model.phase = to

    @rule(version=versions)
    def read(self, version: str | Run) -> None:
        """Make a read, which takes a run that has just begun on to retrieving."""
        before, model = self.before(version)
        need = Need(effect=Effect.READ, risk=Risk.LOW, tool="desk.read")
        met = machine.weigh(before, need, Terms(template=TEMPLATE), now=0)
        if not isinstance(met, Go) or met.move_to is None:
            return
        after = replaced(before, phase=met.move_to)
        if self.world.do(self.store.runs.move(before, after, told)) is not None:
            assert model.phase in (P.CREATED, P.PLANNING)
            assert model.mode is Mode.AUTO
            model.phase = P.RETRIEVING

    @rule(version=versions, how=st.sampled_from(["pause", "stop", "resume", "resume", "resume"]))
    def pause(self, version: str | Run, how: str) -> None:
        """Pause a run, stop it since its time is over, or resume it."""
        before, model = self.before(version)
        match how:
            case "pause":
                after = moves.paused(before)
            case "stop":
                after = moves.blocked(before, note="its time is over")
            case _:
                after = moves.resumed(before, TEMPLATE, now=1)
        if isinstance(after, Blocked):
            return
        if self.world.do(self.store.runs.change(before, after, told)) is None:
            return
        if how == "resume":
            assert model.is_paused or model.phase in (P.FAILED, P.HANDOFF)
            model.goes_on()
        else:
            assert not model.is_over
            model.is_paused = True

    @rule(version=versions, to=st.sampled_from(OVER), by=HANDS, rarely=st.integers(0, 4))
    def end(self, version: str | Run, to: Phase, by: Mover, rarely: int) -> None:
        """End a run."""
        before, model = self.before(version)
        after = moves.ended(before, to, by, TEMPLATE, now=1)
        if rarely or isinstance(after, Blocked):
            return
        made = self.world.do(self.store.runs.move(before, after, told))
        if made is None:
            return
        if to is P.COMPLETED:
            assert not model.open
            assert not model.pending
        by_model = model.is_paused and by is Mover.AGENT
        assert not by_model or to is P.HANDOFF
        model.ends(to, paused=by_model)

    @rule(version=versions, rarely=st.integers(0, 4))
    def lapse(self, version: str | Run, rarely: int) -> None:
        """Have a run fail that nobody has come back to."""
        before, model = self.before(version)
        after = moves.lapsed(before, note="nobody came", now=1)
        if rarely or isinstance(after, Blocked):
            return
        if self.world.do(self.store.runs.change(before, after, told)) is not None:
            assert model.is_paused
            model.ends(P.FAILED)

    @rule(which=WHICH, rarely=st.integers(0, 3))
    def taint(self, which: str, rarely: int) -> None:
        """Have a result come in that others can write: whatever was judged is judged anew."""
        if not rarely:
            self.world.do(self.store.runs.taint(self.now(which), told))
            # What one has read, those around it and inside of it may have as well.
            for each in (which,) if which == "beside" else ("outer", "inner"):
                self.models[each].is_tainted = True

    @invariant()
    def hold(self) -> None:
        """The rows are as the models say."""
        self.world.rules += 1
        for name, model in self.models.items():
            row = self.now(name)
            assert (row.phase, row.resume_phase) == (model.phase, model.back), (row, model)
            assert row.is_paused is model.is_paused
            assert row.is_tainted is model.is_tainted
            assert (row.held_by is not None) is model.is_held
            assert row.open_ops == len(model.open)
            assert row.pending_approvals == len(model.pending)

    def teardown(self) -> None:
        """Each version is told once, in order."""
        for name, run_id in self.ids.items():
            wanted_events = EventFilter(run=run_id, kind="run", limit=10_000)
            kept = self.world.do(self.store.events.query(wanted_events))
            versions = [each.json()["body"] for each in kept]
            assert [body["version"] for body in versions if isinstance(body, dict)] == [
                *range(self.now(name).version + 1)
            ]


def tell(approval: Approval) -> Sequence[Event]:
    """Tell that a request was ended."""
    return [told_of(approval)]
