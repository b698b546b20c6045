from gateway.events import sealing
from gateway.store.sealing_keys import SealingKeys
from gateway.store.store import Store
from gateway.store.unsealing import Unopened, Unsealing
from gateway.types.json import JsonObject
from tests.helpers.events import an_event
from tests.helpers.sealed import ARGUMENTS, KEYS, a_decision, a_sealer, beside, sealed


async def told(store: Store) -> list[JsonObject]:
    return [each.json() async for each in store.events.tail()]


async def test_only_events_that_tell_of_a_copy_are_looked_up(store: Store) -> None:
    store.events.append([an_event(), sealing.without_copy(a_decision(), "no key")])
    event = await sealed(store)
    unsealing = Unsealing(store.sealed, KEYS)
    found = await unsealing.beside(await told(store))
    assert list(found) == [event.id]
    assert (found[event.id].arguments, unsealing.opened) == (ARGUMENTS, 1)
    assert await unsealing.beside([]) == {}


async def test_what_another_key_has_sealed_is_told_as_that(store: Store) -> None:
    await sealed(store, a_sealer(SealingKeys(b"o" * 32)))
    (found,) = await beside(store)
    assert (found.why, "under another key" in found.detail) == (Unopened.NO_KEY, True)
    unsealing = Unsealing(store.sealed, KEYS)
    await unsealing.beside(await told(store))
    assert unsealing.opened == 0


async def test_a_copy_that_was_never_kept_is_missed(store: Store) -> None:
    event = a_sealer().sealed(a_decision(), ARGUMENTS)
    store.events.append([an_event(id=event.id, body=event.body, kind=event.kind)])
    await store.events.kept()
    (found,) = await beside(store)
    assert (found.why, found.since) == (Unopened.MISSING, None)
