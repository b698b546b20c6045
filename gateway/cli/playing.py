"""A recorded run, played to hosts; imported for a playback alone."""

import logging
import sys
from pathlib import Path

import anyio
import click

from gateway import jsontext
from gateway.actions.disclosure import Reader
from gateway.app.playback import Playback
from gateway.app.taping import playback
from gateway.cli import output
from gateway.cli.listeners import bound, front_options, url_of, write_whole
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.config.load import Loaded
from gateway.identity.authenticate import Authenticator
from gateway.identity.local import local_principal
from gateway.listen.http import HttpFront
from gateway.listen.serve import serve, stop_on_signals
from gateway.listen.stdio import serve_stdio
from gateway.replay.tape import Tape

_log = logging.getLogger("weighbridge")
_SHOWN = 20  # lines of each kind in the summary for people; `--report` has all


def _reader() -> Reader:
    return Reader(account=who("").account)


async def over_http(loaded: Loaded, run: str, ready_file: Path | None) -> Tape:
    """Play a run to hosts until told to end; returns what was played."""
    settings, clock = loaded.settings, SystemClock()
    with bound(settings.listen.endpoint) as sock:
        url = url_of(sock) + settings.listen.path
        played = await playback(loaded, run, clock, reader=_reader())
        async with stop_on_signals() as stop:
            authenticator = Authenticator(
                settings.identity, resource=settings.listen.public_url or url, clock=clock
            )
            front = HttpFront(played, authenticator, clock=clock, options=front_options(settings))

            def ready() -> None:
                _tell(played, url)
                if ready_file is not None:
                    write_whole(ready_file, jsontext.dump({"url": url}))

            async with anyio.create_task_group() as beside:
                beside.start_soon(authenticator.keep_keys, name="keys of issuers")
                await serve(front, sock, stop=stop, on_ready=ready, on_closing=front.close_streams)
                beside.cancel_scope.cancel()
    return played.tape


async def over_stdio(loaded: Loaded, run: str) -> Tape:
    """Play a run to one host until it leaves; returns what was played.

    Whoever can start this process can read the log, so it need not be of the tenant.
    """
    clock = SystemClock()
    played = await playback(loaded, run, clock, reader=_reader(), is_open=True)
    _tell(played, "stdio")
    async with stop_on_signals() as stop:
        await serve_stdio(
            played,
            local_principal(loaded.settings.identity.local),
            clock=clock,
            stop=stop,
            max_line_bytes=loaded.settings.listen.max_body,
        )
    return played.tape


def conclude(tape: Tape, report: Path | None, *, as_json: bool, to_stderr: bool = False) -> None:
    """Tell what was played, missed and never asked for; exit code 1 where something was missed."""
    summary = jsontext.dump(tape.summary()).decode()
    if report is not None:
        try:
            write_whole(report, summary.encode() + b"\n")
        except OSError as error:
            output.fail(f"`{report}` can't be written: {(error.strerror or '').lower()}")
    for line in [summary] if as_json else map(output.on_one_line, lines(tape)):
        click.echo(line, err=to_stderr)
    if tape.missed:
        sys.exit(output.EXIT_FAILED)


def lines(tape: Tape) -> list[str]:
    """Return the summary for people."""
    told = [
        f"playback of {tape.run}: {len(tape.played)} of {_calls(len(tape.takes))} played, "
        f"{tape.misses} missed, {len(tape.unasked)} never asked for"
    ]
    told += [f"missed           {miss.reason}" for miss in tape.missed[:_SHOWN]]
    told += [f"never asked for  {take.call} of `{take.name}`" for take in tape.unasked[:_SHOWN]]
    hidden = sum(max(0, many - _SHOWN) for many in (tape.misses, len(tape.unasked)))
    return [*told, f"and {hidden} more; see `--report`"] if hidden else told


def _calls(count: int) -> str:
    return "1 recorded call" if count == 1 else f"{count} recorded calls"


def _tell(played: Playback, where: str) -> None:
    tape = played.tape
    _log.info(
        "playing %s of %s at %s: %s, nothing is sent and nothing is kept",
        tape.run,
        played.programme.actor.tenant,
        where,
        _calls(len(tape.takes)),
    )
    for take in tape.takes:
        if take.outcome is None:
            _log.warning("%s of `%s` can't be played: %s", take.call, take.name, take.lack)
