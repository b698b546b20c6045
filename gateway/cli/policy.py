"""`weighbridge policy`: lint, test and explain what is in the policy folder."""

import difflib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import click

from gateway import __version__, jsontext
from gateway.actions import revisions, trial
from gateway.app.inspect import naming
from gateway.case import Verdict
from gateway.cli import output
from gateway.cli.options import config_option, json_option, load
from gateway.clock import SystemClock
from gateway.config.settings import ExposeSettings
from gateway.errors import FileError, JsonError
from gateway.policy import explain as explaining
from gateway.policy import findings
from gateway.policy.cases import CallUnderTest, read_only
from gateway.policy.findings import Finding, Level
from gateway.policy.junit import junit
from gateway.policy.methods import ASKS, OF, USE
from gateway.policy.testing import request_of
from gateway.revision import Revision, Unreviewed
from gateway.servers.names import by_exposed_name
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Phase
from gateway.types.tools import Contract, Kind

Command = TypeVar("Command", bound=Callable[..., None])


@click.group("policy")
def command() -> None:
    """Check the policy before it decides: lint, unit tests, one decision explained."""


def folder_option(option: Command) -> Command:
    """Add `--policies`, for a folder that no configuration names."""
    return click.option(
        "--policies",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        help="The policy folder; default: the one that the configuration names.",
    )(option)


def _built(path: Path, folder: Path | None) -> revisions.Built:
    unreviewed, servers = Unreviewed.REFUSE, frozenset[str]()
    if folder is None:
        settings = load(path).settings
        folder, unreviewed = settings.policies, Unreviewed(settings.contracts.unreviewed)
        servers = frozenset(settings.servers)
    try:
        texts = revisions.read(folder)
    except FileError as error:
        return revisions.Built(revision=None, errors=revisions.each(error))
    now = SystemClock().now()
    return revisions.build(
        texts, unreviewed=unreviewed, at=now, prefix=f"{folder}/", servers=servers
    )


def _found(built: revisions.Built) -> list[Finding]:
    errors = [findings.of_error(error) for error in built.errors]
    known = {(each.file, each.line, each.message) for each in errors}
    others = [each for each in built.findings if (each.file, each.line, each.message) not in known]
    return sorted([*errors, *others], key=lambda each: each.order)


@command.command(epilog="Example: weighbridge policy lint --policies policies --format github")
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
    found = _found(_built(path, folder))
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


@command.command(epilog="Example: weighbridge policy test --coverage-min 90 --junit report.xml")
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
@json_option
def test(
    path: Path, folder: Path | None, coverage_min: float, report: Path | None, as_json: bool
) -> None:
    """Run the policy's unit tests through all the checks that calls go through.

    Exit code 3 when the folder does not compile, 4 when a test fails, 1 when coverage is short.
    """
    built = _built(path, folder)
    errors = [each for each in _found(built) if each.level is Level.ERROR]
    if errors:
        click.echo(findings.as_text(errors), err=True)
        raise SystemExit(output.EXIT_DOES_NOT_COMPILE)
    outcome = built.report
    if outcome is None or not outcome.results:
        output.fail("there are no policy tests; write some in `tests/` of the policy folder")
    if report is not None:
        report.write_text(junit(outcome.results))
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
        click.echo(outcome.text())
    if outcome.failed:
        raise SystemExit(output.EXIT_TESTS_FAILED)
    reached = 100 * min(cover.rule_ratio, cover.condition_ratio)
    if reached < coverage_min:
        output.fail(f"coverage is {reached:.0f} %, below {coverage_min:.0f} %", output.EXIT_FAILED)


@command.command(
    epilog="Example: weighbridge policy explain billing.refund --user sam --tenant acme "
    """--role support --scope payments:write --args '{"amount": 50}'"""
)
@click.argument("tool", required=False, default="")
@click.option("--resource", default="", metavar="URI", help="A resource, by its server's own URI.")
@click.option("--server", default="", help="The server of the resource.")
@click.option("--prompt", default="", metavar="NAME", help="A prompt, as `server.prompt`.")
@click.option(
    "--method",
    type=click.Choice([each.value for each in Method]),
    help="What is done with it, or what its server asks meanwhile; default: it is used.",
)
@config_option
@folder_option
@click.option("--user", default="somebody", show_default=True)
@click.option("--tenant", default="default", show_default=True)
@click.option("--role", "roles", multiple=True, help="May be given several times.")
@click.option("--scope", "scopes", multiple=True, help="May be given several times.")
@click.option(
    "--phase", type=click.Choice([each.value for each in Phase]), default=Phase.ACTING.value
)
@click.option(
    "--args", "arguments", default="{}", help="The arguments, or a question's params, as JSON."
)
@click.option("--now", type=click.DateTime(["%Y-%m-%dT%H:%M:%S"]), help="In UTC; default: now.")
@json_option
def explain(
    tool: str,
    resource: str,
    server: str,
    prompt: str,
    method: str | None,
    path: Path,
    folder: Path | None,
    user: str,
    tenant: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
    phase: str,
    arguments: str,
    now: datetime | None,
    as_json: bool,
) -> None:
    """Judge one request that nobody makes, and show the word of every check and rule about it.

    TOOL is a name as in policies (billing.refund) or as agents see it (billing__refund); a
    resource or prompt may stand for it.
    """
    kind = _kind(tool, resource, prompt)
    doing = _method(kind, method)
    if server and kind is not Kind.RESOURCE:
        output.fail("`--server` goes with `--resource`; other names have it in them")
    built = _built(path, folder)
    revision = built.revision
    if revision is None:
        output.fail(built.problem, output.EXIT_DOES_NOT_COMPILE)
    if kind is Kind.TOOL:
        expose = load(path).settings.expose if folder is None else ExposeSettings()
        contract = _contract(tool, revision.contracts, expose)
    else:
        contract = read_only(resource or prompt)
    clock = SystemClock().now()
    call = CallUnderTest(
        contract=contract,
        actor=Actor(
            user=user,
            tenant=tenant,
            roles=frozenset(roles),
            scopes=frozenset(scopes),
            client="explain",
            method="explain",
            issuer="explain",
        ),
        phase=Phase(phase),
        arguments=_arguments(arguments),
        now=now.replace(tzinfo=clock.tzinfo) if now is not None else clock,
        pin=contract.pin,
        run_id="",
        effect=contract.effect,
        risk=contract.risk,
        method=doing,
        kind=kind,
        server=server,
    )
    _tell(call, revision, tool, as_json=as_json)


def _tell(call: CallUnderTest, revision: Revision, tool: str, *, as_json: bool) -> None:
    found = trial.verdict(call, revision)
    explanation = explaining.explain(revision.policy, request_of(call))
    name = call.contract.tool
    if as_json:
        about: JsonObject = {"method": call.method.value, call.kind.value: name}
        output.as_json({**about, **explanation.to_json(), "checks": _checks(found)})
        return
    if call.kind is Kind.TOOL and name != tool:
        output.line(f"`{tool}` is `{name}` in contracts and policies")
    for each in found.findings:
        if each.outcome == "refused":
            output.line(f"refused by the {each.step} check: {each.reason}")
    output.line(explanation.text())


def _kind(tool: str, resource: str, prompt: str) -> Kind:
    named = {Kind.TOOL: tool, Kind.RESOURCE: resource, Kind.PROMPT: prompt}
    kinds = [kind for kind, name in named.items() if name]
    if len(kinds) != 1:
        output.fail("name one TOOL, or one `--resource`, or one `--prompt`")
    return kinds[0]


def _method(kind: Kind, named: str | None) -> Method:
    method = USE[kind] if named is None else Method(named)
    if method not in OF[kind] | ASKS:
        output.fail(f"`{method}` is never about a {kind}; {_methods_of(kind)} are")
    return method


def _methods_of(kind: Kind) -> str:
    return ", ".join(f"`{method}`" for method in sorted(OF[kind]))


def _contract(tool: str, contracts: Mapping[str, Contract], expose: ExposeSettings) -> Contract:
    """Find a contract by the tool's own name or by the one that agents see."""
    exposed = by_exposed_name(contracts, naming(expose))
    found = contracts.get(tool) or contracts.get(exposed.get(tool, ""))
    if found is not None:
        return found
    near = difflib.get_close_matches(tool, [*contracts, *exposed], n=1)
    mend = (
        f"did you mean `{exposed.get(near[0], near[0])}`?"
        if near
        else "draft one with `weighbridge tools pin`"
    )
    output.fail(f"there is no contract for `{tool}`; {mend}")


def _arguments(text: str) -> JsonObject:
    try:
        value = jsontext.parse(text)
    except JsonError as error:
        output.fail(f"`--args` is not JSON: {error}")
    if not isinstance(value, dict):
        output.fail("`--args` must be a JSON object")
    return value


def _checks(found: Verdict) -> list[Json]:
    return [
        {"step": each.step, "outcome": each.outcome, "reason": each.reason}
        for each in found.findings
    ]
