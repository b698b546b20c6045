"""Operations as rows, and rows as operations."""

from typing import Final

from gateway.store.engine import Row, Value
from gateway.types.operations import (
    IntentKey,
    KeySource,
    Operation,
    OpState,
    RetryClass,
    VerificationState,
)

_NUL: Final = "\0"


def row_of(operation: Operation) -> dict[str, Value]:
    """Return the columns of an operation; texts are as every engine takes them."""
    key = operation.key
    return {
        "op_id": operation.op_id,
        "tenant": clean(operation.tenant),
        "run_id": clean(operation.run_id),
        "actor_user": clean(operation.user),
        "server": clean(operation.server),
        "tool": clean(operation.tool),
        "pin": operation.pin,
        "revision": operation.revision,
        "scope": key.scope,
        "idem_key": key.key,
        "key_source": str(key.source),
        "generation": operation.generation,
        "intent_hash": key.intent,
        "args_hash": key.arguments,
        "transport": key.transport,
        "retry": str(operation.retry),
        "state": str(operation.state),
        "epoch": operation.epoch,
        "owner": operation.owner,
        "call_id": operation.call_id,
        "lease_until": operation.lease_until,
        "downstream_key": operation.downstream_key,
        "injection": clean(operation.injection),
        "verification": str(operation.verification),
        "evidence": clean(operation.evidence),
        "compensates": operation.compensates,
        "compensation": operation.compensation,
        "created_at": operation.created_at,
        "dispatched_at": operation.dispatched_at,
        "settled_at": operation.settled_at,
        "replay_until": operation.replay_until,
        "check_at": operation.check_at,
        "shown": clean(operation.shown),
        "arguments": operation.arguments,
        "outcome": operation.outcome,
    }


def operation_of(row: Row) -> Operation:
    """Return the operation that a row holds."""
    return Operation(
        op_id=row.text("op_id"),
        tenant=row.text("tenant"),
        run_id=row.text("run_id"),
        user=row.text("actor_user"),
        server=row.text("server"),
        tool=row.text("tool"),
        pin=row.text("pin"),
        revision=row.text("revision"),
        key=IntentKey(
            key=row.text("idem_key"),
            source=KeySource(row.text("key_source")),
            scope=row.text("scope"),
            intent=row.text("intent_hash"),
            arguments=row.text("args_hash"),
            transport=row.text("transport"),
        ),
        generation=row.integer("generation"),
        retry=RetryClass(row.text("retry")),
        state=OpState(row.text("state")),
        epoch=row.integer("epoch"),
        owner=row.text("owner"),
        call_id=row.text("call_id"),
        lease_until=row.integer("lease_until"),
        downstream_key=row.text("downstream_key"),
        injection=row.text("injection"),
        verification=VerificationState(row.text("verification")),
        evidence=row.text("evidence"),
        compensates=row.text("compensates"),
        compensation=row.text("compensation"),
        created_at=row.integer("created_at"),
        dispatched_at=row.integer("dispatched_at"),
        settled_at=row.integer("settled_at"),
        replay_until=row.integer("replay_until"),
        check_at=row.integer("check_at"),
        shown=row.text("shown"),
        arguments=row.text("arguments"),
        outcome=row.text("outcome"),
    )


def clean(text: str) -> str:
    """Return a text without what some engine refuses: NUL, and halves of pairs."""
    if text.isascii() and _NUL not in text:
        return text
    return text.replace(_NUL, "\ufffd").encode("utf-8", "replace").decode()
