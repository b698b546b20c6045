"""Approvals, votes and people who decide, for tests."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from gateway import ids
from gateway.store.approval_rows import row_of
from gateway.store.changes import Change, Made
from gateway.store.engine import Transaction
from gateway.store.events import EventFilter
from gateway.store.rows import row_of as operation_row
from gateway.store.store import Store
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    ApprovalState,
    Approver,
    Assurance,
    Channel,
    Choice,
    Factor,
    Notice,
    NoticeStage,
    Ruling,
    Vote,
)
from gateway.types.events import Event
from gateway.types.operations import OpState
from tests.helpers.events import an_event
from tests.helpers.operations import wanted

BINDING = "sha256:" + "0123456789abcdef" * 4
OTHER_BINDING = "sha256:" + "f" * 64
LATER = 10**18
LEADS = ApprovalClause(factors=(Factor(name="leads", roles=("lead",)),))


def an_approval(**changes: Any) -> Approval:
    """Return a pending request of Ana's that a lead may decide, for ever."""
    values: dict[str, Any] = {
        "approval_id": ids.new("apr"),
        "op_id": ids.new("op"),
        "tenant": "acme",
        "user": "ana",
        "client": "desk-agent",
        "server": "desk",
        "tool": "desk.refund",
        "call_id": ids.new("call"),
        "binding": BINDING,
        "revision": "r1",
        "rule": "refunds-over-100",
        "clause": LEADS,
        "risk": "high",
        "not_before": 0,
        "decide_by": LATER,
        "answer_until": LATER,
        "presented": "sealed",
        "presented_digest": "sha256:" + "1" * 64,
    }
    return Approval(**(values | changes))


def an_approver(user: str = "lea", roles: Iterable[str] = ("lead",), **changes: Any) -> Approver:
    """Return a lead of the tenant, logged in at the page."""
    values: dict[str, Any] = {
        "tenant": "acme",
        "assurance": Assurance.AUTHENTICATED,
        "channel": Channel.PAGE,
        "issuer": "https://login.acme.example",
    }
    return Approver(user=user, roles=frozenset(roles), **(values | changes))


def a_vote(user: str = "lea", roles: Iterable[str] = ("lead",), **changes: Any) -> Vote:
    """Return a yes of a lead."""
    values: dict[str, Any] = {
        "approval_id": "apr_1",
        "choice": Choice.APPROVE,
        "binding": BINDING,
        "channel": Channel.PAGE,
        "assurance": Assurance.AUTHENTICATED,
    }
    return Vote(user=user, roles=frozenset(roles), **(values | changes))


async def asked(store: Store, **changes: Any) -> Approval:
    """Keep a request in a store, with the operation that waits for it; return it."""
    approval = an_approval(**changes)
    operation = wanted(
        op_id=approval.op_id,
        key=approval.op_id,
        state=OpState.AWAITING_APPROVAL,
        tenant=approval.tenant,
        user=approval.user,
    )

    def work(transaction: Transaction) -> Made[None]:
        transaction.execute("add_operation", operation_row(operation))
        transaction.execute("add_approval", row_of(approval))
        return Made(None)

    await store.events.carry(Change(work))
    return approval


async def state_of(store: Store, approval: Approval) -> tuple[ApprovalState, OpState]:
    """Return where a request and its operation stand."""
    found = await store.approvals.get(approval.approval_id)
    operation = await store.operations.get(approval.op_id)
    assert found is not None
    assert operation is not None
    return found.state, operation.state


def told(ruling: Ruling) -> list[Event]:
    """Tell of a ruling in a way that tests count: by the request and what became of it."""
    assert ruling.approval is not None
    return [told_of(ruling.approval, str(ruling.cast))]


def told_of(approval: Approval, what: str = "changed") -> Event:
    """Return an event about a request."""
    return an_event(
        id=ids.ulid(), call=approval.approval_id, body={"tool": approval.tool, "status": what}
    )


async def tales_of(store: Store, approval: Approval) -> list[str]:
    """Return what was told of a request, in the order of the log."""
    found = await store.events.query(EventFilter(call=approval.approval_id))
    return [cast("dict[str, str]", each.json()["body"])["status"] for each in found]


def a_notice(approval: Approval, **changes: Any) -> Notice:
    """Return what somebody has to be told at once."""
    values: dict[str, Any] = {
        "notice_id": ids.new("ntc"),
        "approval_id": approval.approval_id,
        "tenant": approval.tenant,
        "stage": NoticeStage.DECIDED,
        "target": "chat",
        "created_at": 1,
        "next_at": 1,
    }
    return Notice(**(values | changes))


def nobody(_: object) -> list[Notice]:
    """Tell nobody."""
    return []


async def vote(
    store: Store,
    approval: Approval,
    approver: Approver | None = None,
    choice: Choice = Choice.APPROVE,
    binding: str = BINDING,
    owed: Sequence[Notice] = (),
    **more: Any,
) -> Ruling:
    """Cast a vote as a lead, unless said otherwise."""

    def notices(_: object) -> Sequence[Notice]:
        return owed

    options: dict[str, Any] = {"told": told, "notices": notices} | more
    return await store.approvals.cast(
        approver or an_approver(), approval.approval_id, choice, binding, **options
    )
