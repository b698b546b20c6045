from collections.abc import Callable
from datetime import timedelta

from gateway.store.store import Store
from tests.store.test_limits import HandClock

OpenStore = Callable[..., Store]


async def test_the_latest_state_of_every_gateway_is_there_newest_first(
    open_store: OpenStore,
) -> None:
    clock = HandClock()
    store = open_store(clock=clock)
    await store.instances.save("a", {"servers": 1})
    clock.later(1)
    await store.instances.save("b", {"servers": 2})
    clock.later(1)
    await store.instances.save("a", {"servers": 3})
    found = [(one.instance, one.status, one.at) for one in await store.instances.all()]
    assert found == [
        ("a", {"servers": 3}, clock.now()),
        ("b", {"servers": 2}, clock.now() - timedelta(seconds=1)),
    ]


async def test_a_gateway_that_stopped_or_fell_silent_is_forgotten(open_store: OpenStore) -> None:
    clock = HandClock()
    store = open_store(clock=clock)
    for name in ("silent", "stopped"):
        await store.instances.save(name, {})
    await store.instances.forget("stopped")
    clock.later(90_000)
    await store.instances.save("alive", {})
    assert [one.instance for one in await store.instances.all()] == ["alive"]
