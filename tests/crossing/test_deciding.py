from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from gateway import jsontext
from gateway.crossing.deciding import Deciding
from gateway.events.redact import Redactor
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Cast,
    Choice,
    Escalation,
    NoticeStage,
)
from gateway.types.json import JsonObject
from gateway.types.operations import OpState
from tests.helpers.approvals import BINDING, LEADS, OTHER_BINDING, an_approver, asked, state_of
from tests.helpers.databases import ORIGIN
from tests.helpers.issuer import HandClock

YES, NO = Choice.APPROVE, Choice.DENY


@dataclass
class House:
    """A store, the one place where decisions are made, and what that woke."""

    store: Store
    clock: HandClock
    deciding: Deciding
    woken: list[tuple[str, ApprovalState]] = field(default_factory=list[tuple[str, ApprovalState]])

    @property
    def now(self) -> int:
        return self.clock.time_ns() // 1000

    async def told(self, approval: Approval) -> list[tuple[str, JsonObject]]:
        """Return stage and body of every event about a request."""
        found = await self.store.events.query(EventFilter(call=approval.call_id, kind="approval"))
        read = [each.json() for each in found]
        return [(str(each["stage"]), cast("JsonObject", each["body"])) for each in read]

    async def owed(self) -> list[tuple[NoticeStage, str]]:
        return [(each.stage, each.target) for each in await self.store.approvals.due_notices()]


@pytest.fixture
def vault() -> Vault:
    return Vault(lambda tenant: tenant.encode().ljust(32))


@pytest.fixture
def house(tmp_path: Path, vault: Vault) -> Iterator[House]:
    clock = HandClock()
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN, clock=clock)
    woken: list[tuple[str, ApprovalState]] = []
    deciding = Deciding(
        approvals=store.approvals,
        redactor=Redactor(lambda tenant: tenant.encode()),
        clock=clock,
        vault=vault,
        targets=lambda tenant, stage: ("chat",) if tenant == "acme" and stage else (),
        woken=lambda approval: woken.append((approval.approval_id, approval.state)),
        own=lambda tool, arguments: {k: v for k, v in arguments.items() if tool and k != "key"},
    )
    yield House(store=store, clock=clock, deciding=deciding, woken=woken)
    store.close(timeout_s=1)


async def test_a_decision_is_told_owed_and_wakes_who_waits(house: House) -> None:
    approval = await asked(house.store)
    ruling = await house.deciding.decide(
        an_approver(), approval.approval_id, YES, BINDING[:15], "fine"
    )
    assert ruling.cast is Cast.APPROVED
    assert house.woken == [(approval.approval_id, ApprovalState.APPROVED)]
    ((stage, body),) = await house.told(approval)
    assert (stage, body["cast"], body["reason"]) == ("decided", "approved", "fine")
    assert await house.owed() == [(NoticeStage.DECIDED, "chat")]


async def test_a_refused_vote_is_told_and_wakes_nobody(house: House) -> None:
    """case: APR-03"""
    approval = await asked(house.store)
    for approver, binding in (
        (an_approver("ana"), BINDING),
        (an_approver("vera", ()), BINDING),
        (an_approver(), OTHER_BINDING),
        (an_approver(tenant="globex"), BINDING),
    ):
        ruling = await house.deciding.decide(approver, approval.approval_id, YES, binding)
        assert not ruling.cast.is_accepted
    told = await house.told(approval)
    assert [stage for stage, _ in told] == ["refused"] * 3
    assert [body["cast"] for _, body in told] == [
        "self_approval",
        "not_entitled",
        "wrong_binding",
    ]
    assert house.woken == []
    assert await house.owed() == []


async def test_what_an_approver_would_rather_have_is_sealed_and_known_by_its_digest(
    house: House, vault: Vault
) -> None:
    approval = await asked(house.store)
    rather: JsonObject = {"to": "x", "amount": 10, "key": "k"}
    await house.deciding.decide(
        an_approver(), approval.approval_id, NO, BINDING, "less", proposal=rather
    )
    found = await house.store.approvals.get(approval.approval_id)
    assert found is not None
    opened = vault.open("acme", approval.approval_id, found.proposal)
    assert jsontext.parse(opened) == rather
    assert found.proposal_hash == vault.digest("acme", {"amount": 10.0, "to": "x"})
    ((_, body),) = await house.told(approval)
    assert body["proposal_digest"] == found.proposal_hash


async def test_a_proposal_goes_with_a_denial_only(house: House) -> None:
    approval = await asked(house.store)
    await house.deciding.decide(
        an_approver(), approval.approval_id, YES, BINDING, proposal={"amount": 1}
    )
    found = await house.store.approvals.get(approval.approval_id)
    assert found is not None
    assert (found.proposal, found.proposal_hash) == ("", "")


async def test_votes_and_requests_are_taken_back_and_denied_ones_reopened(house: House) -> None:
    """case: APR-10"""
    two = replace(LEADS, factors=(replace(LEADS.factors[0], count=2),))
    first, second = await asked(house.store, clause=two), await asked(house.store)
    lea, decide = an_approver(), house.deciding
    await decide.decide(lea, first.approval_id, YES, BINDING)
    assert (await decide.withdraw_vote(lea, first.approval_id)).cast is Cast.WITHDRAWN
    ana = an_approver("ana", ())
    assert (await decide.cancel(ana, first.approval_id)).cast is Cast.CANCELLED
    await decide.decide(lea, second.approval_id, NO, BINDING)
    assert (await decide.reopen(lea, second.approval_id, "once more")).cast is Cast.REOPENED
    assert [stage for stage, _ in await house.told(first)] == ["voted", "voted", "voided"]
    assert [stage for stage, _ in await house.told(second)] == ["decided", "reopened"]
    assert [state for _, state in house.woken] == [
        ApprovalState.PENDING,
        ApprovalState.PENDING,
        ApprovalState.CANCELLED,
        ApprovalState.DENIED,
        ApprovalState.DENIED,
    ]


async def test_what_its_caller_gave_up_is_called_off_once(house: House) -> None:
    """case: APR-04"""
    approval = await asked(house.store)
    assert await house.deciding.call_off(approval, "its caller took it back") is not None
    assert await house.deciding.call_off(approval, "its caller took it back") is None
    assert await state_of(house.store, approval) == (ApprovalState.CANCELLED, OpState.ABANDONED)
    ((stage, body),) = await house.told(approval)
    assert (stage, body["why"]) == ("voided", "its caller took it back")
    assert await house.owed() == [(NoticeStage.CANCELLED, "chat")]


async def test_time_ends_and_widens_requests_and_never_approves_one(house: House) -> None:
    """case: APR-07"""
    clause = replace(LEADS, escalation=(Escalation(after_s=60, roles=("cfo",)),))
    waiting = await asked(house.store, clause=clause, created_at=house.now)
    short = await asked(house.store, decide_by=house.now + 1, created_at=house.now)
    assert await house.deciding.expire_due() == []
    assert await house.deciding.escalate_due() == []
    house.clock.move(61)
    assert [each.approval_id for each in await house.deciding.expire_due()] == [short.approval_id]
    assert [each.escalated for each in await house.deciding.escalate_due()] == [1]
    assert await house.deciding.expire_due() == []
    assert await house.deciding.escalate_due() == []
    ((stage, body),) = await house.told(short)
    assert (stage, body["why"]) == ("expired", "nobody decided in time")
    ((stage, body),) = await house.told(waiting)
    assert (stage, body["escalated"]) == ("escalated", 1)
    assert sorted(await house.owed()) == [
        (NoticeStage.ESCALATED, "chat"),
        (NoticeStage.EXPIRED, "chat"),
    ]
    assert [state for _, state in house.woken] == [ApprovalState.EXPIRED, ApprovalState.PENDING]
