"""Any order of claims, ends, losses and times: what must hold of writes all the same."""

import asyncio
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from gateway import ids
from gateway.store.operations import OperationFilter
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.guarantees import OnVariant
from gateway.types.operations import Claim, Met, Operation, OpState, RetryClass
from tests.helpers.databases import ORIGIN
from tests.helpers.issuer import HandClock
from tests.helpers.operations import claim, settle, wanted

T = TypeVar("T")
Place = tuple[str, str]  # scope and key
Attempt = tuple[Operation, Operation]  # as its call asked for it, and as it was taken
ENDS = (OpState.SUCCEEDED, OpState.FAILED_FINAL, OpState.FAILED_RETRYABLE, OpState.INDETERMINATE)
SETTLED = (OpState.SUCCEEDED, OpState.FAILED_FINAL)
HARMLESS = (RetryClass.NATURAL, RetryClass.KEYED)
LEASE_S = 10
WINDOW_S = 60


def mostly(usual: str, other: str) -> st.SearchStrategy[str]:
    """Return texts that are the usual one in four cases of five: calls have to meet."""
    return st.sampled_from([usual] * 4 + [other])


rarely = st.sampled_from([False, False, False, True])


@dataclass
class Sent:
    """What a server was sent under one key, as somebody saw it who knows the rules by heart."""

    op_id: str
    epoch: int
    retry: RetryClass
    has_key: bool  # the server was given one that it knows again
    is_settled: bool = False
    open_at: int | None = None  # from then on the settled call may be made anew
    is_disproved: bool = False  # it certainly did not take place

    def may_be_followed(self, by: Operation, now: int) -> bool:
        """Whether another send under the same key harms nobody."""
        if self.is_disproved:
            return True
        if self.is_settled:
            return by.retry is RetryClass.NATURAL or (
                self.open_at is not None and now >= self.open_at
            )
        known_again = self.retry is RetryClass.NATURAL or (
            self.retry is RetryClass.KEYED and self.has_key
        )
        return known_again and by.retry in HARMLESS


@dataclass
class World:
    """One store for all examples, each with a tenant of its own."""

    store: Store
    clock: HandClock
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    clock = HandClock()
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN, clock=clock)
    found = World(store=store, clock=clock)
    yield found
    found.loop.close()
    store.close(timeout_s=1)


class Claims(RuleBasedStateMachine):
    """Callers, servers, a sweeper, a person and the time, in any order."""

    world: ClassVar[World]
    attempts: "Bundle[Attempt]" = Bundle("attempts")

    def __init__(self) -> None:
        super().__init__()
        self.tenant = ids.new("t")
        self.sent: dict[Place, Sent] = {}
        self.epochs: dict[str, int] = {}
        self.answers: dict[str, tuple[OpState, str]] = {}

    @property
    def now(self) -> int:
        return microseconds(self.world.clock.now())

    def of(self, attempt: Operation) -> Sent | None:
        """Return what is known of an attempt that is the newest of its key."""
        found = self.sent.get((attempt.key.scope, attempt.key.key))
        is_newest = found is not None and (found.op_id, found.epoch) == (
            attempt.op_id,
            attempt.epoch,
        )
        return found if is_newest else None

    @rule(
        target=attempts,
        scope=mostly("s1", "s2"),
        key=mostly("k1", "k2"),
        intent=mostly("i1", "i2"),
        words=mostly("a1", "a2"),
        retry=st.sampled_from([RetryClass.NEVER, *HARMLESS]),
        has_key=st.booleans(),
        on_variant=st.sampled_from(OnVariant),
        on_purpose=rarely,
    )
    def call(
        self,
        scope: str,
        key: str,
        intent: str,
        words: str,
        retry: RetryClass,
        has_key: bool,
        on_variant: OnVariant,
        on_purpose: bool,
    ) -> Any:
        """Have a call claim its operation; what is taken is sent."""
        asked = wanted(
            tenant=self.tenant,
            scope=scope,
            key=key,
            intent=intent,
            arguments_digest=words,
            retry=retry,
            downstream_key="d" if has_key else "",
        )
        before = self.sent.get((scope, key))
        repeats = before.op_id if on_purpose and before is not None else ""
        found = self.world.do(
            claim(self.world.store, asked, on_variant=on_variant, lease_s=LEASE_S, repeats=repeats)
        )
        self.meets_its_own(asked, found)
        if found.met is Met.LOST:  # as calls do, before they claim again
            assert self.world.do(self.world.store.operations.lose(found.operation, "lost", []))
        if found.met is not Met.TAKEN:
            return multiple()  # pyright: ignore[reportUnknownVariableType] - of nothing at all
        taken = found.operation
        is_meant = bool(repeats) and before is not None and before.is_settled
        assert before is None or is_meant or before.may_be_followed(asked, self.now)
        self.sent[scope, key] = Sent(
            op_id=taken.op_id,
            epoch=taken.epoch,
            retry=retry,
            has_key=taken.downstream_key != "",
        )
        self.answers.pop(taken.op_id, None)
        return asked, taken

    def meets_its_own(self, asked: Operation, found: Claim) -> None:
        """No key of one scope or tenant meets another's, and no answer is one for other words."""
        there = found.operation
        assert (there.tenant, there.key.scope, there.key.key) == (
            asked.tenant,
            asked.key.scope,
            asked.key.key,
        )
        if found.met in (Met.TAKEN, Met.JOINED, Met.SETTLED, Met.UNKNOWN):
            assert there.key.intent == asked.key.intent

    @rule(scope=mostly("s1", "s2"), key=mostly("k1", "k2"), other=attempts)
    def misname(self, scope: str, key: str, other: Attempt) -> None:
        """Have a call repeat what has another key, or is not there at all."""
        taken = other[1]
        is_same = (taken.key.scope, taken.key.key) == (scope, key)
        repeats = ids.new("op") if is_same else taken.op_id
        asked = wanted(tenant=self.tenant, scope=scope, key=key)
        found = self.world.do(claim(self.world.store, asked, repeats=repeats))
        assert (found.met, found.operation.op_id) == (Met.MISNAMED, asked.op_id)

    @rule(
        attempt=attempts,
        state=st.sampled_from([*ENDS, OpState.INDETERMINATE, OpState.INDETERMINATE]),
        late=rarely,
        stale=rarely,
    )
    def end(self, attempt: Attempt, state: OpState, *, late: bool, stale: bool) -> None:
        """Have the answer of an attempt come, in time or after it was given up."""
        taken = attempt[1]
        if late and state is OpState.INDETERMINATE:
            return  # a late answer that proves nothing settles nothing
        epoch = taken.epoch - 1 if stale else taken.epoch
        is_settled = self.world.do(
            settle(
                self.world.store,
                wanted(op_id=taken.op_id, epoch=epoch, call_id=taken.call_id),
                state,
                OpState.INDETERMINATE if late else OpState.DISPATCHING,
                outcome=(outcome := ids.new("answer")),
                replay_until=self.now + WINDOW_S * 1_000_000 if state in SETTLED else 0,
            )
        )
        known = self.of(taken)
        if stale or known is None:
            assert not is_settled
        if not is_settled or known is None:
            return
        self.note(known, state)
        if state in SETTLED:
            self.answers[taken.op_id] = (state, outcome)

    def note(self, known: Sent, state: OpState) -> None:
        assert not known.is_settled
        assert not known.is_disproved
        known.is_settled = state in SETTLED
        known.is_disproved = state is OpState.FAILED_RETRYABLE
        if known.is_settled:
            known.open_at = self.now + WINDOW_S * 1_000_000

    @rule(attempt=attempts)
    def take_back(self, attempt: Attempt) -> None:
        """Take back a claim whose send did not begin; the call knows only what it asked for."""
        asked, taken = attempt
        operations = self.world.store.operations
        before = self.world.do(operations.get(taken.op_id))
        operations.unsend(asked)
        self.world.do(self.world.store.events.kept())
        known, after = self.of(taken), self.world.do(operations.get(taken.op_id))
        if known is not None and before is not None and before.state is OpState.DISPATCHING:
            known.is_disproved = True
            assert after is not None
            assert after.state is OpState.FAILED_RETRYABLE
        else:
            assert after == before

    @rule()
    def sweep(self) -> None:
        """Give up what shows no sign of life."""
        operations = self.world.store.operations
        for found in self.world.do(operations.lost()):
            assert self.world.do(operations.lose(found, "lease_expired", []))

    @rule(attempt=attempts)
    def live(self, attempt: Attempt) -> None:
        """Give a sign of life."""
        living = [(attempt[1].op_id, attempt[1].epoch)]
        self.world.do(self.world.store.operations.renew(living, LEASE_S))

    @rule(seconds=st.sampled_from([1, LEASE_S + 1, WINDOW_S + 1, -3600]))
    def move(self, seconds: int) -> None:
        """Move the clock, and sometimes back, as when it is set."""
        self.world.clock.move(seconds)

    @invariant()
    def hold(self) -> None:
        """An epoch only rises, a settled answer stays, and the newest send is the last one."""
        rows = self.world.do(
            self.world.store.operations.find(OperationFilter(tenant=self.tenant, limit=1000))
        )
        for row in rows:
            assert row.epoch >= self.epochs.get(row.op_id, 1)
            self.epochs[row.op_id] = row.epoch
            if row.op_id in self.answers:
                assert (row.state, row.outcome) == self.answers[row.op_id]
        newest = {(row.key.scope, row.key.key): row for row in reversed(rows)}
        assert newest.keys() == self.sent.keys()

    def teardown(self) -> None:
        """Leave nothing for the sweeps of other examples."""
        self.world.clock.move(10_000)
        self.sweep()


def test_nothing_is_sent_twice_that_may_have_taken_place(world: World) -> None:
    """case: IDM-03, IDM-05, IDM-06"""
    Claims.world = world
    run_state_machine_as_test(
        Claims,
        settings=settings(
            max_examples=80,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
