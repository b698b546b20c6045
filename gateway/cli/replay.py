"""`weighbridge replay`: past calls under other policies or contracts; no server is ever called."""

from pathlib import Path
from typing import Final

import click

from gateway.cli import late
from gateway.cli.flags import candidate_options, config_option, schemas_option
from gateway.cli.groups import REPLAY
from gateway.cli.late import LateGroup

# What the modules behind it know, said here as well so that help needs none of them.
COUNTERS: Final = ("recorded", "simulated")
FORMS: Final = ("text", "json", "html", "junit", "sarif")
WANTED: Final = (
    "grants-more",
    "grants-less",
    "changed",
    "undecidable",
    "invalid-arguments",
    "schema-breaks",
    "refused-calls",
)


@click.group(
    "replay",
    cls=LateGroup,
    table=REPLAY,
    invoke_without_command=True,
    epilog="Example: weighbridge replay --since 30d --policies drafts",
)
@config_option
@click.option("--since", default="30d", show_default=True, help="A time in UTC, or an age.")
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option("--tenant", default="", help="Only calls of this tenant.")
@click.option("--run", default="", help="Only calls of this run.")
@candidate_options
@schemas_option
@click.option(
    "--transcript",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --run: hold a model's new calls against the recorded ones.",
)
@click.option(
    "--counters",
    type=click.Choice(COUNTERS),
    default=COUNTERS[0],
    show_default=True,
    help="What limits are counted by: what calls took, or what they would have taken.",
)
@click.option("--format", "form", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("--json", "is_json", is_flag=True, help="As --format json.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file."
)
@click.option(
    "--fail-on",
    type=click.Choice(WANTED),
    multiple=True,
    help="Exit with 1 if there is such a call; may be given several times.",
)
@click.pass_context
def command(
    context: click.Context,
    path: Path,
    since: str,
    until: str,
    tenant: str,
    run: str,
    policies: Path | None,
    contracts: Path | None,
    named: str,
    files: tuple[str, ...],
    transcript: Path | None,
    counters: str,
    form: str,
    is_json: bool,
    out: Path | None,
    fail_on: tuple[str, ...],
) -> None:
    """Judge past calls by other policies, contracts or schemas, and say what would change.

    Nothing is sent to any server. Exits with 1 where --fail-on finds something, or where a
    call's own revision now judges it otherwise than the log says.

    Examples: weighbridge replay --since 30d --policies ./policies --fail-on grants-more;
    weighbridge replay --schemas tools.json --fail-on schema-breaks; weighbridge replay
    --format html --out report.html; weighbridge replay show CALL
    """
    if context.invoked_subcommand is not None:
        return
    named_form = "json" if is_json else form
    late.named("gateway.cli.replaying:judge")(
        path=path,
        since=since,
        until=until,
        tenant=tenant,
        run=run,
        policies=policies,
        contracts=contracts,
        named=named,
        files=files,
        transcript=transcript,
        counters=counters,
        form=named_form,
        out=out,
        fail_on=fail_on,
    )
