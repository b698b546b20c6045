"""Refunds that were made, and contracts that say how to cancel them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from gateway import ids, jsontext
from gateway.actions.compensating import Compensating
from gateway.actions.operations import Resolving, Who
from gateway.clock import Clock, SystemClock
from gateway.events.redact import Redactor
from gateway.operations import undo
from gateway.results import kept
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.guarantees import CallTemplate, Compensation, CompensationClass
from gateway.types.json import JsonObject
from gateway.types.operations import Operation, OpState
from gateway.types.outcomes import Answer
from gateway.types.tools import Contract, Effect, Sensitivity
from tests.helpers.cases import a_contract, a_definition, a_tool
from tests.helpers.operations import claim, settle, wanted

ANN = Who(by="ann", account="ops")
PRINCIPAL: JsonObject = {"user": "sam", "tenant": "acme", "roles": ["support"]}
BACK = Compensation(
    kind=CompensationClass.COMPENSATABLE,
    call=CallTemplate(
        tool="desk.cancel",
        args={"refund_id": "$result.refund_id", "why": "undo of $op.id", "iban": "$args.iban"},
    ),
)


def a_write(name: str, **changes: Any) -> Contract:
    """Return the contract of a write of the help desk."""
    return a_contract(a_tool(a_definition(name=name), "desk"), effect=Effect.WRITE, **changes)


def contracts(back: Compensation | None = BACK) -> dict[str, Contract]:
    """Return the contracts of a refund and of what cancels it."""
    both = (
        a_write("refund", compensation=back),
        a_write("cancel", sensitive={"/iban": Sensitivity.SECRET}),
    )
    return {contract.tool: contract for contract in both}


def vault(store: Store) -> Vault:
    return Vault(store.keys.operations)


def compensating(
    store: Store, known: dict[str, Contract] | None = None, clock: Clock | None = None
) -> Compensating:
    return Compensating(
        operations=store.operations,
        contracts=contracts() if known is None else known,
        vault=vault(store),
        redactor=Redactor(store.keys.redaction),
        clock=clock or SystemClock(),
    )


def resolving(store: Store, known: dict[str, Contract] | None = None) -> Resolving:
    return Resolving(
        operations=store.operations,
        contracts=contracts() if known is None else known,
        vault=vault(store),
        redactor=Redactor(store.keys.redaction),
        clock=SystemClock(),
    )


async def a_refund(
    store: Store,
    state: OpState = OpState.SUCCEEDED,
    result: JsonObject | None = None,
    captured: JsonObject | None = None,
    **changes: Any,
) -> Operation:
    """Make a refund and settle it, and return it as it is then."""
    key = ids.new("key")
    body: JsonObject = {"arguments": {"iban": "DE02"}, "principal": PRINCIPAL}
    row = wanted(key=key, user="sam", compensation="compensatable", **changes)
    row = replace(row, arguments=vault(store).seal("acme", key, jsontext.dump(body)))
    taken = (await claim(store, row)).operation
    data: JsonObject = {"refund_id": "r1"} if result is None else result
    answer = kept.to_json(Answer(result={"content": [], "structuredContent": data}))
    whole: JsonObject = {**answer, undo.CAPTURED: captured} if captured is not None else answer
    tomorrow = microseconds(SystemClock().now() + timedelta(days=1))
    await settle(
        store,
        taken,
        state,
        outcome=vault(store).seal("acme", taken.op_id, jsontext.dump(whole)),
        replay_until=tomorrow if state is OpState.SUCCEEDED else 0,
    )
    return await now(store, taken)


async def now(store: Store, operation: Operation) -> Operation:
    """Return an operation as it is kept."""
    found = await store.operations.get(operation.op_id)
    assert found is not None
    return found


async def asked(store: Store, operation: Operation, **changes: Any) -> Operation:
    """Ask for the way back of an operation, and return the row that was made for it."""
    work = compensating(store, **changes)
    [one] = await work.carry_out(await work.plan([operation.op_id]), who=ANN, reason="too much")
    assert one.undo is not None, one.problem
    return one.undo


def opened(store: Store, row: Operation) -> Any:
    """Return what a row keeps of what is asked for."""
    sealed = vault(store).open(row.tenant, row.key.key, row.arguments)
    return jsontext.parse_result(sealed)
