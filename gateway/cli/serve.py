"""`weighbridge serve`: the gateway over Streamable HTTP, and the admin listener."""

import gc
import logging
import sys
from contextlib import closing
from pathlib import Path

import anyio
import click
from starlette.types import ASGIApp

from gateway import jsontext
from gateway.admin.entrance import Entrance
from gateway.admin.errands import Errands
from gateway.admin.site import Readiness
from gateway.app.gateway import Gateway
from gateway.app.start import open_gateway
from gateway.app.stopping import Stopping
from gateway.cli import logs, output, playback
from gateway.cli.listeners import bound, front_options, url_of, write_whole
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
from gateway.servers import groups

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
@playback.playback_options
def command(
    path: Path, ready_file: Path | None, run: str, as_json: bool, report: Path | None
) -> None:
    """Serve agents over Streamable HTTP until SIGTERM or SIGINT; SIGHUP reloads the policy.

    Calls under way get 5 seconds, and the whole stop takes about 10 at most; a second signal ends
    everything at once. With --playback, exit code 1 says that a call was not in the record.
    """
    playback.check(run, report, as_json=as_json)
    loaded = load(path)
    logs.set_up(loaded)
    # The event writer has to get its turn while the event loop is busy: 5 ms, the default, would
    # be most of its time.
    sys.setswitchinterval(0.001)
    try:
        refuse_open_listeners(loaded.settings)
        if run:
            tape = anyio.run(
                playback.over_http, loaded, run, ready_file, backend_options={"use_uvloop": True}
            )
            playback.conclude(tape, report, as_json=as_json)
            return
        anyio.run(_serve, loaded, path, ready_file, backend_options={"use_uvloop": True})
    except* (WeighbridgeError, OSError) as group:
        output.fail(str(first_cause(group)))


async def _serve(loaded: Loaded, path: Path, ready_file: Path | None) -> None:
    settings, clock = loaded.settings, SystemClock()
    stopping = Stopping(clock)
    with (
        bound(settings.listen.endpoint) as sock,
        bound(settings.admin.endpoint) as admin_sock,
        closing(Errands(clock=clock)) as errands,
    ):
        # Taken now: the event loop owns the sockets once it serves on them.
        url = url_of(sock) + settings.listen.path
        base_url = settings.admin.url_at(int(admin_sock.getsockname()[1]))
        is_proxied = settings.admin.public_url is not None
        admin_url = url_of(admin_sock) if is_proxied else base_url
        async with (
            stop_on_signals(stopping.begin, groups.kill_all) as stop,
            open_gateway(
                loaded, path.parent, environment.environ(), front=url, stopping=stopping
            ) as gateway,
        ):
            authenticator = Authenticator(
                settings.identity, resource=settings.listen.public_url or url, clock=clock
            )
            gateway.identity_problems = authenticator.problems
            front = HttpFront(
                gateway,
                authenticator,
                clock=clock,
                options=front_options(settings),
            )

            def ready() -> None:
                # What is here now stays: the collector need not look at it again and again.
                gc.collect()
                gc.freeze()
                gc.set_threshold(20_000, 20, 50)
                _log.info("serving agents at %s, people at %s", url, admin_url)
                if ready_file is not None:
                    write_whole(ready_file, jsontext.dump({"url": url, "admin": admin_url}))

            gateway.approving.pages.base = base_url
            people = _admin(gateway, settings, base_url, errands)
            async with anyio.create_task_group() as beside:
                beside.start_soon(authenticator.keep_keys, name="keys of issuers")
                async with anyio.create_task_group() as listeners:
                    listeners.start_soon(
                        lambda: serve(people, admin_sock, stop=stop), name="admin listener"
                    )
                    await serve(
                        front, sock, stop=stop, on_ready=ready, on_closing=front.close_streams
                    )
                beside.cancel_scope.cancel()


def _admin(gateway: Gateway, settings: Settings, base_url: str, errands: Errands) -> ASGIApp:
    def readiness() -> Readiness:
        reasons = gateway.not_ready()
        return Readiness(ready=not reasons, reasons=reasons, warnings=gateway.warnings())

    entrance = Entrance(
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
    )
    check = OriginCheck(
        hosts=settings.admin.accepted_hosts,
        origins=[base_url, f"http://{OWN_HOST}:*"],
        host_mend="add it to `admin.hosts`, or use `admin.public_url` or `admin.address`",
        origin_mend="only pages of this listener may send it anything",
    )
    return guarded(entrance.app(), check)
