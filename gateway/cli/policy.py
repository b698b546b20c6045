"""`weighbridge policy`: lint, test and explain what is in the policy folder."""

from pathlib import Path

import click

from gateway import __version__
from gateway.actions import revisions
from gateway.cli import output
from gateway.cli.options import config_option, json_option
from gateway.cli.policies import folder_option, policies
from gateway.cli.recording import record
from gateway.policy import findings
from gateway.policy.findings import Finding, Level
from gateway.policy.junit import junit
from gateway.policy.testing import Report


def _found(built: revisions.Built) -> list[Finding]:
    errors = [findings.of_error(error) for error in built.errors]
    known = {(each.file, each.line, each.message) for each in errors}
    others = [each for each in built.findings if (each.file, each.line, each.message) not in known]
    return sorted([*errors, *others], key=lambda each: each.order)


@click.command(epilog="Example: weighbridge policy lint --policies policies --format github")
@config_option
@folder_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
)
@json_option
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
def lint(path: Path, folder: Path | None, form: str, as_json: bool, strict: bool) -> None:
    """Check rules, contracts and tests without running anything.

    Exit code 0 when nothing is wrong, 3 when there are errors, 1 for warnings with --strict.
    """
    found = _found(policies(path, folder).built)
    match "json" if as_json else form:
        case "json":
            output.as_json(findings.as_json(found))
        case "sarif":
            output.as_json(findings.as_sarif(found, version=__version__))
        case "github":
            click.echo(findings.as_github(found))
        case _:
            click.echo(findings.as_text(found) if found else "nothing to mend")
    levels = {each.level for each in found}
    if Level.ERROR in levels:
        raise SystemExit(output.EXIT_DOES_NOT_COMPILE)
    if strict and Level.WARNING in levels:
        raise SystemExit(output.EXIT_FAILED)


@click.command(epilog="Example: weighbridge policy test --coverage-min 90 --junit report.xml")
@config_option
@folder_option
@click.option(
    "--coverage-min",
    type=click.FloatRange(0, 100),
    default=0.0,
    help="Least percentage of rules that decided, and of conditions seen true and false.",
)
@click.option(
    "--junit", "report", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML."
)
@click.option(
    "--record",
    "recorded",
    default="",
    metavar="CALL|RUN",
    help="Write a call of the log, or those of a run, as tests instead.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file for --record, such as policies/tests/incident.yaml; default: printed.",
)
@click.option("--verbose", is_flag=True, help="With a line for each test that passed.")
@json_option
def test(
    path: Path,
    folder: Path | None,
    coverage_min: float,
    report: Path | None,
    recorded: str,
    out: Path | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Run the policy's unit tests through all the checks that calls go through.

    With --record, a call or run of the log becomes tests of that kind, each tried under the
    folder first.

    Exit code 3 when the folder does not compile, 4 when a test fails, 1 when coverage is short.
    """
    _refuse_mixed(
        recorded,
        **{
            "--json": as_json,
            "--junit": report,
            "--coverage-min": coverage_min,
            "--verbose": verbose,
        },
        out=out,
    )
    built = policies(path, folder).built
    errors = [each for each in _found(built) if each.level is Level.ERROR]
    if errors:
        click.echo(findings.as_text(errors), err=True)
        raise SystemExit(output.EXIT_DOES_NOT_COMPILE)
    if recorded and built.revision is not None:
        record(recorded, path, built.revision, out)
        return
    outcome = built.report
    if outcome is None or not outcome.results:
        output.fail("there are no policy tests; write some in `tests/` of the policy folder")
    if report is not None:
        report.write_text(junit(outcome.results))
    _tell(outcome, as_json=as_json, verbose=verbose)
    if outcome.failed:
        raise SystemExit(output.EXIT_TESTS_FAILED)
    cover = outcome.coverage
    reached = 100 * min(cover.rule_ratio, cover.condition_ratio)
    if reached < coverage_min:
        output.fail(f"coverage is {reached:.0f} %, below {coverage_min:.0f} %", output.EXIT_FAILED)


def _refuse_mixed(recorded: str, out: Path | None, **others: object) -> None:
    """End the command where an option would be passed over: recording runs no tests."""
    if out is not None and not recorded:
        output.fail("--out is the file for --record; name a call or a run to record")
    if recorded and (named := next((name for name, given in others.items() if given), "")):
        output.fail(f"--record writes tests and runs none; leave it or {named} out")


def _tell(outcome: Report, *, as_json: bool, verbose: bool) -> None:
    cover = outcome.coverage
    if as_json:
        output.as_json(
            {
                "passed": len(outcome.results) - outcome.failed,
                "failed": outcome.failed,
                "results": [
                    {"name": each.name, "place": each.place, "problems": list(each.problems)}
                    for each in outcome.results
                ],
                "rule_coverage": round(100 * cover.rule_ratio, 1),
                "condition_coverage": round(100 * cover.condition_ratio, 1),
                "never_decided": list(cover.never_decided),
            }
        )
    else:
        click.echo(outcome.text(verbose=verbose))
