"""The options by which events are found, and the question that they stand for."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict, TypeVar, cast

import click

from gateway.cli.moments import earlier
from gateway.store.selection import Selection
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject

Command = TypeVar("Command", bound=Callable[..., None])
_TIME: Final = "A time in UTC (2026-11-29T09:00:00) or an age (24h)."
_METHODS: Final = [each.value for each in Method if each is not Method.LOG]


class Given(TypedDict):
    """The filters as they were given; of each any value fits."""

    tenant: tuple[str, ...]
    run: tuple[str, ...]
    call: tuple[str, ...]
    actor: tuple[str, ...]
    tool: tuple[str, ...]
    method: tuple[str, ...]
    kind: tuple[str, ...]
    stage: tuple[str, ...]
    decision: tuple[str, ...]
    status: tuple[str, ...]
    rule: tuple[str, ...]
    code: tuple[str, ...]
    revision: tuple[str, ...]
    approval: tuple[str, ...]
    action: tuple[str, ...]
    trace: tuple[str, ...]


def filter_options(command: Command) -> Command:
    """Add an option for each filter; each may be given several times."""
    for option in reversed(
        (
            _option("--tenant", help="Whose events; an empty text: those of no tenant."),
            _option("--run"),
            _option("--call", help="Id of one call; gives its whole story."),
            _option("--actor", help="The user who acted."),
            _option("--tool", help="As in contracts: server.name; or a URI."),
            _option("--method", type=click.Choice(_METHODS), help="As MCP names it."),
            _option("--kind", type=click.Choice([each.value for each in EventKind])),
            _option("--stage", type=click.Choice([each.value for each in Stage])),
            _option("--decision", type=click.Choice([each.value for each in DecisionEffect])),
            _option("--status", help="How the call ended, such as denied or timeout."),
            _option("--rule", help="Id of the deciding rule."),
            _option("--code", help="What refused it where no rule did, such as phase_blocked."),
            _option("--revision", help="Of the policy that decided, or was put in force."),
            _option("--approval", help="Id of a request for approval."),
            _option("--action", help="Of `admin` events, such as policy_activated."),
            _option("--trace", help="Trace id, 32 hex digits."),
        )
    ):
        command = option(command)
    return command


def time_options(command: Command) -> Command:
    """Add `--since` and `--until`."""
    until = click.option("--until", default="", help="As --since; this moment is left out.")
    return click.option("--since", default="", help=_TIME)(until(command))


def selection(given: Given, since: str = "", until: str = "") -> Selection:
    """Return the question that the options stand for."""
    return Selection(
        tenants=given["tenant"],
        runs=given["run"],
        calls=given["call"],
        actors=given["actor"],
        tools=given["tool"],
        methods=given["method"],
        kinds=given["kind"],
        stages=given["stage"],
        decisions=given["decision"],
        statuses=given["status"],
        rules=given["rule"],
        codes=given["code"],
        revisions=given["revision"],
        approvals=given["approval"],
        actions=given["action"],
        traces=given["trace"],
        since=earlier(since),
        until=earlier(until),
    )


def asked(given: Given, since: str = "", until: str = "") -> JsonObject:
    """Return what was asked for, as the log has it."""
    texts: dict[str, Json] = {"since": since, "until": until}
    each = cast("Mapping[str, tuple[str, ...]]", given)  # as `Given` says of every field
    for name, values in each.items():
        texts[name] = [*values]
    return texts


def only(given: Given) -> str:
    """Return the tenant whose events alone are read; empty where it isn't one."""
    return given["tenant"][0] if len(given["tenant"]) == 1 else ""


def _option(name: str, **more: Any) -> Callable[[Command], Command]:
    return click.option(name, multiple=True, **more)
