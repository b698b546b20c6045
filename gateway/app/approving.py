"""The parts of asking people, built from one store: requests, decisions, and callers that wait."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Protocol

from gateway import jsontext
from gateway.approvals import ballot
from gateway.case import Case
from gateway.clock import Clock
from gateway.config.approvals import ApprovalsSettings
from gateway.crossing import proposing
from gateway.crossing.asking_people import presented
from gateway.crossing.deciding import Deciding
from gateway.crossing.people import People, presented_place
from gateway.errors import JsonError, WeighbridgeError
from gateway.events import approvals as events
from gateway.events.redact import Redactor
from gateway.operations import keys
from gateway.relay.attendance import Attendance
from gateway.relay.errands import Errands
from gateway.relay.holding import Bells, Holding, Terms
from gateway.relay.places import MOST, Places
from gateway.relay.states import States
from gateway.relay.wait import Wait
from gateway.revision import Revision
from gateway.steps import gate
from gateway.store.store import Store
from gateway.store.vault import Vault, VaultBroken
from gateway.types.actors import Actor
from gateway.types.approvals import Approval, Ruling, Vote
from gateway.types.calls import Principal, ProposedCall
from gateway.types.causes import Cause
from gateway.types.events import Event, Stage
from gateway.types.json import JsonObject
from gateway.types.operations import Operation, OpState
from gateway.types.outcomes import Answer, Finished, Refusal

_log = logging.getLogger("weighbridge")
_FIRST_PAUSE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What is said of requests, with secrets kept out of it."""

    redactor: Redactor

    def presented(self, case: Case, operation: Operation, before: JsonObject | None) -> JsonObject:
        """Return the document that approvers are shown."""
        return presented(case, operation, before, self.redactor)

    def event(
        self, approval: Approval, stage: Stage, *, id: str, at: datetime, actor: Actor | None
    ) -> Event:
        """Return the event of a change that no vote brought about."""
        return events.event(approval, stage, self.redactor, id=id, at=at, actor=actor)

    def voted(self, ruling: Ruling, vote: Vote, *, id: str, at: datetime) -> Sequence[Event]:
        """Return the events of a vote that was given before the request was made."""
        tenant = ruling.approval.tenant if ruling.approval is not None else ""
        word = events.Word(
            approver=ballot.voter(vote, tenant),
            ruling=ruling,
            choice=vote.choice,
            reason=vote.reason,
        )
        return events.ruled(word, self.redactor, id=id, at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """What approvers were shown, as it is kept."""

    vault: Vault

    def of(self, approval: Approval) -> JsonObject:
        """Return the document of a request; an empty one when it no longer opens."""
        place = presented_place(approval.approval_id)
        try:
            text = self.vault.open(approval.tenant, place, approval.presented)
            document = jsontext.parse_result(text)
        except (VaultBroken, JsonError):
            return {}
        return document if isinstance(document, dict) else {}


@dataclass(slots=True, kw_only=True)
class Pages:
    """Where people decide; the address is known once the admin listener is bound."""

    base: str = ""  # without a path; empty where there is no page

    def of(self, approval: Approval) -> str:
        """Return the page of a request, or an empty text."""
        return f"{self.base}/approvals/{approval.approval_id}" if self.base else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approving:
    """What the pipeline, the surfaces and the sweeper share of approvals."""

    people: People
    holding: Holding
    deciding: Deciding
    documents: Documents
    pages: Pages
    wait: Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What approvals need of the rest of the gateway."""

    redactor: Redactor
    clock: Clock
    states: States
    window_s: Callable[[Case], float]
    own: Callable[[str, JsonObject], JsonObject]
    """The arguments of a tool (`server.name`) without what the gateway puts into them."""
    faults: Callable[[str, JsonObject], Sequence[str]]
    """What is wrong with arguments of a tool (`server.name`), field by field."""
    answer: Callable[[ProposedCall, Operation], Answer | Refusal]
    """What the caller of a request about a task is told of an operation that has ended."""
    most_requests: int = 4 * MOST
    """How many requests of agents are served at once."""


def own_arguments(revision: Revision, tool: str, arguments: JsonObject) -> JsonObject:
    """Return the arguments of a tool without the key that the gateway puts there."""
    contract = revision.contracts.get(tool)
    return keys.own(arguments, contract.idempotency.inject) if contract is not None else arguments


def faults_of(revision: Revision, tool: str, arguments: JsonObject) -> Sequence[str]:
    """Return what is wrong with arguments of a tool; of one without a contract nothing is known."""
    contract = revision.contracts.get(tool)
    if contract is None:
        return ()
    return proposing.faults(contract, revision.schemas_for(contract), arguments)


def approving(store: Store, approvals: ApprovalsSettings, around: Around) -> Approving:
    """Build the parts."""
    vault, bells, pages = Vault(store.keys.operations), Bells(), Pages()
    redactor, clock, documents = around.redactor, around.clock, Documents(vault=vault)
    deciding = Deciding(
        approvals=store.approvals,
        redactor=redactor,
        clock=clock,
        vault=vault,
        targets=approvals.targets,
        woken=bells.ring,
        own=around.own,
        faults=around.faults,
    )
    people = People(
        words=Words(redactor=redactor),
        vault=vault,
        clock=clock,
        window_s=around.window_s,
        targets=approvals.targets,
        default=approvals.approvers.clause,
        most_pending=approvals.max_pending,
        most_requests=approvals.max_requests,
    )
    holding = Holding(
        find=store.approvals.get,
        deciding=deciding,
        document=documents.of,
        bells=bells,
        states=around.states,
        terms=Terms(
            hold_s=approvals.hold.seconds, comes_back=approvals.hold.comes_back, url=pages.of
        ),
        clock=clock,
        errands=Errands(
            seals=around.states.seals,
            approval=store.approvals.newest_of,
            operation=store.operations.get,
            answer=around.answer,
            ended=lambda approval: gate.ended(approval, people.proposal_of(approval)),
            call_off=deciding.call_off,
            clock=clock,
        ),
        attendance=Attendance(note=store.approvals.attended),
        places=Places(most=approvals.hold.places(around.most_requests)),
    )
    return Approving(
        people=people,
        holding=holding,
        deciding=deciding,
        documents=documents,
        pages=pages,
        wait=Wait(find=store.approvals.get, wait=holding.wait),
    )


class Starter(Protocol):
    """The process as the owner of work that nobody waits for."""

    def aside(self, work: Callable[[], Awaitable[Finished]]) -> object:
        """Begin to carry `work` out; no stop waits for it."""
        ...


@dataclass(slots=True)
class _Try:
    """When a call is sent again that could not be sent, by the monotonic clock."""

    at_s: float
    pause_s: float = _FIRST_PAUSE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Sends what was approved and nobody comes back for: tasks, and what a contract wants so."""

    due: Callable[[], Awaitable[list[Approval]]]
    """Requests that are approved and wait to be sent, oldest first."""
    operation: Callable[[str], Awaitable[Operation | None]]
    call: Callable[[Operation], ProposedCall]
    """What a row asks for, as its principal; raises WeighbridgeError when that is lost."""
    today: Callable[[Principal], Principal | None]
    """Who somebody is by now; None when his credential is no longer good."""
    handle: Callable[[ProposedCall], Awaitable[Finished]]
    call_off: Callable[[Approval, str], Awaitable[Approval | None]]
    starter: Starter
    clock: Clock
    _tries: dict[str, _Try] = field(default_factory=dict[str, _Try])

    async def run(self) -> None:
        """Begin to send each of them; whoever comes first uses its approval up.

        What is refused is tried again, more and more rarely, until its time is over. Raises
        StoreUnavailable.
        """
        due = await self.due()
        for gone in self._tries.keys() - {each.approval_id for each in due}:
            del self._tries[gone]
        for approval in due:
            operation = await self.operation(approval.op_id)
            is_waiting = operation is not None and operation.state is OpState.AWAITING_APPROVAL
            if operation is not None and is_waiting and self._is_next(approval):
                await self._begin(approval, operation)

    def _is_next(self, approval: Approval) -> bool:
        now_s = self.clock.monotonic()
        last = self._tries.setdefault(approval.approval_id, _Try(now_s))
        if last.at_s > now_s:
            return False
        last.at_s, last.pause_s = now_s + last.pause_s, min(2 * last.pause_s, _LONGEST_PAUSE_S)
        return True

    async def _begin(self, approval: Approval, operation: Operation) -> None:
        try:
            call = self.call(operation)
        except WeighbridgeError as error:
            _log.warning("%s: is not sent: %s", operation.op_id, error)
            return
        principal = self.today(call.principal)
        if principal is None:
            await self.call_off(approval, "the credential of who asked is no longer valid")
            return
        cause = Cause.COMPENSATION.value if operation.compensates else ""
        call = replace(
            call, principal=principal, operation=operation, parent=approval.call_id, cause=cause
        )
        self.starter.aside(lambda: self.handle(call))
