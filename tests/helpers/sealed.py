"""Events about calls with sealed arguments, written to a store as gateways do."""

from functools import partial
from typing import Any

from gateway.clock import SystemClock
from gateway.events import upkeep
from gateway.store.sealed_copies import STEP, Scope, Shredded
from gateway.store.sealing import Sealer
from gateway.store.sealing_keys import SealingKeys
from gateway.store.store import Store
from gateway.store.unsealing import Unsealed, Unsealing
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import JsonObject
from tests.helpers.cases import NOW
from tests.helpers.events import an_event

KEYS = SealingKeys(b"s" * 32)
ARGUMENTS: JsonObject = {"iban": "DE89370400440532013000", "amount": 12.5, "big": 2**80}


def a_sealer(keys: SealingKeys = KEYS) -> Sealer:
    return Sealer(lambda: keys, SystemClock())


def a_decision(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "kind": EventKind.AUTHORIZATION,
        "stage": Stage.DECIDED,
        "body": {"tool": "desk.pay", "decision": "allow"},
    }
    return an_event(**(fields | changes))


async def sealed(store: Store, sealer: Sealer | None = None, **changes: Any) -> Event:
    """Write a decision with its arguments sealed beside it, and return it."""
    event = (sealer or a_sealer()).sealed(a_decision(**changes), ARGUMENTS)
    store.events.append([event], durable=True)
    await store.events.kept()
    return event


async def beside(store: Store, keys: SealingKeys | None = KEYS, **wanted: str) -> list[Unsealed]:
    """Return what is beside the events of a store that have copies, in their order."""
    events = [each.json() async for each in store.events.tail()]
    events = [each for each in events if all(each.get(name) == wanted[name] for name in wanted)]
    found = await Unsealing(store.sealed, keys).beside(events)
    return [found[str(each["id"])] for each in events if str(each["id"]) in found]


def telling(scope: Scope, id: str, found: Shredded) -> Event:
    """Say that something was shredded, as Ada's command does."""
    return upkeep.shredded(
        id=id,
        at=NOW,
        tenant=found.tenant,
        run=scope.run,
        call=scope.call,
        before=scope.before,
        copies=found.copies,
        keys=found.keys,
        operations=found.operations,
        requests=found.requests,
        reason="",
        by="ada",
        account="ada",
    )


async def shred(store: Store, scope: Scope, *, most: int = STEP) -> Shredded:
    """Shred what is sealed of a scope, and say so."""
    return await store.sealed.shred(scope, partial(telling, scope), most=most)
