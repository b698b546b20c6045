"""How people are asked about a call: everything of a request but its place in the store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from gateway import ids, jsontext
from gateway.approvals.binding import Bound, bind
from gateway.approvals.lines import MOST_BYTES
from gateway.case import Case
from gateway.clock import Clock
from gateway.contracts import writing
from gateway.errors import JsonError
from gateway.operations import keys
from gateway.store.requests import REPEAT, VARIANT, Asking, Telling
from gateway.store.times import microseconds
from gateway.store.vault import Vault, VaultBroken
from gateway.types.actors import Actor
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    ApprovalState,
    Execute,
    Notice,
    NoticeStage,
    Ruling,
    Vote,
)
from gateway.types.calls import Era
from gateway.types.decisions import DecisionEffect
from gateway.types.events import Event, Stage
from gateway.types.extensions import TASKS, knows
from gateway.types.guarantees import OnVariant, Repeat
from gateway.types.json import JsonObject
from gateway.types.operations import Operation

_SECOND: Final = 1_000_000
# What approvers are told of the stages that a claim brings about.
_TOLD: Final = {
    Stage.REQUESTED: NoticeStage.REQUESTED,
    Stage.DECIDED: NoticeStage.DECIDED,
    Stage.EXPIRED: NoticeStage.EXPIRED,
    Stage.VOIDED: NoticeStage.CANCELLED,
}
# Changes that the requester brings about, by his call; what time brings about has no actor.
_BY_CALLER: Final = frozenset({Stage.REQUESTED, Stage.USED, Stage.VOIDED})


_SAID_NO: Final = frozenset({ApprovalState.DENIED, ApprovalState.CANCELLED})


class Words(Protocol):
    """What is said of requests: to approvers, and in the log."""

    def presented(self, case: Case, operation: Operation, before: JsonObject | None) -> JsonObject:
        """Return the document that approvers are shown; `before` are arguments that it replaces."""
        ...

    def event(
        self, approval: Approval, stage: Stage, *, id: str, at: datetime, actor: Actor | None
    ) -> Event:
        """Return the event of a change that no vote brought about."""
        ...

    def voted(self, ruling: Ruling, vote: Vote, *, id: str, at: datetime) -> Sequence[Event]:
        """Return the events of a vote that was given before the request was made."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Makes requests for approval from judged cases."""

    words: Words
    vault: Vault
    clock: Clock
    window_s: Callable[[Case], float]
    """For how long a settled operation, or a denied one, answers calls that repeat it."""
    targets: Callable[[str, NoticeStage], Sequence[str]]
    """The addresses that are told of a stage, for a tenant."""
    default: ApprovalClause | None = None
    """Who decides where no rule says so: about doubtful origins, variants and repeats."""
    most_pending: int = 10
    most_requests: int = 60

    def clause(self, case: Case) -> ApprovalClause | None:
        """Return who has to say yes to a call; None where there is nobody who could be asked."""
        return case.decision.approval or self.default

    def asking(self, case: Case, *, trace: str = "", repeats: bool = False) -> Asking | None:
        """Return how people are asked about a case; None where nothing has them asked.

        `trace` is the `traceparent` of the call's own span: what becomes of it is linked to that.
        """
        is_held = case.decision.effect is DecisionEffect.REQUIRE_APPROVAL or repeats
        clause = self.clause(case)
        if clause is None or not (is_held or _asks_by_contract(case)):
            return None
        rule = case.decision.rule if not repeats else REPEAT
        rule = rule if is_held else VARIANT
        return _Request(self, case, clause, rule, trace).asking(is_due=is_held)

    def telling(self, case: Case) -> Telling:
        """Return how it is told that a call has ended a request, where nobody is asked any more."""
        teller = _Teller(self, case)
        return Telling(tells=teller.tells, notices=teller.notices)

    def binding(self, case: Case, op_id: str) -> str:
        """Return what a decision about a case is about, by the arguments that it has now."""
        return bind(_bound(case, self.vault), op_id)

    def arguments_of(self, operation: Operation) -> JsonObject | None:
        """Return what an operation was asked for, or None when that is no longer kept."""
        try:
            sealed = self.vault.open(operation.tenant, operation.key.key, operation.arguments)
            body = jsontext.parse_result(sealed)
        except (VaultBroken, JsonError):
            return None
        arguments = body.get("arguments") if isinstance(body, dict) else None
        return arguments if isinstance(arguments, dict) else None

    def proposal_of(self, approval: Approval) -> JsonObject | None:
        """Return the arguments that an approver would rather have, if he said which."""
        if not approval.proposal or approval.state not in _SAID_NO:
            return None  # some may have said no in vain
        try:
            sealed = self.vault.open(approval.tenant, approval.approval_id, approval.proposal)
            proposal = jsontext.parse_result(sealed)
        except (VaultBroken, JsonError):
            return None
        return proposal if isinstance(proposal, dict) else None


def is_too_large(arguments: JsonObject) -> bool:
    """Whether arguments are more than a person can be expected to read before he says yes."""
    return len(jsontext.dump(arguments)) > MOST_BYTES


def _asks_by_contract(case: Case) -> bool:
    """Whether a contract has people asked about what policy lets through."""
    idempotency = case.contract.idempotency
    return idempotency.on_variant is OnVariant.APPROVE or idempotency.repeat is Repeat.APPROVE


def _bound(case: Case, vault: Vault, arguments: JsonObject | None = None) -> Bound:
    """Return all of a call that a decision is about; `arguments` stand for those of the case."""
    tenant, contract = case.actor.tenant, case.contract
    sent = case.arguments if arguments is None else arguments
    return Bound(
        tenant=tenant,
        principal=case.call.principal.owner,
        run_id=case.run_id,
        server=case.tool.server,
        tool=case.tool.key,
        pin=contract.pin,
        contract=jsontext.digest(writing.dump([contract])),
        # Keyed: the rest is known to who reads the log, and a secret may be short.
        arguments=vault.digest(tenant, keys.own(sent or {}, contract.idempotency.inject)),
    )


@dataclass(slots=True)
class _Teller:
    """What one call has to say of requests, under the same ids however often it is asked."""

    people: People
    case: Case
    _ids: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def tells(self, approval: Approval, stage: Stage) -> list[Event]:
        event_id = self._ids.setdefault((approval.approval_id, stage.value), ids.ulid())
        at = self.people.clock.now()
        actor = self.case.actor if stage in _BY_CALLER else None
        return [self.people.words.event(approval, stage, id=event_id, at=at, actor=actor)]

    def voted(self, ruling: Ruling, vote: Vote) -> Sequence[Event]:
        event_id = self._ids.setdefault((vote.approval_id, "voted"), ids.ulid())
        return self.people.words.voted(ruling, vote, id=event_id, at=self.people.clock.now())

    def notices(self, approval: Approval, stage: Stage) -> list[Notice]:
        told = _TOLD.get(stage)
        if told is None:
            return []
        now = microseconds(self.people.clock.now())
        return [
            Notice(
                notice_id=self._ids.setdefault(
                    (approval.approval_id, f"{stage}:{each}"), _notice()
                ),
                approval_id=approval.approval_id,
                tenant=approval.tenant,
                stage=told,
                target=each,
                created_at=now,
                next_at=now,
            )
            for each in self.people.targets(approval.tenant, told)
        ]


@dataclass(slots=True)
class _Request:
    """One request, made at most once: a transaction may run twice, and has to find its own."""

    people: People
    case: Case
    clause: ApprovalClause
    rule: str
    trace: str
    _made: dict[str, Approval] = field(default_factory=dict[str, Approval])
    _bound: Bound | None = None

    def asking(self, *, is_due: bool) -> Asking:
        case, notes = self.case, self.case.contract.approval
        teller = _Teller(self.people, case)
        return Asking(
            clause=self.clause,
            tenant=case.actor.tenant,
            user=case.actor.user,
            binding=self.binding,
            was_like_this=self.was_like_this,
            made=self.made,
            tells=teller.tells,
            voted=teller.voted,
            notices=teller.notices,
            most_pending=self.people.most_pending,
            most_requests=self.people.most_requests,
            is_due=is_due,
            denies_new_pin=not notes.reapprove_on_pin_change,
        )

    def binding(self, op_id: str) -> str:
        if self._bound is None:
            self._bound = _bound(self.case, self.people.vault)
        return bind(self._bound, op_id)

    def was_like_this(self, operation: Operation, before: Approval) -> bool:
        """Whether an earlier request was about this call but for its arguments."""
        arguments = self.people.arguments_of(operation)
        if arguments is None:
            return False
        bound = _bound(self.case, self.people.vault, arguments)
        return bind(bound, operation.op_id) == before.binding

    def made(self, operation: Operation, earlier: Operation | None) -> Approval:
        found = self._made.get(operation.op_id)
        if found is None:
            found = self._made[operation.op_id] = self._new(operation, earlier)
        return found

    def _new(self, operation: Operation, earlier: Operation | None) -> Approval:
        case, people, clause = self.case, self.people, self.clause
        before = people.arguments_of(earlier) if earlier is not None else None
        document = jsontext.dump(people.words.presented(case, operation, before))
        approval_id, now = ids.new("apr"), microseconds(people.clock.now())
        decide_by = now + round(clause.expires_s * _SECOND)
        window = round(people.window_s(case) * _SECOND)
        return Approval(
            approval_id=approval_id,
            op_id=operation.op_id,
            tenant=case.actor.tenant,
            user=case.actor.user,
            client=case.call.principal.client,
            run_id=case.run_id,
            server=case.tool.server,
            tool=case.tool.key,
            call_id=case.call.call_id,
            trace=self.trace,
            binding=self.binding(operation.op_id),
            revision=case.revision.id,
            rule=self.rule,
            clause=clause,
            risk=str(case.risk),
            execute=_execution(case),
            not_before=now + round(clause.not_before_s * _SECOND) if clause.not_before_s else 0,
            decide_by=decide_by,
            answer_until=max(decide_by, now + window),
            created_at=now,
            presented=people.vault.seal(case.actor.tenant, presented_place(approval_id), document),
            presented_digest=jsontext.digest(document.decode()),
        )


def _notice() -> str:
    return ids.new("notice")


def presented_place(approval_id: str) -> str:
    """Return where in the vault the document of a request is kept."""
    return f"{approval_id}:presented"


def _execution(case: Case) -> Execute:
    """Say who sends the call: the gateway, where nobody is there to come back for it."""
    caller, is_own = case.call.caller, case.call.operation is not None
    has_task = caller.era is Era.MODERN and knows(caller.capabilities, TASKS)
    return Execute.ON_APPROVAL if is_own or has_task else case.contract.approval.execute
