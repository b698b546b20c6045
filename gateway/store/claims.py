"""What a claim does inside of its transaction: meet what is there, take it, or ask people."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from gateway.operations.meeting import DAY, Meeting, differs, meet
from gateway.store import limits as counters
from gateway.store import passing, requests
from gateway.store.changes import Made
from gateway.store.engine import Parameters, Transaction
from gateway.store.requests import Asking, Desk, Enough, Held, Over, Telling
from gateway.store.rows import clean, operation_of, row_of
from gateway.store.times import microseconds
from gateway.types.approvals import Approval, ApprovalState
from gateway.types.decisions import Limit
from gateway.types.events import Event
from gateway.types.guarantees import OnVariant
from gateway.types.operations import ASKS_FIRST, Claim, Met, Operation, OpState
from gateway.types.runs import Only, Passage
from gateway.types.values import replaced, value

_WAYS: Final = {
    Meeting.JOIN: Met.JOINED,
    Meeting.SETTLED: Met.SETTLED,
    Meeting.CONFLICT: Met.CONFLICT,
    Meeting.VARIANT: Met.VARIANT,
    Meeting.UNKNOWN: Met.UNKNOWN,
    Meeting.LOST: Met.LOST,
    Meeting.MINE: Met.TAKEN,
}


@value
class Wanted:
    """What a call wants to have claimed, and on which terms."""

    operation: Operation
    on_variant: OnVariant
    limits: Sequence[Limit] = ()
    repeats: str = ""  # an operation that is to be carried out once more
    is_alone: bool = False  # not to be sent beside the same one that is open under another key
    asking: Asking | None = None  # how people are asked, where they may have to be
    telling: Telling | None = None  # how it is told that they need not be any more
    continues: bool = False  # it brings answers to what its server has asked
    passage: Passage | None = None  # how it passes its run, where it has one
    known_for: int = DAY  # microseconds in which its server knows a request again by its key


def place(wanted: Operation) -> Parameters:
    """Return what the operations under one key have in common."""
    return {
        "tenant": clean(wanted.tenant),
        "scope": wanted.key.scope,
        "idem_key": wanted.key.key,
    }


def claim(transaction: Transaction, wanted: Wanted, at: datetime) -> Made[Claim]:
    """Take the operation of a key for one attempt, or say what stands in its place.

    Runs under the events lock, so that nobody else claims or decides in between; bears repeating.
    `repeats` names an operation that is to be carried out once more: one of the same key, and the
    newest, or it has been already.
    """
    told: list[Event] = []
    passage = wanted.passage
    if passage is not None and not passing.may_pass(transaction, passage):
        return Made(Claim(met=Met.RUN_CHANGED, operation=wanted.operation), keeps_events=False)
    claiming = _Claiming(transaction, wanted, at, told)
    claimed = claiming.claimed()
    now = microseconds(at)
    if passage is not None and claimed.met in (Met.TAKEN, Met.HELD):
        call_id = wanted.operation.call_id
        passing.pass_through(transaction, passage, now=now, told=told, call=call_id)
    passing.attend_all(transaction, claiming.desk.runs, now=now, told=told)
    return Made(claimed, keeps_events=claimed.met is Met.TAKEN, told=told)


class _Claiming:
    """One claim in its transaction."""

    def __init__(
        self, transaction: Transaction, wanted: Wanted, at: datetime, told: list[Event]
    ) -> None:
        self._transaction = transaction
        self._wanted = wanted
        self._operation = wanted.operation
        self._asking = wanted.asking
        self._only = wanted.passage.only if wanted.passage is not None else None
        self._at = at
        self._now = microseconds(at)
        self.desk = Desk(transaction=transaction, now=self._now, told=told)

    def claimed(self) -> Claim:
        wanted, repeats = self._operation, self._wanted.repeats
        if self._asking is not None and self._asking.is_due and self._is_outdated():
            return Claim(met=Met.OUTDATED, operation=wanted)
        if repeats and not self._has_key(repeats):
            return Claim(met=Met.MISNAMED, operation=wanted)
        rows = self._transaction.fetch("newest_operation", place(wanted))
        if not rows:
            return self._new(None)
        found = operation_of(rows[0])
        if found.state is OpState.AWAITING_APPROVAL:
            return self._met_held(found)
        ended = self._met_decided(found)
        return ended if ended is not None else self._met(found)

    def _met(self, found: Operation) -> Claim:
        wanted = self._operation
        meeting = meet(
            found,
            wanted,
            on_variant=self._wanted.on_variant,
            now=self._now,
            on_purpose=found.op_id == self._wanted.repeats,
            known_for=self._wanted.known_for,
        )
        match meeting:
            case Meeting.NEW if found.op_id == wanted.op_id:  # asked for itself, and it has ended
                return Claim(met=Met.SETTLED, operation=found)
            case Meeting.NEW:
                return self._new(found)
            case Meeting.AGAIN:
                return self._again(found)
            case Meeting.VARIANT if self._may_vary(found):
                return self._new(found, rule=requests.VARIANT)
            case _:
                return Claim(met=_WAYS[meeting], operation=found)

    def _may_vary(self, found: Operation) -> bool:
        """Whether a person may allow the same intent in other words, after the first has ended."""
        asks = self._asking is not None and self._wanted.on_variant is OnVariant.APPROVE
        return asks and found.state in (OpState.SUCCEEDED, OpState.FAILED_FINAL)

    def _met_decided(self, found: Operation) -> Claim | None:
        """Tell of a request that has ended, as long as its answer counts."""
        is_expired = found.state is OpState.ABANDONED and found.op_id != self._operation.op_id
        if is_expired and self._asking is not None:
            expired = requests.untold(self.desk, found)
            if expired is not None:
                return Claim(met=Met.EXPIRED, operation=found, approval=expired)
        if found.state is not OpState.DENIED or self._now >= found.replay_until:
            return None
        if differs(found, self._operation) is Meeting.CONFLICT:
            return None
        denied = requests.newest(self.desk, found.op_id)
        if self._asking_now(denied) is None:  # nobody has to be asked any more
            return self._new(found)
        if denied is not None and denied.proposal_hash == self._operation.key.arguments:
            return self._new(found)  # it is what its approver would rather have had
        return Claim(met=Met.DENIED, operation=found, approval=denied)

    def _met_held(self, found: Operation) -> Claim:
        """Come back for a call that people were asked about."""
        wanted = self._operation
        if self._only is Only.RETRY:
            return self._blocked(found)
        if differs(found, wanted) is Meeting.CONFLICT:
            return Claim(met=Met.CONFLICT, operation=found)
        approval = requests.newest(self.desk, found.op_id)
        asking = self._asking_now(approval)
        met = requests.meet(self.desk, found, asking, wanted, self._wanted.telling)
        match met:
            case Held():
                return Claim(met=Met.HELD, operation=found, approval=met.approval)
            case Over(state=ApprovalState.SUPERSEDED):
                return self._new(replace(found, state=OpState.ABANDONED))
            case Over():
                is_denied = met.state is ApprovalState.DENIED
                ended = Met.DENIED if is_denied else Met.EXPIRED
                return Claim(met=ended, operation=found, approval=met.approval)
            case Enough() if asking is not None:
                return self._used(found, met.approval, asking)
            case _:
                return self._anew(found, approval)

    def _asking_now(self, approval: Approval | None) -> Asking | None:
        """Return how people are asked about a call of now, or None when nobody has to be."""
        asking = self._asking
        if asking is None or asking.is_due:
            return asking
        is_of_contract = approval is not None and approval.rule in requests.OF_CONTRACTS
        return asking if is_of_contract else None

    def _anew(self, found: Operation, before: Approval | None) -> Claim:
        """Ask people again: the call, its tool or the rule is another one than they saw."""
        asking = self._asking
        if asking is None:
            return Claim(met=Met.JOINED, operation=found)
        if before is not None and before.state.is_open:
            full = requests.exceeded(self.desk, asking, before)
            if full is not None:
                return self._too_many(full)  # what people have said so far stays
            requests.supersede(self.desk, before, asking, "what was asked about has changed")
        rule = before.rule if before is not None and before.rule in requests.OF_CONTRACTS else ""
        return self._held(found, earlier=found, before=before, rule=rule)

    def _new(self, found: Operation | None, *, rule: str = "") -> Claim:
        """Make the first operation of a key, or the next."""
        beside = self._open_beside()
        if beside is not None:
            return beside
        generation = 0 if found is None else found.generation + 1
        wanted = replace(self._operation, generation=generation)
        if self._asking is None or not (self._asking.is_due or rule):
            return self._take(wanted, None)
        denied = requests.denied(self.desk, wanted)
        if denied is not None:  # another key doesn't have people asked the same again
            approval = requests.newest(self.desk, denied.op_id)
            return Claim(met=Met.DENIED, operation=denied, approval=approval)
        made = replaced(wanted, state=OpState.AWAITING_APPROVAL, created_at=self._now)
        try:
            return self._asked(made, self._asking, earlier=found if rule else None, rule=rule)
        except requests.TooMany as full:
            return self._too_many(full)

    def _open_beside(self) -> Claim | None:
        """Meet the same call under another key, as long as nobody knows what became of it.

        Keys change: a contract is read anew, a credential is renewed. What may have been carried
        out under the key of then is not sent under the key of now.
        """
        if not self._wanted.is_alone:
            return None
        row = row_of(self._operation)
        names = ("tenant", "actor_user", "args_hash", "tool")
        rows = self._transaction.fetch("open_operation", {name: row[name] for name in names})
        if not rows:
            return None
        found = operation_of(rows[0])
        is_lost = found.state is OpState.DISPATCHING and found.lease_until <= self._now
        return Claim(met=Met.LOST if is_lost else Met.UNKNOWN, operation=found)

    def _again(self, found: Operation) -> Claim:
        """Send an operation that was not carried out once more, if nobody has to be asked."""
        before = requests.newest(self.desk, found.op_id) if self._asking is not None else None
        asking = self._asking_now(before)
        if asking is None:
            return self._take(self._operation, found)
        if found.state is OpState.INDETERMINATE:  # what waits for people can be given up, it can't
            return Claim(met=Met.UNKNOWN, operation=found)
        if before is not None and self._goes_on(found, before, asking):
            kept = replaced(self._operation, arguments=found.arguments, shown=found.shown)
            return replaced(self._take(kept, found, approved=True), approval=before)
        is_of_contract = before is not None and before.rule in requests.OF_CONTRACTS
        return self._held(found, rule=before.rule if before is not None and is_of_contract else "")

    def _goes_on(self, found: Operation, before: Approval, asking: Asking) -> bool:
        """Whether people have decided about this very call, and its server only asked something."""
        return (
            self._wanted.continues
            and found.evidence == ASKS_FIRST
            and before.state is ApprovalState.CONSUMED
            and before.binding == asking.binding(found.op_id)
            and before.clause == asking.clause
            and self._now <= before.use_by
        )

    def _held(
        self,
        found: Operation,
        *,
        earlier: Operation | None = None,
        before: Approval | None = None,
        rule: str = "",
    ) -> Claim:
        """Have an operation that is there wait for people."""
        asking = self._asking
        if asking is None:
            return Claim(met=Met.JOINED, operation=found)
        wanted = self._operation
        self.desk.runs.update((found.run_id, wanted.run_id))  # it goes from one to the other
        held = replaced(
            wanted,
            op_id=found.op_id,
            generation=found.generation,
            epoch=found.epoch,
            created_at=found.created_at,
            downstream_key=found.downstream_key or wanted.downstream_key,
            state=OpState.AWAITING_APPROVAL,
        )
        try:
            return self._asked(held, asking, earlier=earlier, before=before, rule=rule, anew=True)
        except requests.TooMany as full:
            return self._too_many(full)

    def _asked(
        self,
        operation: Operation,
        asking: Asking,
        *,
        earlier: Operation | None = None,
        before: Approval | None = None,
        rule: str = "",
        anew: bool = False,  # the row is there already
    ) -> Claim:
        if self._only is Only.RETRY:
            return self._blocked(operation)
        met = requests.ask(
            self.desk, operation, asking, earlier=earlier, replaces=before, rule=rule
        )
        self._transaction.execute("hold_operation" if anew else "add_operation", row_of(operation))
        if isinstance(met, Enough):
            return self._used(operation, met.approval, asking)
        return Claim(met=Met.HELD, operation=operation, approval=met.approval)

    def _used(self, found: Operation, approval: Approval, asking: Asking) -> Claim:
        """Use an approval up and take the operation, in one: `approved → consumed`."""
        exceeded = counters.take(
            self._transaction, self._operation.call_id, self._wanted.limits, self._at
        )
        if exceeded is not None:  # the approval stays, for when there is room
            return Claim(
                met=Met.OVER_LIMIT,
                operation=found,
                limit=exceeded.limit,
                retry_after_s=exceeded.retry_after_s,
            )
        if not requests.consume(self.desk, approval, asking, self._operation):
            return Claim(met=Met.HELD, operation=found, approval=approval)
        row = row_of(replaced(self._operation, op_id=found.op_id))
        self._transaction.execute("send_approved", {**row, "now": self._now})
        again = self._transaction.fetch("get_operation", {"op_id": found.op_id})
        return Claim(met=Met.TAKEN, operation=operation_of(again[0]), approval=approval)

    def _take(self, wanted: Operation, found: Operation | None, *, approved: bool = False) -> Claim:
        """Take it, and what it uses up; a call that is over a limit changes nothing."""
        is_retry = found is not None and self._is_retry(found)
        if not (self._only is None or (is_retry if self._only is Only.RETRY else approved)):
            return self._blocked(wanted)
        exceeded = counters.take(self._transaction, wanted.call_id, self._wanted.limits, self._at)
        if exceeded is not None:
            return Claim(
                met=Met.OVER_LIMIT,
                operation=wanted,
                limit=exceeded.limit,
                retry_after_s=exceeded.retry_after_s,
            )
        if found is None:
            taken = replaced(
                wanted,
                state=OpState.DISPATCHING,
                epoch=1,
                created_at=self._now,
                dispatched_at=self._now,
            )
            self._transaction.execute("add_operation", row_of(taken))
            return Claim(met=Met.TAKEN, operation=taken)
        self.desk.runs.update((found.run_id, wanted.run_id))  # it goes from one to the other
        row = row_of(replace(wanted, op_id=found.op_id, epoch=found.epoch))
        self._transaction.execute("dispatch_operation", {**row, "now": self._now})
        again = self._transaction.fetch("get_operation", {"op_id": found.op_id})
        return Claim(met=Met.TAKEN, operation=operation_of(again[0]))

    def _is_retry(self, found: Operation) -> bool:
        """Whether it is what the run of this call had begun itself, and was not carried out."""
        is_own = found.run_id == self._operation.run_id
        return is_own and found.state is OpState.FAILED_RETRYABLE

    def _blocked(self, operation: Operation) -> Claim:
        return Claim(met=Met.PHASE_BLOCKED, operation=operation)

    def _too_many(self, full: requests.TooMany) -> Claim:
        return Claim(
            met=Met.OVER_LIMIT,
            operation=self._operation,
            limit=full.limit,
            retry_after_s=full.retry_after_s,
        )

    def _is_outdated(self) -> bool:
        """Whether a newer policy is in force than the one that the call was judged by."""
        return bool(self._transaction.fetch("newer_revision", {"id": self._operation.revision}))

    def _has_key(self, op_id: str) -> bool:
        rows = self._transaction.fetch("get_operation", {"op_id": clean(op_id)})
        return bool(rows) and place(operation_of(rows[0])) == place(self._operation)
