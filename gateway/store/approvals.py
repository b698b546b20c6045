"""Approvals: requests for a decision, the votes on them, and what approvers have to be told.

Whatever changes one runs in a transaction of the event writer, under its lock, and is committed
with the events that tell of it. What calls do to requests is part of their claims.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from gateway.approvals import ballot
from gateway.clock import Clock
from gateway.store import decisions, filters, passing
from gateway.store.approval_rows import approval_of, notice_of, vote_of
from gateway.store.changes import Change, Log, Made
from gateway.store.decisions import Bench, Notices, NoticesOf, Once, Person, Told, ToldOf, Wish
from gateway.store.engine import Parameters, Transaction, Value
from gateway.store.rows import clean
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.approvals import Approval, ApprovalState, Approver, Choice, Notice, Ruling, Vote
from gateway.types.values import replaced

_T = TypeVar("_T")
_AT_ONCE: Final = 200  # requests, or notices, that one sweep looks at
_MOST_WAITING: Final = 1_000
_OPEN: Final = " OR ".join(f"state = '{each}'" for each in ApprovalState if each.is_open)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFilter:
    """What is looked for; an empty field matches everything."""

    state: str = ""
    is_open: bool = False  # only what can still come to be used
    tenant: str = ""
    user: str = ""  # who asked
    tool: str = ""
    op_id: str = ""
    run: str = ""
    since: datetime | None = None
    limit: int = 100


_CONDITIONS: Final = {
    "state": "state = :state",
    "is_open": f"({_OPEN})",
    "tenant": "tenant = :tenant",
    "user": "requester = :user",
    "tool": "tool = :tool",
    "op_id": "op_id = :op_id",
    "run": "run_id = :run AND run_id <> ''",
    "since": "created_at >= :since",
}


class Approvals:
    """The tables of approvals, votes and notices. Every method raises StoreUnavailable."""

    def __init__(self, log: Log, worker: Worker, clock: Clock) -> None:
        self._log = log
        self._worker = worker
        self._clock = clock

    async def get(self, approval_id: str) -> Approval | None:
        """Return one request."""
        found = await self._read("get_approval", {"approval_id": clean(approval_id)})
        return found[0] if found else None

    async def newest_of(self, op_id: str) -> Approval | None:
        """Return the last request about an operation."""
        found = await self.find(ApprovalFilter(op_id=op_id, limit=1))
        return found[0] if found else None

    async def find(self, wanted: ApprovalFilter) -> list[Approval]:
        """Return requests that match, newest first."""
        where, parameters = _conditions(wanted)
        return await self._read("list_approvals", parameters, where=where)

    async def votes(self, approval_id: str) -> list[Vote]:
        """Return the votes on a request, oldest first."""

        def read(transaction: Transaction) -> list[Vote]:
            rows = transaction.fetch("votes", {"approval_id": clean(approval_id)})
            return [vote_of(row) for row in rows]

        return await self._worker.read(read)

    async def counts(self, tenant: str = "") -> dict[ApprovalState, int]:
        """Return how many requests there are of each state, of one tenant or of all."""
        where, parameters = _conditions(ApprovalFilter(tenant=tenant))

        def read(transaction: Transaction) -> dict[ApprovalState, int]:
            rows = transaction.fetch("count_approvals", parameters, where=where)
            return {ApprovalState(row.text("state")): row.integer("many") for row in rows}

        return await self._worker.read(read)

    async def cast(
        self,
        approver: Approver,
        approval_id: str,
        choice: Choice,
        binding: str,
        reason: str = "",
        *,
        told: Told,
        notices: Notices,
        proposal: str = "",
        proposal_hash: str = "",
    ) -> Ruling:
        """Commit a vote and what it decides, or say why it can't stand.

        A denial ends the operation too. `proposal` is kept with a denial: sealed
        arguments that the approver would rather have, and their digest.
        """
        wish = Wish(
            choice=choice,
            binding=binding,
            reason=reason,
            proposal=proposal,
            proposal_hash=proposal_hash,
        )
        return await self._decide(
            lambda bench: _person(bench, approval_id, approver, told, notices).vote(wish)
        )

    async def withdraw_vote(
        self, approver: Approver, approval_id: str, *, told: Told, notices: Notices
    ) -> Ruling:
        """Take an own vote back while nothing is decided."""
        return await self._decide(
            lambda bench: _person(bench, approval_id, approver, told, notices).withdraw()
        )

    async def cancel_by(
        self, approver: Approver, approval_id: str, reason: str, *, told: Told, notices: Notices
    ) -> Ruling:
        """End a request for who asked, or who runs the gateway; the operation is abandoned."""
        return await self._decide(
            lambda bench: _person(bench, approval_id, approver, told, notices).cancel(reason)
        )

    async def reopen(
        self, approver: Approver, approval_id: str, *, told: Told, notices: Notices
    ) -> Ruling:
        """Let a call that was denied be asked about again: its denial is told no longer."""
        return await self._decide(
            lambda bench: _person(bench, approval_id, approver, told, notices).reopen()
        )

    async def cancel(
        self, approval: Approval, reason: str, *, told: ToldOf, notices: NoticesOf
    ) -> Approval | None:
        """End a request that nobody waits for any more; None when it has ended already."""
        name = approval.approval_id
        return await self._change(
            lambda bench: decisions.cancel(bench, name, reason), told=told, notices=notices
        )

    async def expired(self, now: int | None = None) -> list[Approval]:
        """Return requests that nobody decided, or used, in time."""
        at = microseconds(self._clock.now()) if now is None else now
        return await self._read("late_approvals", {"now": at, "limit": _AT_ONCE})

    async def expire(
        self, approval: Approval, *, told: ToldOf, notices: NoticesOf
    ) -> Approval | None:
        """End a request whose time is over; None when somebody was there before."""
        name = approval.approval_id
        return await self._change(
            lambda bench: decisions.expire(bench, name), told=told, notices=notices
        )

    async def to_send(self) -> list[Approval]:
        """Return approved requests whose calls the gateway sends by itself, oldest first."""
        named: Parameters = {"now": microseconds(self._clock.now()), "limit": _AT_ONCE}
        return await self._read("approvals_to_send", named)

    async def escalating(self, now: int | None = None) -> list[Approval]:
        """Return requests that more people may decide from now on."""
        at = microseconds(self._clock.now()) if now is None else now
        waiting = await self._read("waiting_approvals", {"now": at, "limit": _MOST_WAITING})
        return [each for each in waiting if ballot.escalates(each, at)]

    async def escalate(
        self, approval: Approval, *, told: ToldOf, notices: NoticesOf
    ) -> Approval | None:
        """Take the next step of a clause; None when it is not due, or was taken."""
        name = approval.approval_id
        return await self._change(
            lambda bench: decisions.escalate(bench, name), told=told, notices=notices
        )

    async def attended(self, approval: Approval, is_here: bool) -> None:
        """Note that a caller waits for an undecided request, or that the last one went away."""
        left_at = 0 if is_here else microseconds(self._clock.now())
        named: Parameters = {"approval_id": approval.approval_id, "left_at": left_at}
        await self._worker.write(
            lambda transaction: transaction.execute("note_attendance", named), durable=False
        )

    async def forget(self) -> None:
        """Let go of requests whose operations are no longer there, with votes and notices."""

        def work(transaction: Transaction) -> None:
            for name in ("forget_votes", "forget_approvals", "forget_notices"):
                transaction.execute(name, {})

        await self._worker.write(work, durable=False)

    async def due_notices(self, now: int | None = None) -> list[Notice]:
        """Return what approvers have to be told now, so much for each address."""
        at = microseconds(self._clock.now()) if now is None else now

        def read(transaction: Transaction) -> list[Notice]:
            rows = transaction.fetch("due_notices", {"now": at, "limit": _AT_ONCE})
            return [notice_of(row) for row in rows]

        return await self._worker.read(read)

    async def take_notice(self, notice: Notice, later: int) -> Notice | None:
        """Take the telling of one notice; None when another gateway has.

        Whoever took it and died leaves it to the next one, at the time `later`.
        """
        named: Parameters = {
            "notice_id": notice.notice_id,
            "next_at": notice.next_at,
            "attempts": notice.attempts,
            "later": later,
        }
        if await self._write("take_notice", named) != 1:
            return None
        return replaced(notice, next_at=later, attempts=notice.attempts + 1)

    async def told_notice(self, notice: Notice) -> None:
        """Note that a notice has been told."""
        await self._end_notice(notice, "")

    async def failed_notice(
        self, notice: Notice, problem: str, *, next_at: int | None = None
    ) -> None:
        """Note why a notice could not be told; without `next_at` it is given up."""
        if next_at is None:
            await self._end_notice(notice, problem)
            return
        named: Parameters = {
            "notice_id": notice.notice_id,
            "next_at": next_at,
            "problem": clean(problem),
        }
        await self._write("put_off_notice", named)

    async def _end_notice(self, notice: Notice, problem: str) -> None:
        named: Parameters = {
            "notice_id": notice.notice_id,
            "now": microseconds(self._clock.now()),
            "problem": clean(problem),
        }
        await self._write("end_notice", named)

    async def _decide(self, work: Callable[[Bench], Made[_T]]) -> _T:
        """Run a decision under the events lock; time is read there, after the wait for it."""

        def decide(transaction: Transaction) -> Made[_T]:
            now = microseconds(self._clock.now())
            bench = Bench(transaction=transaction, now=now)
            return passing.attended(transaction, work(bench), bench.runs, now=now)

        return await self._log.carry(Change(Once(decide)))

    async def _change(
        self,
        work: Callable[[Bench], Approval | None],
        *,
        told: ToldOf,
        notices: NoticesOf,
    ) -> Approval | None:
        def change(bench: Bench) -> Made[Approval | None]:
            after = work(bench)
            if after is None:
                return Made(None)
            bench.owe(notices(after))
            return Made(after, told=told(after))

        return await self._decide(change)

    async def _read(self, name: str, parameters: Parameters, *, where: str = "") -> list[Approval]:
        def read(transaction: Transaction) -> list[Approval]:
            return [approval_of(row) for row in transaction.fetch(name, parameters, where=where)]

        return await self._worker.read(read)

    async def _write(self, name: str, parameters: Parameters) -> int:
        return await self._worker.write(lambda transaction: transaction.execute(name, parameters))


def _person(
    bench: Bench, approval_id: str, approver: Approver, told: Told, notices: Notices
) -> Person:
    """Return somebody by the name that rows hold, so that he is compared with himself."""
    return Person(
        bench=bench,
        approval_id=approval_id,
        approver=replaced(approver, user=clean(approver.user), tenant=clean(approver.tenant)),
        told=told,
        notices=notices,
    )


def _conditions(wanted: ApprovalFilter) -> tuple[str, dict[str, Value]]:
    found, parameters = filters.parts(_CONDITIONS, wanted)
    return filters.where(found), {**parameters, "limit": wanted.limit}
