"""What `init` says: the plan before it asks, servers as they start, and what was done."""

import re
import shlex
from pathlib import Path
from typing import Final

import click

from gateway.actions import taking_over
from gateway.actions.taking_over import Plan
from gateway.cli import output
from gateway.cli.init_choice import Chosen
from gateway.cli.init_work import START_S, Done, Work
from gateway.cli.options import relative
from gateway.clients.translating import Translated
from gateway.servers.state import ServerState, ServerStatus
from gateway.types.json import Json, JsonObject

_APART: Final = re.compile(r"[\s'\"]")


def governed(chosen: Chosen, *, as_json: bool) -> None:
    """Say that a gateway is there already."""
    plan = chosen.plan
    if as_json:
        output.as_json({**_about(chosen.original.path, plan), "status": "governed"})
        return
    path = relative(chosen.original.path)
    output.one_line(f"`{path}` is governed already, by its entry `{plan.governed}`")
    beside = len(plan.source.servers) - 1
    if beside:
        servers = f"{beside} server{'s' if beside > 1 else ''}"
        output.one_line(
            f"beside it: {servers}; add them to the gateway's config.yaml to have them governed"
        )


def nothing(chosen: Chosen, *, as_json: bool) -> None:
    """Say that there is nothing to take over."""
    plan = chosen.plan
    if as_json:
        output.as_json({**_about(chosen.original.path, plan), "status": "nothing"})
        return
    path = relative(chosen.original.path)
    output.one_line(f"`{path}` ({plan.source.client.title}) has no servers to take over")
    _left(plan, err=False)


def planned(chosen: Chosen, work: Work, *, to_stderr: bool) -> None:
    """Say what will be done."""
    plan, path = chosen.plan, relative(chosen.original.path)
    count = len(plan.taken)
    servers = f"{count} server{'s' if count > 1 else ''}"
    _line(f"{path} ({chosen.client.title}): {servers} will stand behind the gateway", to_stderr)
    for each in plan.taken:
        renamed = f" (`{each.entry.name}`)" if each.entry.name != each.name else ""
        _line(f"  {each.name}{renamed}  {_what(each)}", to_stderr)
        if each.entry.ignored:
            keys = ", ".join(f"`{key[:40]}`" for key in each.entry.ignored)
            _line(f"    not taken over, since only the client knows them: {keys}", to_stderr)
    _left(plan, err=to_stderr)
    _line("will be made", to_stderr)
    _line(
        f"  {relative(work.config)}  these servers, in observe mode: every call passes", to_stderr
    )
    if plan.values:
        secrets = f"{len(plan.values)} secret{'s' if len(plan.values) > 1 else ''}"
        _line(f"  {relative(work.folder / taking_over.SECRETS)}  {secrets}, mode 600", to_stderr)
    policies = relative(work.folder / taking_over.POLICIES)
    _line(f"  {policies}/  drafts of contracts, a first policy with its tests", to_stderr)
    _line("will be changed, last, with a copy beside it", to_stderr)
    _line(f"  {path}", to_stderr)


def started(state: ServerState | None, count: int) -> None:
    """Say how the start goes, on standard error."""
    if state is None:
        click.echo(
            f"starting {count} server{'s' if count > 1 else ''}, at most {START_S:.0f} s", err=True
        )
        return
    is_ready = state.status is ServerStatus.READY
    said = f"{state.tools} tools" if is_ready else state.reason or "did not start"
    click.echo(
        output.on_one_line(f"  {'ok  ' if is_ready else 'FAIL'}  {state.name}  {said}"), err=True
    )


def done(made: Done, *, as_json: bool) -> None:
    """Say what was done, and what to do next."""
    if as_json:
        output.as_json(_as_json(made))
        return
    plan, config = made.plan, relative(made.folder / taking_over.CONFIG)
    output.one_line(
        f"done: {plan.source.client.title} has one server now, `{plan.name}`, with "
        f"{len(plan.taken)} behind it; contracts drafted: {made.contracts}"
    )
    _unstarted(made, config)
    if not made.is_ignored:
        said = f"`{relative(made.backup)}`"
        if plan.values:
            said = f"`{taking_over.SECRETS}` and {said}"
        output.one_line(f"keep {said} out of version control: add them to .gitignore")
    option = "" if config == taking_over.CONFIG else f" --config {config}"
    where = "" if config == taking_over.CONFIG else f" --dir {relative(made.folder)}"
    output.one_line("next")
    output.one_line(f"  restart {plan.source.client.title}, and work as before")
    steps = {
        f"weighbridge observed{option}": "what rules would have done",
        f"weighbridge tools review{option}": "look at the drafts",
        f"weighbridge init --undo{where}": "go back",
    }
    width = max(map(len, steps))
    for command, does in steps.items():
        output.one_line(f"  {command:<{width}}  {does}")


def _unstarted(made: Done, config: str) -> None:
    """Name the servers whose tools are not known yet."""
    failed: list[str] = []
    for each in made.plan.taken:
        state = made.states.get(each.name)
        reason = made.lacking.get(each.name, "")
        if reason:
            output.one_line(f"not started: `{each.name}`: {reason} here; {_giver(made)}")
        elif state is None or state.status is not ServerStatus.READY:
            said = state.reason if state is not None else ""
            output.one_line(f"not started: `{each.name}`: {_short(said) or 'it took too long'}")
        elif each.name in made.undrafted:
            output.one_line(f"no contracts for `{each.name}`: its tools can't be written down")
            continue
        else:
            continue
        failed.append(each.name)
    if failed:
        output.one_line(
            "  it is configured all the same; once it starts, `weighbridge tools pin "
            f"--config {config}` drafts its contracts. A server gets PATH, HOME and the like; "
            "name what else it needs under `inherit_env`"
        )


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:159]}…"


def _giver(made: Done) -> str:
    return f"{made.plan.source.client.title} hands it over"


def _left(plan: Plan, *, err: bool) -> None:
    if plan.left:
        _line("stay in the client", err)
    for each in plan.left:
        _line(f"  {each.name}  {each.reason}", err)


def _what(each: Translated) -> str:
    """Return what is started or reached, without secrets: all of it, since it is about to be run.

    A file may have come with somebody's project, and `sh` alone says nothing.
    """
    url, command, args = (each.section.get(key) for key in ("url", "command", "args"))
    words = [command, *(args if isinstance(args, list) else [])]
    return str(url) if url else " ".join(map(_word, words))


def _word(given: Json) -> str:
    """Return a word as a shell would be given it, so that one with blanks is seen as one."""
    text = str(given)
    return text if text and not _APART.search(text) else shlex.quote(text)


def _line(text: str, err: bool) -> None:
    click.echo(output.on_one_line(text), err=err)


def _about(path: Path, plan: Plan) -> JsonObject:
    return {
        "client": plan.source.client.id,
        "file": str(path),
        "left": [{"name": each.name, "reason": each.reason} for each in plan.left],
    }


def _as_json(made: Done) -> JsonObject:
    plan = made.plan
    return {
        **_about(made.client, plan),
        "status": "done",
        "entry": plan.name,
        "backup": str(made.backup),
        "config": str(made.folder / taking_over.CONFIG),
        "env_file": str(made.folder / taking_over.SECRETS) if plan.values else None,
        "policies": str(made.folder / taking_over.POLICIES),
        "contracts": made.contracts,
        "servers": [_server(each, made) for each in plan.taken],
    }


def _server(each: Translated, made: Done) -> Json:
    state = made.states.get(each.name)
    reason = made.lacking.get(each.name) or (state.reason if state is not None else "")
    is_ready = state is not None and state.status is ServerStatus.READY
    return {
        "name": each.name,
        "client_name": each.entry.name,
        "ready": is_ready,
        "tools": state.tools if state is not None else 0,
        "reason": "" if is_ready else reason,
        "not_taken_over": list(each.entry.ignored),
    }
