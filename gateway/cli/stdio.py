"""`weighbridge stdio`: the same gateway as a stdio server, for hosts that start their servers."""

from functools import partial
from pathlib import Path
from typing import Final

import anyio
import click

from gateway.app.start import open_gateway
from gateway.app.stopping import Stopping
from gateway.cli import logs, output, playback
from gateway.cli.options import config_option, load
from gateway.clock import SystemClock
from gateway.config import environment
from gateway.config.load import Loaded
from gateway.errors import WeighbridgeError, first_cause
from gateway.identity.local import local_principal
from gateway.listen.serve import stop_on_signals
from gateway.protocol import sdk
from gateway.servers import groups

# A host starts its servers and asks for their tools once, and not all of them ask again. Codex
# gives a server ten seconds for both, unless told otherwise.
_PATIENCE_S: Final = 8.0


@click.command(
    "stdio",
    epilog="Example, in an agent client's mcpServers: "
    '{"weighbridge": {"command": "weighbridge", "args": ["stdio", "-c", "/path/config.yaml"]}}',
)
@config_option
@playback.playback_options
def command(path: Path, run: str, as_json: bool, report: Path | None) -> None:
    """Serve one agent host over standard input and output; who acts is `identity.local`.

    With --playback, the summary is on standard error, since the other one is the host's.
    """
    playback.check(run, report, as_json=as_json)
    loaded = load(path)
    logs.set_up(loaded)
    try:
        if run:
            from gateway.cli import playing  # noqa: PLC0415 - replays, as no other command of here

            tape = anyio.run(playing.over_stdio, loaded, run, backend_options={"use_uvloop": True})
            playing.conclude(tape, report, as_json=as_json, to_stderr=True)
            return
        anyio.run(_serve, loaded, path, backend_options={"use_uvloop": True})
    except* (WeighbridgeError, OSError) as group:
        output.fail(str(first_cause(group)))


async def _serve(loaded: Loaded, path: Path) -> None:
    stopping = Stopping(SystemClock())
    async with (
        stop_on_signals(stopping.begin, groups.kill_all) as stop,
        open_gateway(
            loaded,
            path.parent,
            environment.environ(),
            front="stdio",
            stopping=stopping,
            # The SDK comes with it, and takes about as long as servers take to start.
            meanwhile=partial(sdk.load, "gateway.listen.stdio"),
        ) as gateway,
    ):
        from gateway.listen.stdio import serve_stdio  # noqa: PLC0415 - just imported, see above

        gateway.patience_s = _PATIENCE_S
        await serve_stdio(
            gateway,
            local_principal(loaded.settings.identity.local),
            clock=SystemClock(),
            stop=stop,
            max_line_bytes=loaded.settings.listen.max_body,
        )
