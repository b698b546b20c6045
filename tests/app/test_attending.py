"""What time does to requests, and what is counted of them."""

from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import pytest

from gateway.app.attending import Attending, attending
from gateway.config.approvals import ApprovalsSettings
from gateway.crossing.deciding import Deciding
from gateway.errors import StoreUnavailable
from gateway.events.redact import Redactor
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Choice,
    Escalation,
    Factor,
    NoticeStage,
)
from gateway.types.operations import OpState
from tests.helpers.approvals import LEADS, an_approver, asked, state_of, vote
from tests.helpers.databases import OpenStore
from tests.helpers.fake_server import until_async
from tests.helpers.issuer import HandClock

S = ApprovalState
BOSS = replace(LEADS, escalation=(Escalation(after_s=60, roles=("boss",)),))


@dataclass
class House:
    """A gateway's share in requests, over a real store, with time in one hand."""

    store: Store
    clock: HandClock
    ended: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    told: list[tuple[str, NoticeStage]] = field(default_factory=list[tuple[str, NoticeStage]])

    def attending(self) -> Attending:
        deciding = Deciding(
            approvals=self.store.approvals,
            redactor=Redactor(lambda tenant: tenant.encode()),
            clock=self.clock,
            vault=Vault(self.store.keys.operations),
            targets=self._targets,
        )
        return attending(
            self.store,
            ApprovalsSettings(),
            due=deciding,
            redactor=deciding.redactor,
            page=lambda approval: "",
            ended=self._ended,
            clock=self.clock,
        )

    def _targets(self, tenant: str, stage: NoticeStage) -> tuple[str, ...]:
        self.told.append((tenant, stage))
        return ()

    def _ended(self, approval: Approval, at: int) -> None:
        self.ended.append((approval.state, (at - approval.created_at) / 1_000_000))

    async def asked(self, **changes: Any) -> Approval:
        now = microseconds(self.clock.now())
        return await asked(
            self.store, **({"created_at": now, "decide_by": now + 1_800_000_000} | changes)
        )


@pytest.fixture
def house(open_store: OpenStore) -> House:
    clock = HandClock()
    return House(open_store(clock=clock), clock)


async def test_what_nobody_decided_in_time_ends_and_its_operation_with_it(house: House) -> None:
    """case: APR-07"""
    late, fresh = await house.asked(), await house.asked(decide_by=10**18)
    house.clock.move(1801)
    await house.attending().once()
    assert await state_of(house.store, late) == (S.EXPIRED, OpState.ABANDONED)
    assert await state_of(house.store, fresh) == (S.PENDING, OpState.AWAITING_APPROVAL)
    assert house.told == [("acme", NoticeStage.EXPIRED)]


async def test_what_was_approved_and_not_used_in_time_ends_as_well(house: House) -> None:
    approval = await house.asked()
    await vote(house.store, approval)
    house.clock.move(901)  # high risk: a quarter of an hour
    await house.attending().once()
    assert await state_of(house.store, approval) == (S.EXPIRED, OpState.ABANDONED)


async def test_more_people_may_decide_once_it_has_waited(house: House) -> None:
    approval = await house.asked(clause=BOSS)
    boss = an_approver("cai", ("boss",))
    assert not (await vote(house.store, approval, boss)).cast.is_accepted
    house.clock.move(61)
    await house.attending().once()
    await house.attending().once()
    assert house.told == [("acme", NoticeStage.ESCALATED)]  # once
    assert (await vote(house.store, approval, boss)).cast.is_accepted


async def test_two_gateways_end_a_request_once(house: House, open_store: OpenStore) -> None:
    for _ in range(10):
        await house.asked()
    other = House(open_store(clock=house.clock), house.clock)
    house.clock.move(1801)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.attending().once)
        tasks.start_soon(other.attending().once)
    assert (await house.store.approvals.counts()) == {S.EXPIRED: 10}
    told = [each for each in house.told + other.told if each[1] is NoticeStage.EXPIRED]
    assert len(told) >= 10  # asked for again where the other was first, and then kept by nobody


async def test_how_many_wait_is_known_as_of_the_last_look(house: House) -> None:
    loop = house.attending()
    await house.asked()
    await vote(house.store, await house.asked())
    await loop.once()
    assert loop.pending == 1


@pytest.mark.parametrize(
    ("choice", "outcome"), [(Choice.APPROVE, "approved"), (Choice.DENY, "denied")]
)
async def test_the_gateway_that_asked_counts_how_long_it_took(
    house: House, choice: Choice, outcome: str
) -> None:
    loop = house.attending()
    approval = await house.asked(clause=LEADS)
    loop.held(approval.call_id, approval)
    loop.held(approval.call_id, approval)
    await loop.once()
    assert house.ended == []
    house.clock.move(90)
    await vote(house.store, approval, choice=choice)
    house.clock.move(5)
    await loop.once()
    await loop.once()
    assert house.ended == [(outcome, 90.0)]


async def test_a_call_that_comes_back_for_a_request_is_not_counted_anew(house: House) -> None:
    loop = house.attending()
    approval = await house.asked()
    loop.held("call_of_another_gateway", approval)
    await vote(house.store, approval)
    await loop.once()
    assert house.ended == []


async def test_what_was_used_was_approved_and_what_is_gone_is_nothing(house: House) -> None:
    loop = house.attending()
    used = await house.asked(state=S.CONSUMED, decided_at=microseconds(house.clock.now()))
    replaced = await house.asked(state=S.SUPERSEDED, clause=replace(LEADS, factors=(OTHERS,)))
    for each in (used, replaced, replace(used, approval_id="apr_gone")):
        loop.held(each.call_id, each)
    house.clock.move(7)
    await loop.once()
    assert sorted(house.ended) == [("consumed", 0.0), ("superseded", 7.0)]


OTHERS = Factor(name="others", roles=("other",))


async def test_the_loop_goes_on_whatever_a_row_or_the_store_does(house: House) -> None:
    loop, looked = house.attending(), list[str]()
    troubles: list[Exception] = [KeyError("row"), StoreUnavailable("away")]

    class Due:
        async def expire_due(self) -> list[Approval]:
            looked.append("expire")
            raise troubles[-1]

        async def escalate_due(self) -> list[Approval]:
            looked.append("escalate")
            raise troubles[0]

    loop.due = Due()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loop.run)
        await until_async(lambda: looked.count("expire") > 1)
        tasks.cancel_scope.cancel()
    assert looked[:3] == ["expire", "escalate", "expire"]
