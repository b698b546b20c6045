"""People who are asked about calls, for pipelines without a store."""

from datetime import datetime

from gateway import ids
from gateway.case import Case
from gateway.clock import SystemClock
from gateway.crossing.people import People
from gateway.operations import refusals
from gateway.relay.attendance import Attendance
from gateway.relay.errands import Errands
from gateway.relay.holding import Bells, Holding, Terms
from gateway.relay.states import States
from gateway.relay.tools import OwnTools
from gateway.steps import gate
from gateway.store.vault import Vault
from gateway.types.actors import Actor
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    Approver,
    Cast,
    Choice,
    Ruling,
    Vote,
)
from gateway.types.events import Event, Stage
from gateway.types.json import JsonObject
from gateway.types.operations import Operation
from tests.helpers.events import an_event
from tests.helpers.relays import some_states


class Wordless:
    """Says as little of a request as can be said."""

    def presented(self, case: Case, operation: Operation, before: JsonObject | None) -> JsonObject:
        return {
            "v": 1,
            "tool": case.tool.key,
            "operation": operation.op_id,
            "changes": bool(before),
        }

    def event(
        self, approval: Approval, stage: Stage, *, id: str, at: datetime, actor: Actor | None
    ) -> Event:
        del actor
        return an_event(id=id or ids.ulid(), at=at, body={"stage": stage, "op": approval.op_id})

    def voted(self, ruling: Ruling, vote: Vote, *, id: str, at: datetime) -> tuple[Event, ...]:
        del ruling
        return (an_event(id=id, at=at, body={"vote": vote.user}),)


class Nobody:
    """Decides nothing."""

    async def decide(
        self, approver: Approver, approval_id: str, choice: Choice, binding: str, reason: str = ""
    ) -> Ruling:
        del approver, approval_id, choice, binding, reason
        return Ruling(cast=Cast.NOT_FOUND)

    async def call_off(self, approval: Approval, why: str) -> Approval | None:
        del approval, why


def some_people(vault: Vault, default: ApprovalClause | None = None) -> People:
    """Return how people are asked; without a default clause, only rules name somebody."""
    return People(
        words=Wordless(),
        vault=vault,
        clock=SystemClock(),
        window_s=lambda case: 60.0,
        targets=lambda tenant, stage: (),
        default=default,
    )


def a_holding(states: States, hold_s: float = 0.0) -> Holding:
    """Return what a held call gets: at once, that a person has to decide."""

    async def find(approval_id: str) -> Approval | None:
        del approval_id
        return None

    async def unnoted(approval: Approval, is_here: bool) -> None:
        del approval, is_here

    async def nothing(op_id: str) -> Operation | None:
        del op_id
        return None

    return Holding(
        find=find,
        deciding=Nobody(),
        document=lambda approval: {},
        bells=Bells(),
        states=states,
        terms=Terms(hold_s=lambda client: hold_s),
        clock=SystemClock(),
        errands=Errands(
            seals=states.seals,
            approval=find,
            operation=nothing,
            answer=lambda call, operation: refusals.outcome_lost(),
            ended=gate.ended,
            call_off=Nobody().call_off,
            clock=SystemClock(),
        ),
        attendance=Attendance(note=unnoted),
    )


def no_tools() -> OwnTools:
    """Return a gateway's own tools, of which it shows none."""
    return OwnTools(errands=a_holding(some_states()).errands)
