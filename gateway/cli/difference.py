"""`weighbridge policy diff`: what a change of the policy folder does to calls that may come."""

from collections.abc import Callable
from pathlib import Path

import click

from gateway.actions import review
from gateway.actions.comparing import MOST, Comparison, compare
from gateway.cli import difference_past, output, shelf
from gateway.cli.options import config_option, json_option, load
from gateway.replay.report import Report
from gateway.replay.report import as_json as as_history
from gateway.replay.types import Counters
from gateway.types.leans import Lean

_FAILS: dict[str, Callable[[Comparison], bool]] = {
    "wider": lambda found: found.has(Lean.WIDER),
    "narrower": lambda found: found.has(Lean.NARROWER),
    "any": lambda found: found.has(None),
}


@click.command(
    "diff",
    epilog="Example: weighbridge policy diff main/policies policies --fail-on wider "
    "--format markdown",
)
@click.argument("old", required=False, default="")
@click.argument("new", required=False, default="")
@config_option
@click.option(
    "--fail-on",
    type=click.Choice([*_FAILS]),
    help="Exit code 1 when something is granted, taken away, or either.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
)
@json_option
@click.option(
    "--requests",
    "most",
    type=click.IntRange(1, 1_000_000),
    default=MOST,
    show_default=True,
    help="The most calls that are made up.",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Makes up others.")
@click.option("--texts/--no-texts", default=True, help="With the diff of the files.")
@click.option(
    "--since", default="", help="With calls of the past from then on: a time in UTC, or an age."
)
@click.option("--tenant", default="", help="With --since: only calls of this tenant.")
@click.option(
    "--counters",
    type=click.Choice([each.value for each in Counters]),
    help="With --since: what limits are counted by, as `replay` has it; default: recorded.",
)
def command(
    old: str,
    new: str,
    path: Path,
    fail_on: str | None,
    form: str,
    as_json: bool,
    most: int,
    seed: int,
    texts: bool,
    since: str,
    tenant: str,
    counters: str | None,
) -> None:
    """Say who gains or loses what between two policies: OLD and NEW, wider first.

    Each is a folder, or a revision that the store keeps, by its id or the beginning of it. OLD
    is the revision in force unless named, NEW the folder of the configuration. Calls are made up
    from what both speak of, and both judge them; that is a search, no proof.

    With --since, the calls of the log are judged by NEW as well, as `weighbridge replay` does; then
    --fail-on watches both, and a call that its own revision judges otherwise than the log fails.

    Exit code 0, or 1 for what --fail-on names; 2 when one of the two can't be read.
    """
    if not since and (tenant or counters):
        output.fail("--tenant and --counters are about calls of the past; name --since as well")
    before = shelf.named(old, path) if old else shelf.in_force(path)
    after = shelf.named(new, path) if new else shelf.configured(path)
    servers = load(path).settings.servers if path.exists() else ()
    found = compare(before, after, servers=servers, seed=seed, most=most)
    form = "json" if as_json else form
    history = None
    if since:
        by = counters or Counters.RECORDED.value
        history = difference_past.past(path, after, since, tenant, by, is_quiet=form == "json")
    _tell(found, history, form, texts=texts)
    if fail_on is not None and _FAILS[fail_on](found):
        raise SystemExit(output.EXIT_FAILED)
    if history is not None and _is_failed(history, fail_on):
        raise SystemExit(output.EXIT_FAILED)


def _tell(found: Comparison, history: Report | None, form: str, *, texts: bool) -> None:
    match form:
        case "json":
            told = review.to_json(found)
            output.as_json(told if history is None else {**told, "history": as_history(history)})
        case "markdown":
            output.line(review.markdown(found, texts=texts))
            if history is not None:
                output.line(difference_past.as_markdown(history))
        case _:
            output.line(review.text(found, texts=texts))
            if history is not None:
                output.line(difference_past.as_text(history))


def _is_failed(history: Report, fail_on: str | None) -> bool:
    if history.unfaithful:
        return True
    return fail_on is not None and difference_past.FAILS[fail_on](history)
