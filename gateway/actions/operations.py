"""What people see of operations, and how they settle one of which nobody knows what became."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Protocol

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.errors import JsonError, WeighbridgeError
from gateway.events import admin
from gateway.events.redact import Redactor
from gateway.operations.machine import OpEvent, next_state
from gateway.results import kept, lost
from gateway.store.operations import OperationFilter, Settlement
from gateway.store.times import microseconds, moment
from gateway.store.vault import Vault
from gateway.types.events import Event
from gateway.types.guarantees import CompensationClass
from gateway.types.json import Json, JsonObject
from gateway.types.operations import FAILED, Operation, OpState, VerificationState
from gateway.types.tools import Contract

_BY_HAND: Final = "settled by "  # how the evidence of a person begins
_UNVERIFIED: Final = (
    VerificationState.PENDING,
    VerificationState.FAILED,
    VerificationState.INCONCLUSIVE,
)
_UNSETTLED: Final = frozenset(
    {OpState.PROPOSED, OpState.AWAITING_APPROVAL, OpState.READY, OpState.DISPATCHING}
)
_COMES_BACK: Final = frozenset({CompensationClass.COMPENSATABLE, CompensationClass.RETRIABLE})
_UNDO: Final = "undo it with `weighbridge ops compensate {op} --execute`"
# Of what was found out by a person, there is no answer that the way back could be made of.
_CONFIRMED: Final = (
    "it took effect, and calls that repeat it are told so; `weighbridge ops compensate {op}` shows "
    "whether it can be undone"
)
_RAN: Final = (
    "it was carried out and its tool answered with an error; the same call may be made again"
)
_WAYS_OUT: Final[Mapping[OpState, str]] = {
    OpState.PROPOSED: "it is being weighed",
    OpState.DENIED: "nothing was sent, and nothing will be",
    OpState.AWAITING_APPROVAL: "it waits for a person's decision",
    OpState.READY: "it was not sent yet; a running gateway carries it out",
    OpState.DISPATCHING: "it is under way; without a sign of life by {lease} it counts as unknown",
    OpState.SUCCEEDED: "it took effect; its contract declares no way back",
    OpState.FAILED_RETRYABLE: "it was not carried out, and the same call may be made again",
    OpState.FAILED_FINAL: "it was carried out and failed; the same call is told so again",
    OpState.INDETERMINATE: "find out whether it took effect, then run `weighbridge ops resolve "
    "{op} --happened|--not-happened --evidence TEXT`",
    OpState.COMPENSATING: "it is being undone; a running gateway carries that out. When its check "
    "can't tell, or what undoes it failed, find out whether it was undone, then run "
    "`weighbridge ops resolve {op} --happened|--not-happened --evidence TEXT`",
    OpState.COMPENSATED: "it took effect and was undone",
    OpState.ABANDONED: "nothing was sent, and nothing will be",
}


class OperationRefused(WeighbridgeError):
    """What was asked of an operation can't be done with it; one line with the mend."""


class Reading(Protocol):
    """The table of operations, as far as people look at it; all raise StoreUnavailable."""

    async def get(self, op_id: str) -> Operation | None:
        """Return one operation."""
        ...

    async def find(self, wanted: OperationFilter) -> list[Operation]:
        """Return operations that match, newest first."""
        ...


class Settling(Reading, Protocol):
    """The table of operations, as far as people settle what is in it."""

    async def settle(
        self, ending: Settlement, events: Sequence[Event], *, before: OpState = ...
    ) -> bool:
        """Commit an outcome; False when the operation has left the state `before`."""
        ...

    async def undoing(self, op_id: str) -> list[Operation]:
        """Return what undoes an operation, newest first."""
        ...

    async def mark(
        self, operation: Operation, state: OpState, evidence: str, events: Sequence[Event]
    ) -> bool:
        """Move an operation from the state it was read in; False when it has left that."""
        ...

    async def verified(
        self, operation: Operation, state: VerificationState, events: Sequence[Event]
    ) -> bool:
        """Note what a check said after the answer had left."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Who decides: the name that is given, and the user of the machine who gives it."""

    by: str
    account: str


async def listed(
    operations: Reading, wanted: OperationFilter, *, unverified: bool = False
) -> list[Operation]:
    """Return operations that match: first those of which nobody knows, then the newest.

    However many there are, the unknown ones are not cut off by newer ones. `unverified` leaves
    those with a check that has not held, or not yet.
    """
    verifications = [each.value for each in _UNVERIFIED] if unverified else [wanted.verification]
    states = [wanted.state] if wanted.state else [OpState.INDETERMINATE.value, ""]
    found: dict[str, Operation] = {}
    for state in states:
        for verification in verifications:
            one = replace(wanted, state=state, verification=verification)
            found |= {each.op_id: each for each in await operations.find(one)}
    ranked = sorted(
        found.values(),
        key=lambda op: (op.state is OpState.INDETERMINATE, op.created_at),
        reverse=True,
    )
    return ranked[: wanted.limit]


async def named(operations: Reading, op_id: str) -> Operation:
    """Return one operation; raises `OperationRefused` when there is none."""
    operation = await operations.get(op_id)
    if operation is None:
        raise OperationRefused(f"there is no operation `{op_id}`; see `weighbridge ops list`")
    return operation


def as_json(op: Operation) -> JsonObject:
    """Return all of an operation that people may see, times in ISO 8601; nothing sealed."""
    return {
        "op_id": op.op_id,
        "state": op.state.value,
        "verification": op.verification.value,
        "evidence": op.evidence,
        "tenant": op.tenant,
        "user": op.user,
        "run_id": op.run_id,
        "server": op.server,
        "tool": op.tool,
        "arguments": _shown(op),
        "attempts": op.epoch,
        "retry": op.retry.value,
        "call_id": op.call_id,
        "owner": op.owner,
        "key": {
            "source": op.key.source.value,
            "key": op.key.key,
            "intent": op.key.intent,
            "arguments": op.key.arguments,
            "generation": op.generation,
            "for_server": op.downstream_key,
        },
        "pin": op.pin,
        "revision": op.revision,
        "compensates": op.compensates,
        "compensation": op.compensation,
        "created_at": when(op.created_at),
        "dispatched_at": when(op.dispatched_at),
        "settled_at": when(op.settled_at),
        "lease_until": when(op.lease_until) if op.state is OpState.DISPATCHING else None,
        "replayed_until": when(op.replay_until),
        "next_check_at": when(op.check_at),
    }


def when(at: int) -> str | None:
    """Return a kept time in ISO 8601, or None for none."""
    return moment(at).isoformat() if at else None


def way_out(op: Operation) -> str:
    """Say what can be done about an operation in its state."""
    comes_back = op.state is OpState.SUCCEEDED and op.compensation in _COMES_BACK
    has_run = op.state is OpState.FAILED_RETRYABLE and op.evidence == FAILED
    undo = _CONFIRMED if op.evidence.startswith(_BY_HAND) else _UNDO
    text = undo if comes_back else _RAN if has_run else _WAYS_OUT[op.state]
    return text.format(op=op.op_id, lease=when(op.lease_until))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """Settles operations on the word of a person."""

    operations: Settling
    contracts: Mapping[str, Contract]  # by `server.name`
    vault: Vault
    redactor: Redactor
    clock: Clock

    async def resolve(
        self, op_id: str, *, happened: bool, evidence: str, who: Who, window_s: float
    ) -> Operation:
        """Settle one operation of which nobody knew, and return it as it is then.

        What happened is answered so to calls that repeat it, for `window_s` seconds. Of one that
        is being undone, `happened` says whether it was undone. Raises `OperationRefused` for any
        other operation, and StoreUnavailable.
        """
        if not evidence.strip():
            raise OperationRefused("`--evidence` is empty; say what shows what became of it")
        op = await named(self.operations, op_id)
        said = self.redactor.text(evidence.strip(), tenant=op.tenant)
        match op.state:
            case OpState.INDETERMINATE:
                if not happened:
                    self._refuse_answerable(op)
                event = OpEvent.RESOLVE_HAPPENED if happened else OpEvent.RESOLVE_NOT_HAPPENED
                state = next_state(op.state, event)
                ending = self._ending(op, state, _by_hand(who, said), window_s)
                told = [self._told(op, state, said, who)]
                is_first = await self.operations.settle(ending, told, before=op.state)
            case OpState.COMPENSATING:
                is_first = await self._undone(op, happened, said, who)
            case _:
                raise _settled(op)
        now = await named(self.operations, op_id)
        if not is_first:
            raise _settled(now)
        return now

    def _refuse_answerable(self, op: Operation) -> None:
        """Refuse to call a write absent whose request is still open: it may yet be carried out."""
        if op.lease_until > microseconds(self.clock.now()):
            raise OperationRefused(
                f"the request of `{op.op_id}` is still open at the gateway `{op.owner}`; wait for "
                "its answer (`operations.late_window`), or stop that gateway, and look again"
            )

    async def _undone(self, op: Operation, happened: bool, said: str, who: Who) -> bool:
        """End the way back of an operation, as the check of its contract would have."""
        attempts = await self.operations.undoing(op.op_id)
        for attempt in attempts:
            _refuse_open(op, attempt)
        event = OpEvent.COMPENSATED if happened else OpEvent.COMPENSATION_FAILED
        state = next_state(op.state, event)
        for attempt in () if happened else attempts:
            if attempt.state is OpState.SUCCEEDED:  # it was answered, and undid nothing
                await self.operations.verified(attempt, VerificationState.FAILED, [])
        told = [self._told(op, state, said, who)]
        return await self.operations.mark(op, state, _by_hand(who, said), told)

    def _told(self, op: Operation, state: OpState, said: str, who: Who) -> Event:
        return admin.operation_resolved(
            id=ids.ulid(),
            at=self.clock.now(),
            operation=op,
            to=state,
            evidence=said,
            by=who.by,
            account=who.account,
        )

    def _ending(self, op: Operation, state: OpState, evidence: str, window_s: float) -> Settlement:
        happened = state is OpState.SUCCEEDED
        until = self.clock.now() + timedelta(seconds=window_s)
        return Settlement(
            op_id=op.op_id,
            epoch=op.epoch,
            call_id=op.call_id,
            state=state,
            outcome=self._answer(op) if happened else "",
            evidence=evidence,
            verification=op.verification,
            replay_until=microseconds(until) if happened else 0,
            gives_back=not happened,
            unless_open=not happened,
        )

    def _answer(self, op: Operation) -> str:
        """Seal what calls are told that repeat it: the server's own answer was lost."""
        contract = self.contracts.get(op.tool)
        has_schema = contract is not None and contract.output_schema is not None
        told = lost.told_again(has_output_schema=has_schema, found_by="a person")
        return self.vault.seal(op.tenant, op.op_id, jsontext.dump(kept.to_json(told)))


def _by_hand(who: Who, said: str) -> str:
    return f"{_BY_HAND}{who.by}: {said}"


def _refuse_open(op: Operation, attempt: Operation) -> None:
    """Refuse to settle what is undone as long as an attempt to undo it may still end otherwise."""
    if attempt.state is OpState.INDETERMINATE:
        raise OperationRefused(
            f"nobody knows whether `{attempt.op_id}` undid it; settle that one, and "
            f"`{op.op_id}` follows"
        )
    if attempt.state in _UNSETTLED:
        raise OperationRefused(
            f"`{attempt.op_id}` is to undo it and is `{attempt.state.value}`; wait for its end"
        )


def _settled(op: Operation) -> OperationRefused:
    if op.evidence.startswith(_BY_HAND):
        return OperationRefused(f"`{op.op_id}` is `{op.state.value}` already, {op.evidence}")
    return OperationRefused(
        f"`{op.op_id}` is `{op.state.value}`; only an operation that is `indeterminate` or "
        "`compensating` is settled by hand"
    )


def _shown(op: Operation) -> Json:
    try:
        return jsontext.parse_result(op.shown.encode())
    except JsonError:  # a text that was cut
        return op.shown
