"""`weighbridge tools`: what servers publish, what was reviewed, and what changed since."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from gateway.actions import pinning
from gateway.app.inspect import Inspection
from gateway.cli import offers, output
from gateway.cli.options import config_option, json_option, load, relative
from gateway.config.load import Loaded
from gateway.contracts.diff import Change, diff
from gateway.contracts.standing import standing
from gateway.errors import FileError
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract


def _contracts(loaded: Loaded) -> dict[str, Contract]:
    try:
        found = pinning.contracts(loaded.settings.policies / "contracts")
    except FileError as error:
        output.fail(str(error))
    return {name: contract for name, (_, contract) in found.items()}


@click.command("list", epilog="Example: weighbridge tools list --role support")
@config_option
@offers.asker_options
@click.option(
    "--definitions",
    is_flag=True,
    help="Print what servers publish, as `replay --schemas` takes it.",
)
@json_option
def list_tools(
    path: Path,
    user: str,
    tenant: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
    definitions: bool,
    as_json: bool,
) -> None:
    """Show every tool with its exposed name and whether it is reviewed.

    With a user, tenant, role or scope, `listed` says whether such a caller would find it.
    """
    loaded = load(path)
    asker = offers.Asker(user=user, tenant=tenant, roles=roles, scopes=scopes)
    is_listed = offers.listed_for(asker, loaded, path)
    found, known = offers.inspected(loaded, path), _contracts(loaded)
    if definitions:
        output.as_json(_published(found))
        return
    rows = [(tool, known.get(tool.key)) for tool in found.tools]
    if as_json:
        output.as_json(
            [
                {
                    "tool": tool.key,
                    "exposed": tool.exposed_name,
                    "state": standing(tool, contract).value,
                    "pin": tool.pin,
                    "effect": contract.effect.value if contract is not None else None,
                    "risk": contract.risk.value if contract is not None else None,
                    "reason": offers.reason(tool),
                    **offers.member(is_listed, tool),
                }
                for tool, contract in rows
            ]
        )
        return
    output.table(
        ("tool", "exposed as", "effect", "risk", "state", *offers.header(is_listed)),
        [
            (
                tool.key,
                tool.exposed_name,
                contract.effect.value if contract is not None else "–",
                contract.risk.value if contract is not None else "–",
                standing(tool, contract).value,
                *offers.column(is_listed, tool),
            )
            for tool, contract in rows
        ],
    )


def _published(found: Inspection) -> JsonObject:
    """Return what each server publishes in the form of its `tools/list`."""
    by_server: dict[str, list[Json]] = {
        state.name: [] for state in found.states if state.status == "ready"
    }
    for tool in found.tools:
        by_server.setdefault(tool.server, []).append(tool.definition)
    return {server: {"tools": tools} for server, tools in sorted(by_server.items())}


@click.command("pin", epilog="Example: weighbridge tools pin, then review the drafts")
@click.argument("names", nargs=-1)
@config_option
@click.option(
    "--reviewed", is_flag=True, help="Mark as reviewed what is written now, and earlier drafts."
)
@json_option
def pin_tools(names: tuple[str, ...], path: Path, reviewed: bool, as_json: bool) -> None:
    """Draft contracts for new tools; NAMES renews the pins of reviewed ones that changed.

    A draft is not served until a person has set `reviewed: true`, unless `contracts.unreviewed`
    is `observe`.
    """
    loaded = load(path)
    found = offers.inspected(loaded, path)
    unknown = sorted({*names} - {tool.key for tool in found.tools})
    if unknown:
        output.fail(f"no server publishes `{unknown[0]}`; see `weighbridge tools list`")
    folder = loaded.settings.policies / "contracts"
    try:
        done = pinning.pin(folder, found.tools, names, reviewed=reviewed)
    except FileError as error:
        output.fail(str(error))
    if as_json:
        output.as_json(
            [
                {
                    "tool": each.tool,
                    "change": each.change,
                    "file": str(each.file),
                    "reasons": list(each.reasons),
                }
                for each in done
            ]
        )
        return
    for each in done:
        because = f" ({'; '.join(each.reasons)})" if each.reasons else ""
        output.one_line(f"{each.change}  {each.tool}  in {relative(each.file)}{because}")
    if any(each.change == "drafted" for each in done) and not reviewed:
        click.echo("next: `weighbridge tools review` walks the drafts, one by one")
    _fail_if_unread(found)
    if not done:
        click.echo("nothing to pin: every tool has a contract")
        _tell_waiting(found, _contracts(loaded))


def _tell_waiting(found: Inspection, known: Mapping[str, Contract]) -> None:
    """Say what keeps tools from being served though they have a contract, and what helps."""
    pairs = [(tool, known[tool.key]) for tool in found.tools if tool.key in known]
    changed = [tool.key for tool, contract in pairs if contract.pin != tool.pin]
    drafts = [
        tool.key for tool, contract in pairs if not contract.reviewed and tool.key not in changed
    ]
    if drafts:
        output.one_line(
            f"drafts wait for a review: {_some(drafts)}; run `weighbridge tools review`, or "
            "`weighbridge tools pin --reviewed` to take all of them as they are"
        )
    if changed:
        output.one_line(
            f"not as pinned: {_some(changed)}; look at `weighbridge tools diff`, then run "
            f"`weighbridge tools pin {changed[0]}`"
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(f"`{name}`" for name in names[:3]) + more


@click.command("diff", epilog="Example: weighbridge tools diff crm.find")
@click.argument("names", nargs=-1)
@config_option
@json_option
def diff_tools(names: tuple[str, ...], path: Path, as_json: bool) -> None:
    """Show what servers changed since their tools were reviewed, descriptions included.

    Exit code 1 when something differs, or when the tools of a server could not be read.
    """
    loaded = load(path)
    found, known = offers.inspected(loaded, path), _contracts(loaded)
    changed: dict[str, tuple[Change, ...]] = {}
    for tool in found.tools:
        contract = known.get(tool.key)
        if contract is None or (names and tool.key not in names) or contract.pin == tool.pin:
            continue
        changed[tool.key] = diff(contract.definition, tool.definition)
    if as_json:
        output.as_json({tool: _as_json(changes) for tool, changes in changed.items()})
    else:
        for tool, changes in changed.items():
            output.one_line(tool)
            for change in changes:
                output.one_line(f"  {change.kind:<8} {change.pointer}")
                output.one_line(f"    - {change.before}")
                output.one_line(f"    + {change.after}")
    _fail_if_unread(found)
    if changed:
        raise SystemExit(output.EXIT_FAILED)


def _fail_if_unread(found: Inspection) -> None:
    """End with an error when a server is missing from what was looked at: nobody knows about it."""
    missing = [state.name for state in found.states if state.status != "ready"]
    if missing or found.misconfigured:
        unread = ", ".join(f"`{name}`" for name in [*missing, *found.misconfigured])
        output.fail(f"the tools of {unread} could not be read", output.EXIT_FAILED)


def _as_json(changes: tuple[Change, ...]) -> list[Json]:
    return [
        {
            "pointer": each.pointer,
            "kind": each.kind.value,
            "before": each.before,
            "after": each.after,
        }
        for each in changes
    ]
