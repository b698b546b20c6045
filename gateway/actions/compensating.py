"""Asking for the way back of operations: a plan, and the rows that a running gateway carries out.

No gateway is contacted: what is asked for is a row, and whoever sweeps the store takes it up
(ADR-0012).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from gateway import ids, jsontext
from gateway.actions.operations import OperationRefused, Reading, Who, named
from gateway.clock import Clock
from gateway.crossing.remains import Gone, Remains
from gateway.errors import WeighbridgeError
from gateway.events import admin, concealed
from gateway.events.redact import Redactor
from gateway.operations import compensate, keys, templates, undo
from gateway.operations.compensate import Readiness, Step
from gateway.operations.machine import OpEvent, next_state
from gateway.store.operations import OperationFilter, Undoes
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.events import Event
from gateway.types.guarantees import Compensation
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Operation, OpState
from gateway.types.tools import Contract, Sensitivity


class Operations(Reading, Protocol):
    """The table of operations, as far as the way back needs it; all raise StoreUnavailable."""

    async def undoing(self, op_id: str) -> list[Operation]:
        """Return what undoes an operation, newest first."""
        ...

    async def add(
        self, wanted: Operation, events: Sequence[Event], *, undoes: Undoes | None = None
    ) -> bool:
        """Keep an operation that somebody asked for, and move what it undoes.

        False when its key is taken.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of asking for one step of a plan."""

    step: Step
    undo: Operation | None = None  # the row that a gateway carries out
    is_new: bool = False  # False: somebody had asked for it before
    problem: str = ""  # why there is no row


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """The call that undoes an operation, and what it was made of."""

    back: Compensation
    contract: Contract  # of the tool that is called
    arguments: JsonObject
    known: templates.Known
    principal: Json  # for whom the operation was made


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensating:
    """Plans and asks for compensations by the contracts of today."""

    operations: Operations
    contracts: Mapping[str, Contract]  # by `server.name`
    vault: Vault
    redactor: Redactor
    clock: Clock

    async def plan(self, op_ids: Sequence[str]) -> tuple[Step, ...]:
        """Return a step for each operation, the last one first; raises `OperationRefused`."""
        chosen = [await self._forward(op_id) for op_id in dict.fromkeys(op_ids)]
        undoing = [each for op in chosen for each in await self.operations.undoing(op.op_id)]
        steps = compensate.plan(
            [*chosen, *undoing], self._ways_back(), microseconds(self.clock.now())
        )
        planned = {step.op.op_id for step in steps}
        return tuple(self._sure(step) for step in steps) + tuple(
            _nothing(op) for op in chosen if op.op_id not in planned
        )

    async def carry_out(self, steps: Sequence[Step], *, who: Who, reason: str) -> tuple[Asked, ...]:
        """Ask for every step that is ready, in order; what can't be asked for stops no other."""
        began = microseconds(self.clock.now())
        asked: list[Asked] = []
        for number, step in enumerate(steps):
            if step.readiness is not Readiness.READY:
                continue
            try:
                # Gateways take rows up by age: one microsecond is enough to keep the order.
                undo = await self._undo(step.op, began + number)
                asked.append(await self._add(step, undo, who, reason))
            except _Unmakeable as error:
                asked.append(Asked(step=step, problem=str(error)))
        return tuple(asked)

    def _sure(self, step: Step) -> Step:
        """Return a step that is ready only if the call that undoes it can be made."""
        if step.readiness is not Readiness.READY:
            return step
        try:
            self._call(step.op)
        except _Unmakeable as error:
            return replace(step, readiness=Readiness.INCOMPLETE, reason=str(error))
        return step

    async def _forward(self, op_id: str) -> Operation:
        op = await named(self.operations, op_id)
        if op.compensates:
            raise OperationRefused(
                f"`{op_id}` undoes `{op.compensates}`, and what undoes is not undone"
            )
        return op

    def _ways_back(self) -> dict[str, Compensation]:
        return {
            name: contract.compensation
            for name, contract in self.contracts.items()
            if contract.compensation is not None
        }

    def _call(self, op: Operation) -> _Call:
        """Return the call that undoes an operation, filled in; raises `_Unmakeable`."""
        back = self._ways_back()[op.tool]
        if back.call is None:
            raise _Unmakeable(back.reason)
        contract = self.contracts.get(back.call.tool)
        if contract is None:
            raise _Unmakeable(f"there is no contract for `{back.call.tool}`, which would undo it")
        remains = Remains(vault=self.vault)
        try:
            asked = remains.asked(op)
            known = remains.known(op)
            arguments = templates.fill(back.call.args, known)
        except Gone as error:
            raise _Unmakeable(str(error)) from error
        except WeighbridgeError as error:
            raise _Unmakeable(f"`{back.call.tool}` can't be called: {error}") from error
        return _Call(
            back=back,
            contract=contract,
            arguments=arguments,
            known=known,
            principal=asked.get("principal"),
        )

    async def _undo(self, op: Operation, created_at: int) -> Operation:
        """Return the row of a compensation; raises `_Unmakeable`."""
        call = self._call(op)
        back, contract, arguments = call.back, call.contract, call.arguments
        earlier = await self.operations.undoing(op.op_id)
        key = undo.key_of(op, back, arguments, earlier, partial(self.vault.digest, op.tenant))
        hidden = self._concealed(op, call.known)
        tags = concealed.tagged(arguments, contract.sensitive, hidden)
        shown = self.redactor.value(arguments, tenant=op.tenant, tags=tags).value
        body: JsonObject = {"arguments": arguments, "principal": call.principal}
        if hidden:
            body["concealed"] = concealed.to_json(hidden)
        kind = contract.compensation.kind.value if contract.compensation is not None else ""
        op_id, injection = ids.new("op"), contract.idempotency.inject
        return Operation(
            op_id=op_id,
            tenant=op.tenant,
            run_id=op.run_id,
            user=op.user,
            server=contract.tool.partition(".")[0],
            tool=contract.tool,
            pin=contract.pin,
            revision="",  # of the gateway that will carry it out
            key=key,
            retry=contract.idempotency.retry,
            state=OpState.READY,
            downstream_key=keys.downstream_key(injection, key, op_id) if injection else "",
            compensates=op.op_id,
            compensation=kind,
            created_at=created_at,
            shown=jsontext.dump(shown).decode(),
            arguments=self.vault.seal(op.tenant, key.key, jsontext.dump(body)),
        )

    async def _add(self, step: Step, wanted: Operation, who: Who, reason: str) -> Asked:
        op = step.op
        said = self.redactor.text(reason.strip(), tenant=op.tenant)
        told = admin.compensation_requested(
            id=ids.ulid(),
            at=self.clock.now(),
            operation=op,
            undo=wanted,
            reason=said,
            by=who.by,
            account=who.account,
        )
        undoes: Undoes | None = None
        if op.state is OpState.SUCCEEDED:
            because = f": {said}" if said else ""
            undoes = Undoes(
                operation=op,
                state=next_state(op.state, OpEvent.COMPENSATE),
                evidence=f"{who.by} wants it undone{because}",
            )
        # At once: a gateway may have taken the row up, and be done with it, before a second step.
        is_new = await self.operations.add(wanted, [told], undoes=undoes)
        row = wanted if is_new else await self._same(op, wanted)
        return Asked(step=step, undo=row, is_new=is_new)

    def _concealed(self, op: Operation, known: templates.Known) -> dict[str, Sensitivity]:
        """Return what is tagged in the operation that is to be undone, wherever it stands then."""
        contract = self.contracts.get(op.tool)
        if contract is None:
            return {}
        results = {**contract.sensitive, **contract.sensitive_results}
        found = concealed.named(known.args) | concealed.values(known.args, contract.sensitive)
        for data in (known.result, known.old):
            found |= concealed.values(data, results)
        return found

    async def _same(self, op: Operation, wanted: Operation) -> Operation:
        for each in await self.operations.undoing(op.op_id):
            if each.key.key == wanted.key.key:
                return each
        raise _Unmakeable("somebody else has just asked for it; look again")


class _Unmakeable(WeighbridgeError):
    """Why a step has no row."""


async def chosen(operations: Reading, wanted: OperationFilter) -> tuple[str, ...]:
    """Return the ids of operations that match and may have changed something, for a plan.

    What undoes others is none of them. Raises `OperationRefused` when there may be more.
    """
    found = await operations.find(wanted)
    if len(found) == wanted.limit:
        raise OperationRefused("too many operations match; name a shorter time, or a user")
    return tuple(op.op_id for op in found if not op.compensates and op.state in compensate.COUNTED)


def _nothing(op: Operation) -> Step:
    return Step(op=op, readiness=Readiness.NOTHING, reason=f"it is `{op.state.value}`")
