"""`weighbridge policy diff`: what a change of the policy folder does to calls that may come."""

from collections.abc import Callable
from pathlib import Path

import click

from gateway.actions import review
from gateway.actions.comparing import MOST, Comparison, compare
from gateway.cli import output, shelf
from gateway.cli.options import config_option, json_option, load
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
) -> None:
    """Say who gains or loses what between two policies: OLD and NEW, wider first.

    Each is a folder, or a revision that the store keeps, by its id or the beginning of it. OLD
    is the revision in force unless named, NEW the folder of the configuration. Calls are made up
    from what both speak of, and both judge them; that is a search, no proof.

    Exit code 0, or 1 for what --fail-on names; 2 when one of the two can't be read.
    """
    before = shelf.named(old, path) if old else shelf.in_force(path)
    after = shelf.named(new, path) if new else shelf.configured(path)
    servers = load(path).settings.servers if path.exists() else ()
    found = compare(before, after, servers=servers, seed=seed, most=most)
    match "json" if as_json else form:
        case "json":
            output.as_json(review.to_json(found))
        case "markdown":
            output.line(review.markdown(found, texts=texts))
        case _:
            output.line(review.text(found, texts=texts))
    if fail_on is not None and _FAILS[fail_on](found):
        raise SystemExit(output.EXIT_FAILED)
