"""`weighbridge init`: put a gateway in front of the servers that a client has already."""

import sys
from pathlib import Path

import click

from gateway.cli import init_choice, init_telling, init_undo, init_work, output
from gateway.cli.options import json_option
from gateway.config import environment
from gateway.errors import WeighbridgeError


@click.command(
    "init",
    epilog="Example: weighbridge init --from .mcp.json; to go back: weighbridge init --undo",
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The client's file; default: the usual files of Claude Code, VS Code, Cursor, Codex and "
    "Claude Desktop are looked for.",
)
@click.option("--yes", "-y", is_flag=True, help="Don't ask.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for config.yaml, weighbridge.env and policies/; default: this one.",
)
@click.option("--undo", is_flag=True, help="Give the client's file back as it was.")
@click.option("--force", is_flag=True, help="With --undo: even if the file was changed since.")
@json_option
def command(
    source: Path | None, yes: bool, folder: Path, undo: bool, force: bool, as_json: bool
) -> None:
    """Take over a client's servers: config, contracts and a first policy, in observe mode.

    The client's file is backed up, and changed last; whatever fails before leaves it as it was.
    Exit code 0 when it is done, or was already; 1 when nothing is to be taken over, or you said no;
    2 when a file can't be used.
    """
    if undo and source is not None:
        output.fail("--undo knows the client's file; leave --from out, or name the folder by --dir")
    if force and not undo:
        output.fail("--force is for --undo")
    try:
        if undo:
            init_undo.undo(folder, force=force, as_json=as_json)
        else:
            _init(source, folder, yes=yes, as_json=as_json)
    except WeighbridgeError as error:
        output.fail(str(error))


def _init(source: Path | None, folder: Path, *, yes: bool, as_json: bool) -> None:
    environ = environment.environ()
    chosen = init_choice.choose(source, environ, may_ask=_is_watched() and not yes)
    plan = chosen.plan
    if plan.governed:
        init_telling.governed(chosen, as_json=as_json)
        return
    if not plan.taken:
        init_telling.nothing(chosen, as_json=as_json)
        raise SystemExit(output.EXIT_FAILED)
    work = init_work.Work(chosen, folder, environ)
    work.check()
    init_telling.planned(chosen, work, to_stderr=as_json)
    if not yes:
        if not _is_watched():
            output.fail("nothing was changed; say --yes, since there is no terminal to ask at")
        if not click.confirm("go ahead?", err=True):
            click.echo("nothing was changed", err=True)
            raise SystemExit(output.EXIT_FAILED)
        work.give(_asked_for(work.wanted, chosen.client.title))
    done = work.run(init_telling.started)
    init_telling.done(done, as_json=as_json)


def _asked_for(wanted: tuple[str, ...], client: str) -> dict[str, str]:
    """Ask for values that only the client has: without them some servers could not be started."""
    if wanted:
        click.echo(
            f"values that {client} hands over, to start the servers once; kept nowhere", err=True
        )
    given = {
        each: str(
            click.prompt(
                f"  {each} (empty: skip)", hide_input=True, default="", show_default=False, err=True
            )
        )
        for each in wanted
    }
    return {name: value for name, value in given.items() if value}


def _is_watched() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()
