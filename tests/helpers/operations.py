"""Operations in a real store, for tests."""

from typing import Any

from gateway import ids
from gateway.store.claims import Wanted
from gateway.store.events import EventFilter
from gateway.store.operations import Settlement
from gateway.store.store import Store
from gateway.types.guarantees import OnVariant
from gateway.types.operations import (
    Claim,
    IntentKey,
    KeySource,
    Operation,
    OpState,
    RetryClass,
)
from tests.helpers.events import an_event

LATER = 10**18


def wanted(**changes: Any) -> Operation:
    """Return what a call asks for; every call is one of its own."""
    key = IntentKey(
        key=changes.pop("key", "k1"),
        source=KeySource.DERIVED,
        scope=changes.pop("scope", "s1"),
        intent=changes.pop("intent", "i1"),
        arguments=changes.pop("arguments_digest", "a1"),
    )
    values: dict[str, Any] = {
        "op_id": ids.new("op"),
        "tenant": "acme",
        "server": "desk",
        "tool": "desk.refund",
        "pin": "sha256:0",
        "revision": "r1",
        "retry": RetryClass.NEVER,
        "state": OpState.READY,
        "call_id": ids.new("call"),
        "key": key,
    }
    return Operation(**(values | changes))


async def claim(store: Store, operation: Operation, **rules: Any) -> Claim:
    lease_s: float = rules.pop("lease_s", 60)
    values: dict[str, Any] = {"on_variant": OnVariant.CONFLICT}
    event = an_event(id=ids.ulid(), call=operation.call_id)
    asked = Wanted(operation=operation, **(values | rules))
    return await store.operations.claim(asked, [event], lease_s=lease_s)


async def settle(
    store: Store,
    taken: Operation,
    state: OpState,
    before: OpState = OpState.DISPATCHING,
    **more: Any,
) -> bool:
    ending = Settlement(
        op_id=taken.op_id, epoch=taken.epoch, call_id=taken.call_id, state=state, **more
    )
    events = [an_event(id=ids.ulid(), call="settled")]
    return await store.operations.settle(ending, events, before=before)


async def events_of(store: Store, call: str) -> int:
    return len(await store.events.query(EventFilter(call=call)))
