"""`weighbridge serve`: the gateway over Streamable HTTP, and the admin listener."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import anyio
import click
from anyio.abc import TaskStatus
from starlette.types import ASGIApp

from gateway import jsontext
from gateway.admin.errands import Errands
from gateway.admin.readiness import Readiness
from gateway.admin.threshold import Threshold
from gateway.app.gateway import Gateway
from gateway.app.start import open_gateway
from gateway.app.stopping import Stopping
from gateway.cli import logs, output, playback
from gateway.cli.crew import MOST, Crew, Enlisted
from gateway.cli.listeners import (
    bound,
    bound_at,
    bound_for_each,
    front_options,
    private_folder,
    url_of,
    write_whole,
)
from gateway.cli.options import config_option, load
from gateway.clock import SystemClock
from gateway.config import environment
from gateway.config.admin import OWN_HOST
from gateway.config.exposure import refuse_open_listeners
from gateway.config.load import Loaded
from gateway.config.settings import Settings
from gateway.errors import WeighbridgeError, first_cause
from gateway.identity.authenticate import Authenticator
from gateway.listen.http import HttpFront
from gateway.listen.origin import OriginCheck, guarded
from gateway.listen.serve import serve, stop_on_signals
from gateway.listen.siblings import Siblings, socket_of
from gateway.servers import groups

_SWITCH_S: Final = 0.0005  # for which a thread keeps the interpreter from another that wants it
_log = logging.getLogger("weighbridge")


@click.command(
    "serve", epilog="Example: weighbridge serve --config config.yaml, then point a client at /mcp"
)
@config_option
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write URL and pid there, as JSON, once calls are answered.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, MOST),
    default=1,
    show_default=True,
    help="Processes that serve the port, at most as many as there are cores to spare.",
)
@playback.playback_options
def command(
    path: Path,
    ready_file: Path | None,
    workers: int,
    run: str,
    as_json: bool,
    report: Path | None,
) -> None:
    """Serve agents over Streamable HTTP until SIGTERM or SIGINT; SIGHUP reloads the policy.

    Calls under way get 5 seconds, and the whole stop takes about 10 at most; a second signal ends
    everything at once. With --playback, exit code 1 says that a call was not in the record.

    With --workers, each worker has a child of its own for every stdio server, and one that ends is
    started anew.
    """
    playback.check(run, report, as_json=as_json)
    if run and workers > 1:
        output.fail("a playback takes one process; leave `--workers` out")
    loaded = load(path)
    logs.set_up(loaded)
    # The event writer has to get its turn while the event loop is busy: 5 ms, the default, would
    # be most of its time.
    sys.setswitchinterval(0.001)
    try:
        refuse_open_listeners(loaded.settings)
        if run:
            from gateway.cli import playing  # noqa: PLC0415 - replays, as no other command of here

            tape = anyio.run(
                playing.over_http, loaded, run, ready_file, backend_options={"use_uvloop": True}
            )
            playing.conclude(tape, report, as_json=as_json)
        else:
            _serve_as_many(loaded, path, ready_file, workers)
    except* (WeighbridgeError, OSError) as group:
        output.fail(str(first_cause(group)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listeners:
    """The sockets of one process, and the URLs that lead to them."""

    agents: socket.socket
    people: socket.socket | None  # where another worker has it
    url: str  # for agents
    base_url: str  # for people
    people_url: str  # for people on this machine
    on_ready: Callable[[], None]
    enlisted: Enlisted | None = None
    folder: Path = Path()  # of the sockets between workers


def _serve_as_many(loaded: Loaded, path: Path, ready_file: Path | None, workers: int) -> None:
    """Serve in this process, or in as many as are wanted."""
    settings = loaded.settings
    with (
        bound_for_each(settings.listen.endpoint, workers) as socks,
        bound(settings.admin.endpoint) as admin_sock,
        private_folder() as folder,
    ):
        # Taken now: the event loop owns the sockets once it serves on them.
        url = url_of(socks[0]) + settings.listen.path
        base_url = settings.admin.url_at(int(admin_sock.getsockname()[1]))
        is_proxied = settings.admin.public_url is not None
        people_url = url_of(admin_sock) if is_proxied else base_url

        def ready() -> None:
            many = f", with {workers} workers" if workers > 1 else ""
            _log.info("serving agents at %s, people at %s%s", url, people_url, many)
            if ready_file is not None:
                write_whole(ready_file, jsontext.dump({"url": url, "admin": people_url}))

        listeners = _Listeners(
            agents=socks[0],
            people=admin_sock,
            url=url,
            base_url=base_url,
            people_url=people_url,
            on_ready=ready,
            folder=folder,
        )
        if workers > 1:
            own = socks if len(set(socks)) > 1 else ()
            crew = Crew(
                workers, clock=SystemClock(), on_ready=ready, listeners=own, shared=[admin_sock]
            )
            enlisted = crew.work()  # returns in each worker
            logs.set_up(loaded, worker=enlisted.worker)
            number = enlisted.worker.number
            if number > 1:
                admin_sock.close()
            listeners = replace(
                listeners,
                agents=socks[number - 1],
                people=admin_sock if number == 1 else None,
                on_ready=enlisted.tell_ready,
                enlisted=enlisted,
            )
        anyio.run(_serve, loaded, path, listeners, backend_options={"use_uvloop": True})


async def _serve(loaded: Loaded, path: Path, listeners: _Listeners) -> None:
    settings, clock, enlisted = loaded.settings, SystemClock(), listeners.enlisted
    stopping = Stopping(clock)
    with closing(Errands(clock=clock)) as errands:
        async with (
            stop_on_signals(stopping.begin, groups.kill_all) as stop,
            open_gateway(
                loaded,
                path.parent,
                environment.environ(),
                front=listeners.url,
                stopping=stopping,
                worker=enlisted.worker if enlisted is not None else None,
            ) as gateway,
        ):
            authenticator = Authenticator(
                settings.identity,
                resource=settings.listen.public_url or listeners.url,
                clock=clock,
            )
            gateway.identity_problems = authenticator.problems
            gateway.approving.pages.base = listeners.base_url

            def ready() -> None:
                # What is here now stays: the collector need not look at it again and again.
                gc.collect()
                gc.freeze()
                gc.set_threshold(20_000, 20, 50)
                # A thread that writes or proves events must not keep calls waiting for 5 ms.
                sys.setswitchinterval(_SWITCH_S)
                listeners.on_ready()

            async with anyio.create_task_group() as beside:
                beside.start_soon(authenticator.keep_keys, name="keys of issuers")
                async with anyio.create_task_group() as tasks:
                    if listeners.people is not None:
                        people = _admin(gateway, settings, listeners, errands)
                        # Who is told that it is ready may ask at either address.
                        await tasks.start(
                            _serve_people, people, listeners.people, stop, name="admin listener"
                        )
                    await _serve_agents(gateway, authenticator, settings, listeners, stop, ready)
                beside.cancel_scope.cancel()


async def _serve_people(
    app: ASGIApp, sock: socket.socket, stop: anyio.Event, *, task_status: TaskStatus[None]
) -> None:
    """Serve people until told to stop; it has started once they are answered."""
    await serve(app, sock, stop=stop, on_ready=task_status.started)


async def _serve_agents(
    gateway: Gateway,
    authenticator: Authenticator,
    settings: Settings,
    listeners: _Listeners,
    stop: anyio.Event,
    ready: Callable[[], None],
) -> None:
    """Serve agents until told to stop: all of them, or a worker's share and what is handed to it.

    Sessions end after both listeners, since either has requests of theirs.
    """
    clock, options, enlisted = SystemClock(), front_options(settings), listeners.enlisted
    if enlisted is None:
        front = HttpFront(gateway, authenticator, clock=clock, options=options)
        await serve(
            front, listeners.agents, stop=stop, on_ready=ready, on_closing=front.close_streams
        )
        return
    asyncio.get_running_loop().add_reader(enlisted.lifeline, _orphaned, enlisted.lifeline)
    siblings = Siblings(enlisted.worker, listeners.folder)
    front = HttpFront(
        gateway, authenticator, clock=clock, options=options, elsewhere=siblings.of_body
    )
    with (
        closing(siblings),
        bound_at(socket_of(listeners.folder, enlisted.worker.number)) as handed,
    ):
        async with front.running(), anyio.create_task_group() as tasks:
            is_reachable = anyio.Event()
            tasks.start_soon(
                lambda: serve(
                    siblings.siblings(front), handed, stop=stop, on_ready=is_reachable.set
                ),
                name="other workers",
            )
            await is_reachable.wait()
            await serve(
                siblings.agents(front),
                listeners.agents,
                stop=stop,
                on_ready=ready,
                on_closing=front.close_streams,
            )


def _orphaned(lifeline: int) -> None:
    """Stop in order, as nobody would tell this worker to any more."""
    asyncio.get_running_loop().remove_reader(lifeline)
    _log.error("the parent of this worker is gone; it stops")
    os.kill(os.getpid(), signal.SIGTERM)


def _admin(
    gateway: Gateway, settings: Settings, listeners: _Listeners, errands: Errands
) -> ASGIApp:
    base_url, enlisted = listeners.base_url, listeners.enlisted

    def readiness() -> Readiness:
        reasons = gateway.not_ready()
        missing = enlisted.missing() if enlisted is not None else ()
        warnings = (*gateway.warnings(), *missing)
        return Readiness(ready=not reasons, reasons=reasons, warnings=warnings)

    def load() -> Callable[[], ASGIApp]:
        from gateway.admin.entrance import Entrance  # noqa: PLC0415 - see `Threshold`

        return Entrance(
            settings=settings,
            base_url=base_url,
            store=gateway.store,
            deciding=gateway.approving.deciding,
            running=gateway.running,
            revision=gateway.activation.current,
            clock=SystemClock(),
            readiness=readiness,
            note_turned_away=gateway.turned_away,
            errands=errands,
            observes=lambda: gateway.stance.observes,
        ).app

    check = OriginCheck(
        hosts=settings.admin.accepted_hosts,
        origins=[base_url, f"http://{OWN_HOST}:*"],
        host_mend="add it to `admin.hosts`, or use `admin.public_url` or `admin.address`",
        origin_mend="only pages of this listener may send it anything",
    )
    return guarded(Threshold(load), check)
