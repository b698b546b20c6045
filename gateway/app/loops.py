"""What runs beside the calls, for as long as the gateway does."""

import signal
from collections.abc import Callable, Sequence

from anyio import open_signal_receiver

from gateway.app.agreeing import Agreeing
from gateway.app.gateway import Gateway
from gateway.housekeeping import Reloader, Snapshots


def start_loops(
    gateway: Gateway,
    reloaders: Sequence[Reloader],
    instance: str,
    start: Callable[..., object],
) -> None:
    """Start what runs beside the calls: reloads, signals, snapshots, sweeps."""

    async def write() -> None:
        await gateway.store.instances.save(instance, gateway.snapshot().as_json())

    snapshots = Snapshots(write=write)
    gateway.on_changed(lambda _: snapshots.tell())
    for reloader in reloaders:
        start(reloader.run, name=f"reloader of {reloader.folder.name}")
    start(snapshots.run, name="snapshots")
    start(gateway.sweeper.run, name="sweeper")
    start(gateway.run_sweeper.run, name="runs")
    start(gateway.attending.run, name="approvals")
    start(gateway.checkpointing.run, name="checkpoints")
    if gateway.activation.agreement is not None:
        start(Agreeing(activation=gateway.activation).run, name="agreement")
    start(_reload_on_hangup, reloaders, name="signals")


async def _reload_on_hangup(reloaders: Sequence[Reloader]) -> None:
    with open_signal_receiver(signal.SIGHUP) as signals:
        async for _ in signals:
            for reloader in reloaders:
                reloader.tell()
