"""Operations: claimed by key, settled by epoch, in the transactions of the event writer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from gateway.clock import Clock
from gateway.store import claims, filters
from gateway.store.changes import Change, Log, Made
from gateway.store.claims import Wanted
from gateway.store.decisions import Once
from gateway.store.engine import Parameters, Transaction, Value
from gateway.store.rows import clean, operation_of, row_of
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.events import Event
from gateway.types.operations import Claim, Operation, OpState, VerificationState
from gateway.types.values import replaced, value

_T = TypeVar("_T")
_SECOND: Final = 1_000_000
_AT_ONCE: Final = 200  # operations that one sweep looks at
_FORGOTTEN_AT_ONCE: Final = 500  # operations of one transaction
_NOTHING: Final = Made(False, keeps_events=False)


@value
class Settlement:
    """How an attempt ended; held against the epoch that it had."""

    op_id: str
    epoch: int
    call_id: str
    state: OpState
    outcome: str = ""  # sealed
    evidence: str = ""
    verification: VerificationState = VerificationState.NOT_DECLARED
    replay_until: int = 0
    check_at: int = 0
    gives_back: bool = False  # nothing was carried out: its limits are free again
    is_open: bool = False  # its request goes on, and its lease is kept alive
    unless_open: bool = False  # settles nothing as long as that is so


@value
class Undoes:
    """Which operation another one is to undo, and the state it has from then on."""

    operation: Operation
    state: OpState
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFilter:
    """What is looked for; an empty field matches everything."""

    state: str = ""
    tenant: str = ""
    user: str = ""
    tool: str = ""
    run: str = ""
    verification: str = ""
    since: datetime | None = None
    limit: int = 100


_CONDITIONS: Final = {
    "state": "state = :state",
    "tenant": "tenant = :tenant",
    "user": "actor_user = :user",
    "tool": "tool = :tool",
    "run": "run_id = :run AND run_id <> ''",
    "verification": "verification = :verification",
    "since": "created_at >= :since",
}
# What most operations are is in no index by that; it is found among the newest.
_UNUSUAL: Final = "state NOT IN ('dispatching', 'succeeded')"
_UNDER_WAY: Final = "state = 'dispatching' AND lease_until >= 0"
_UNVERIFIED: Final = "verification NOT IN ('not_declared', 'verified')"


class Operations:
    """The table of operations. Every method raises StoreUnavailable."""

    def __init__(self, log: Log, worker: Worker, clock: Clock, *, owner: str) -> None:
        self._log = log
        self._worker = worker
        self._clock = clock
        self.owner = owner

    async def claim(self, wanted: Wanted, events: Sequence[Event], *, lease_s: float) -> Claim:
        """Take the operation for one attempt, or say what stands in its place.

        TAKEN means that intent, limits and events are committed, and nothing else may send. When
        this raises, the claim may still be committed: `unsend` takes it back.
        """
        at = self._clock.now()
        until = microseconds(at) + round(lease_s * _SECOND)
        operation = replaced(wanted.operation, owner=self.owner, lease_until=until)
        wanted = replaced(wanted, operation=operation)
        change = Change(Once(lambda transaction: claims.claim(transaction, wanted, at)))
        return await self._log.carry(change, events)

    async def settle(
        self,
        ending: Settlement,
        events: Sequence[Event],
        *,
        before: OpState = OpState.DISPATCHING,
    ) -> bool:
        """Commit an outcome; False when the epoch is over, or the state is not `before`.

        Then nothing is changed or told. What is owed is committed as soon as that is possible,
        also when this raises.
        """
        now = microseconds(self._clock.now())
        return await self._log.carry(
            Change(lambda transaction: _settle(transaction, ending, before, now)),
            events,
            owed=True,
        )

    def settle_soon(self, ending: Settlement, events: Sequence[Event]) -> None:
        """Commit an outcome as soon as that is possible, and wait for nothing."""
        now = microseconds(self._clock.now())
        self._log.promise(
            Change(lambda transaction: _settle(transaction, ending, OpState.DISPATCHING, now)),
            events,
        )

    def unsend(self, wanted: Operation, events: Sequence[Event] = ()) -> None:
        """Take back a claim whose send certainly did not begin, as soon as that is possible."""
        now = microseconds(self._clock.now())
        named: Parameters = {**claims.place(wanted), "call_id": wanted.call_id, "now": now}

        def work(transaction: Transaction) -> Made[None]:
            transaction.execute("unsend_operation", named)
            transaction.execute("release", {"call_id": wanted.call_id})
            return Made(None)

        self._log.promise(Change(work), events)

    async def verified(
        self,
        operation: Operation,
        state: VerificationState,
        events: Sequence[Event],
        *,
        check_at: int = 0,
        outcome: str | None = None,
    ) -> bool:
        """Note what a check said after the answer had left; False when that no longer counts."""
        named: Parameters = {
            "op_id": operation.op_id,
            "epoch": operation.epoch,
            "verification": str(state),
            "check_at": check_at,
            "outcome": operation.outcome if outcome is None else outcome,
        }
        return await self._log.carry(
            Change(lambda transaction: _held(transaction, "verify_operation", named)), events
        )

    async def mark(
        self, operation: Operation, state: OpState, evidence: str, events: Sequence[Event]
    ) -> bool:
        """Move an operation from the state it was read in; False when it has left that.

        When it was settled stays known on the way back: deadlines count from then.
        """
        named = self._moved(operation, state, evidence)
        is_tried = False

        def work(transaction: Transaction) -> Made[bool]:
            nonlocal is_tried
            if transaction.execute("mark_operation", named) == 1:
                is_tried = True
                return Made(True)
            # Without a time of its own, another's equal mark looks like this one's repeated.
            return _held(transaction, "mark_operation", named) if is_tried else _NOTHING

        return await self._log.carry(Change(work), events)

    async def add(
        self, wanted: Operation, events: Sequence[Event], *, undoes: Undoes | None = None
    ) -> bool:
        """Keep an operation that somebody asked for; False when its key is taken.

        With it, what it undoes is moved from the state that it was read in, if it still has that.
        """
        moved = self._moved(undoes.operation, undoes.state, undoes.evidence) if undoes else None

        def work(transaction: Transaction) -> Made[bool]:
            found = transaction.fetch("newest_operation", claims.place(wanted))
            if found:
                mine = found[0].text("op_id") == wanted.op_id
                return Made(mine, keeps_events=mine)
            transaction.execute("add_operation", row_of(wanted))
            if moved is not None:
                transaction.execute("mark_operation", moved)
            return Made(True)

        return await self._log.carry(Change(work), events)

    def _moved(self, operation: Operation, state: OpState, evidence: str) -> Parameters:
        is_settled = operation.settled_at > 0 and operation.state is not OpState.INDETERMINATE
        return {
            "op_id": operation.op_id,
            "epoch": operation.epoch,
            "before": str(operation.state),
            "state": str(state),
            "evidence": clean(evidence),
            "settled_at": (operation.settled_at if is_settled else microseconds(self._clock.now())),
        }

    async def renew(self, living: Sequence[tuple[str, int]], lease_s: float) -> frozenset[str]:
        """Lengthen the leases of calls that are under way: pairs of id and epoch.

        Returns the ids of those that may still be sent: whoever is not among them has been given
        up. The lease of an unknown one says that its request is open, and its answer may come.
        """
        until = microseconds(self._clock.now()) + round(lease_s * _SECOND)

        def work(transaction: Transaction) -> frozenset[str]:
            still: set[str] = set()
            for op_id, epoch in living:
                row = {"op_id": op_id, "epoch": epoch, "lease_until": until}
                if transaction.execute("renew_operation", row):
                    still.add(op_id)
                else:
                    transaction.execute("keep_operation_open", row)
            return frozenset(still)

        return await self._worker.write(work, durable=False)

    async def lost(self) -> list[Operation]:
        """Return operations whose lease ran out."""
        return await self._read(
            "lost_operations", {"now": microseconds(self._clock.now()), "limit": _AT_ONCE}
        )

    async def lose(
        self, operation: Operation, evidence: str, events: Sequence[Event], *, check_at: int = 0
    ) -> bool:
        """Note that nobody knows what became of an operation; False when somebody does by now."""
        named: Parameters = {
            "op_id": operation.op_id,
            "epoch": operation.epoch,
            "evidence": evidence,
            "now": microseconds(self._clock.now()),
            "check_at": check_at,
            "lease_until": operation.lease_until,
        }
        return await self._log.carry(
            Change(lambda transaction: _held(transaction, "lose_operation", named)), events
        )

    async def due(self) -> list[Operation]:
        """Return operations at whose outcome somebody has to look."""
        return await self._read(
            "due_operations", {"now": microseconds(self._clock.now()), "limit": _AT_ONCE}
        )

    async def take_check(self, operation: Operation, *, later: int) -> bool:
        """Take the look at one operation that is due; False when another gateway has."""
        named: Parameters = {
            "op_id": operation.op_id,
            "check_at": operation.check_at,
            "later": later,
        }
        return await self._worker.write(
            lambda transaction: transaction.execute("take_check", named) == 1
        )

    async def ready(self) -> list[Operation]:
        """Return compensations that somebody asked for, and that nobody has sent yet."""
        return await self._read("ready_operations", {"limit": _AT_ONCE})

    async def get(self, op_id: str) -> Operation | None:
        """Return one operation."""
        found = await self._read("get_operation", {"op_id": clean(op_id)})
        return found[0] if found else None

    async def of_call(self, call_id: str) -> Operation | None:
        """Return the operation that a call sent last."""
        found = await self._read("operation_of_call", {"call_id": clean(call_id)})
        return found[0] if found else None

    async def undoing(self, op_id: str) -> list[Operation]:
        """Return what undoes an operation, newest first."""
        return await self._read("undoing_operations", {"op_id": clean(op_id)})

    async def find(self, wanted: OperationFilter) -> list[Operation]:
        """Return operations that match, newest first."""
        where, parameters = conditions(wanted)
        return await self._read("list_operations", parameters, where=where)

    async def count(self) -> dict[str, int]:
        """Return how many operations there are of each state."""

        def read(transaction: Transaction) -> dict[str, int]:
            rows = transaction.fetch("count_operations", {})
            return {row.text("state"): row.integer("many") for row in rows}

        return await self._worker.read(read)

    async def forget(self, *, outcomes_before: int, operations_before: int) -> None:
        """Let go of answers that are no longer repeated, and of what ended long ago.

        In transactions of bounded length: claims and settlements get in between.
        """
        now = microseconds(self._clock.now())
        await self._forget("forget_outcomes", {"now": now, "before": outcomes_before})
        await self._forget("forget_operations", {"now": now, "before": operations_before})

    async def _forget(self, name: str, parameters: Parameters) -> None:
        limited: Parameters = {**parameters, "limit": _FORGOTTEN_AT_ONCE}

        def work(transaction: Transaction) -> int:
            return transaction.execute(name, limited)

        while await self._worker.write(work, durable=False) == _FORGOTTEN_AT_ONCE:
            pass

    async def _read(self, name: str, parameters: Parameters, *, where: str = "") -> list[Operation]:
        def read(transaction: Transaction) -> list[Operation]:
            return [operation_of(row) for row in transaction.fetch(name, parameters, where=where)]

        return await self._worker.read(read)


def _settle(transaction: Transaction, ending: Settlement, before: OpState, now: int) -> Made[bool]:
    made = _held(
        transaction,
        "settle_operation",
        {
            "op_id": ending.op_id,
            "epoch": ending.epoch,
            "before": str(before),
            "state": str(ending.state),
            "outcome": ending.outcome,
            "evidence": clean(ending.evidence),
            "verification": str(ending.verification),
            "now": now,
            "replay_until": ending.replay_until,
            "check_at": ending.check_at,
            "is_open": int(ending.is_open),
            "unless_open": int(ending.unless_open),
        },
    )
    if made.value and ending.gives_back:
        transaction.execute("release", {"call_id": ending.call_id})
    return made


def _held(transaction: Transaction, name: str, parameters: Parameters) -> Made[bool]:
    """Run a guarded change: when its guard does not hold, its events tell of nothing.

    Repeated after a commit without an answer, it finds its own work done.
    """
    if transaction.execute(name, parameters) == 1:
        return Made(True)
    found = transaction.fetch("get_operation", {"op_id": parameters["op_id"]})
    done = bool(found) and _is_done(operation_of(found[0]), parameters)
    return Made(done, keeps_events=done)


def _is_done(found: Operation, parameters: Parameters) -> bool:
    row = row_of(found)
    asked = {name: value for name, value in parameters.items() if name in row}
    settled = row["settled_at"] == parameters.get("now", row["settled_at"])
    return settled and all(row[name] == value for name, value in asked.items())


def conditions(wanted: OperationFilter) -> tuple[str, dict[str, Value]]:
    """Return the condition in SQL, made of constant parts only, and its parameters."""
    found, parameters = filters.parts(_CONDITIONS, wanted)
    where = filters.where([*found, *_as_indexed(wanted)])
    return where, {**parameters, "limit": wanted.limit}


def _as_indexed(wanted: OperationFilter) -> list[str]:
    """Return the conditions of partial indexes, as these have them: else they are not used."""
    found: list[str] = []
    if wanted.state == OpState.DISPATCHING:
        found.append(_UNDER_WAY)
    elif wanted.state not in ("", OpState.SUCCEEDED):
        found.append(_UNUSUAL)
    if wanted.verification not in ("", VerificationState.NOT_DECLARED, VerificationState.VERIFIED):
        found.append(_UNVERIFIED)
    return found
