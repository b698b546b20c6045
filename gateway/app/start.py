"""Starts a gateway from its configuration, and ends it in order."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.to_thread

from gateway import __version__, ids
from gateway.app import sealing
from gateway.app.daily import Daily
from gateway.app.doorbook import DoorBook
from gateway.app.expiring import Expiring
from gateway.app.gateway import Gateway
from gateway.app.keeping import Keeping
from gateway.app.loops import start_loops
from gateway.app.owner import ProcessOwner
from gateway.app.stance import Rereading
from gateway.app.stopping import CALLS_S, Stopping
from gateway.app.wiring import Wiring
from gateway.clock import Clock, SystemClock
from gateway.config.load import Loaded, load
from gateway.errors import StoreUnavailable, WeighbridgeError
from gateway.events import admin, levels, observing
from gateway.events.envelope import Origin
from gateway.events.redact import Redactor
from gateway.housekeeping import Reloader, fingerprint
from gateway.servers import groups
from gateway.store.store import Store
from gateway.telemetry.options import IncomingContext, TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.decisions import Mode
from gateway.types.records import CallRecord
from gateway.types.workers import Worker

_log = logging.getLogger("weighbridge")
_SPANS_S = 2.0  # for the last spans, and
_EVENTS_S = 5.0  # for the last events, at a stop, and
_CHECKPOINT_S = 2.0  # for the checkpoint over them
_FIRST_LISTS_S = 1.0  # a front is served after that, whatever the servers do


@asynccontextmanager
async def open_gateway(
    loaded: Loaded,
    folder: Path,
    environ: Mapping[str, str],
    *,
    front: str,
    stopping: Stopping,
    worker: Worker | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> AsyncGenerator[Gateway]:
    """Run a gateway for as long as the context is open: the only one, or a `worker`.

    `meanwhile` is done in a thread while servers start: what else the front needs before it serves.
    Raises ConfigurationError or StoreUnavailable when it can't start. On the way out, calls that
    change something get a moment to end, then servers stop, then events and spans are written: all
    within the one deadline of `stopping`.
    """
    clock, instance = SystemClock(), ids.new("gw")
    store = await anyio.to_thread.run_sync(
        lambda: Store.open(
            loaded.settings.store.url,
            origin=Origin(instance=instance, version=__version__),
            clock=clock,
            erases=loaded.settings.events.sealing.keep is not None,
        )
    )
    try:
        sealer = await sealing.sealer_of(store, loaded.settings, clock)
        keeping = Keeping(store=store, sealer=sealer)
        telemetry = _telemetry(loaded, environ, keeping, clock, worker)
        wiring = Wiring(
            loaded=loaded,
            folder=folder,
            environ=environ,
            front=front,
            clock=clock,
            keeping=keeping,
            telemetry=telemetry,
            worker=worker,
        )
        try:
            async with _running(wiring, instance, stopping, meanwhile) as gateway:
                yield gateway
            with (
                anyio.CancelScope(shield=True),
                anyio.move_on_after(stopping.last_s(_CHECKPOINT_S)),
            ):
                await _last_checkpoint(gateway)
            with anyio.CancelScope(shield=True), anyio.move_on_after(2):
                await _forget(store, instance)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(telemetry.shutdown, stopping.last_s(_SPANS_S))
    finally:
        left = 0
        with anyio.CancelScope(shield=True):
            left = await anyio.to_thread.run_sync(store.close, stopping.last_s(_EVENTS_S))
        if left:
            _log.error("%d events could not be written before the end", left)


@asynccontextmanager
async def _running(
    wiring: Wiring, instance: str, stopping: Stopping, meanwhile: Callable[[], object]
) -> AsyncGenerator[Gateway]:
    async with (
        stopping.killing_late(groups.kill_all) as servers_told,
        anyio.create_task_group() as tasks,
        anyio.create_task_group() as owned,
    ):
        owner = ProcessOwner(owned)
        policies = wiring.loaded.settings.policies
        # Looked at before it is read: what changes meanwhile is taken by the first look after.
        was = await anyio.to_thread.run_sync(fingerprint, policies)
        gateway = await wiring.gateway(owner)
        stopping.tell(gateway.approving.holding.close)
        door = DoorBook(wiring.keeping.store.events, wiring.clock)
        gateway.note_turned_away = door.note
        await tasks.start(gateway.servers.run)
        daily = Daily(stance=gateway.stance, clock=wiring.clock, say=wiring.say)
        following = Reloader(folder=policies, reload=gateway.reload, since=was)
        reloaders = [following, *await _mode_followed(wiring, gateway, daily, following)]
        start_loops(gateway, reloaders, instance, tasks.start_soon)
        tasks.start_soon(daily.run, name="days")
        keep_s = wiring.loaded.settings.events.sealing.keep
        if keep_s is not None:
            sealed = wiring.keeping.store.sealed
            expiring = Expiring(sealed=sealed, keep_s=keep_s, clock=wiring.clock)
            tasks.start_soon(expiring.run, name="sealed copies")
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(gateway.servers.first_lists, _FIRST_LISTS_S)
            await anyio.to_thread.run_sync(meanwhile)
        revision = gateway.activation.current().id
        names = list(wiring.loaded.settings.servers)
        wiring.say(
            admin.gateway_started(
                id=ids.ulid(),
                at=wiring.clock.now(),
                revision=revision,
                servers=names,
                mode=gateway.stance.mode,
            )
        )
        daily.begin()
        try:
            yield gateway
        finally:
            with anyio.CancelScope(shield=True):
                if not await owner.idle(stopping.left(CALLS_S)):
                    _log.warning("calls were still under way; their ends are unknown")
            door.close()
            daily.tell()
            tasks.cancel_scope.cancel()
            owned.cancel_scope.cancel()
            servers_told()
    wiring.say(admin.gateway_stopped(id=ids.ulid(), at=wiring.clock.now(), reason="it was told to"))


async def _mode_followed(
    wiring: Wiring, gateway: Gateway, daily: Daily, policies: Reloader
) -> list[Reloader]:
    """Go by the mode that the file says now; return what follows it, if there is a file."""
    path = wiring.loaded.path
    if path is None:
        return []
    was = await anyio.to_thread.run_sync(fingerprint, path)
    await _catch_up(wiring, gateway, path)
    look = Rereading(
        path=path,
        environ=wiring.environ,
        stance=gateway.stance,
        turn=_turning(wiring, gateway, daily),
        policies=policies.catch_up,
    )
    return [Reloader(folder=path, reload=look, since=was)]


async def _catch_up(wiring: Wiring, gateway: Gateway, path: Path) -> None:
    """Go by the mode that the file says now: it was read a while ago, and by a worker's parent.

    A worker that can't read it enforces, since the others may do so by now.
    """
    stance = gateway.stance
    try:
        loaded = await anyio.to_thread.run_sync(load, path, wiring.environ)
        mode = loaded.settings.mode
    except WeighbridgeError as error:
        mode = stance.mode if wiring.worker is None else Mode.ENFORCE
        stance.problem = str(error).splitlines()[0]
        _log.warning("the mode is `%s`: %s", mode, stance.problem)
    if mode is not stance.mode:
        gateway.turn(mode)


def _turning(wiring: Wiring, gateway: Gateway, daily: Daily) -> Callable[[Mode, str], None]:
    """Return what goes by another mode, tells the tally of the last one, and says so in the log."""

    def turn(mode: Mode, because: str) -> None:
        before = gateway.stance.mode
        daily.tell()
        gateway.turn(mode)
        daily.begin()
        now = wiring.clock.now()
        wiring.say(
            observing.mode_changed(id=ids.ulid(), at=now, mode=mode, before=before, by=because)
        )

    return turn


async def _last_checkpoint(gateway: Gateway) -> None:
    """Cover what was said last; a log that can't be written has said why already."""
    with suppress(StoreUnavailable):
        await gateway.store.events.kept()
        await gateway.checkpointing.finish()


async def _forget(store: Store, instance: str) -> None:
    try:
        await store.instances.forget(instance)
    except StoreUnavailable as error:
        _log.debug("the end could not be noted: %s", error)


def _telemetry(
    loaded: Loaded,
    environ: Mapping[str, str],
    keeping: Keeping,
    clock: Clock,
    worker: Worker | None,
) -> Telemetry:
    settings = loaded.settings.telemetry
    redactor = Redactor(keeping.store.keys.redaction, loaded.secrets)

    def redacted(record: CallRecord) -> str:
        tags = record.contract.sensitive if record.contract is not None else None
        tenant = record.call.principal.tenant
        found = redactor.value(record.call.arguments, tenant=tenant, tags=tags)
        return str(levels.kept(found, record.level).value)

    return Telemetry.start(
        TelemetryOptions(
            incoming_context=IncomingContext(settings.incoming_context),
            service_name=settings.service_name,
            capture_content=settings.capture_content,
            worker=worker.number if worker is not None else None,
        ),
        environ,
        pseudonym=keeping.pseudonym,
        redacted=redacted,
        clock=clock,
    )
