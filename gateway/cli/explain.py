"""`weighbridge policy explain`: one request that nobody makes, and every word about it."""

from datetime import datetime
from pathlib import Path
from typing import assert_never

import click

from gateway import jsontext, yamltext
from gateway.actions import templates, trial
from gateway.app.naming import naming
from gateway.case import Verdict
from gateway.cli import output
from gateway.cli.options import config_option, json_option
from gateway.cli.policies import folder_option, policies
from gateway.cli.targets import Known, of_prompt, of_resource, of_tool
from gateway.clock import SystemClock
from gateway.config.settings import ExposeSettings, Settings
from gateway.errors import FileError, JsonError
from gateway.policy import explain as explaining
from gateway.policy.cases import CallUnderTest, read_only
from gateway.policy.methods import ASKS, OF, USE
from gateway.policy.run_cases import RunUnderTest
from gateway.policy.testing import request_of
from gateway.revision import Revision
from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Bound, Phase
from gateway.types.tools import Kind
from gateway.types.values import replaced


@click.command(
    "explain",
    epilog="Example: weighbridge policy explain billing.refund --user sam --tenant acme "
    """--role support --scope payments:write --args '{"amount": 50}'""",
)
@click.argument("tool", required=False, default="")
@click.option("--resource", default="", metavar="URI", help="A resource, by either of its URIs.")
@click.option("--server", default="", help="The server of the resource or prompt.")
@click.option("--prompt", default="", metavar="NAME", help="A prompt, by any of its names.")
@click.option(
    "--method",
    type=click.Choice([each.value for each in Method]),
    help="What is done with it, or what its server asks meanwhile; default: it is used.",
)
@click.option(
    "--cause",
    type=click.Choice([each.value for each in Cause]),
    default=Cause.CALLER.value,
    help="Why the gateway makes the call by itself.",
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
    "--run",
    "in_run",
    default="",
    metavar="JSON",
    help="""The run of the call, such as '{"template": "refund", "phase": "retrieving"}'.""",
)
@click.option(
    "--args", "arguments", default="{}", help="The arguments, or a question's params, as JSON."
)
@click.option("--now", type=click.DateTime(["%Y-%m-%dT%H:%M:%S"]), help="In UTC; default: now.")
@click.option("--all", "every", is_flag=True, help="Show the rules about other things too.")
@json_option
def command(
    tool: str,
    resource: str,
    server: str,
    prompt: str,
    method: str | None,
    cause: str,
    path: Path,
    folder: Path | None,
    user: str,
    tenant: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...],
    phase: str,
    in_run: str,
    arguments: str,
    now: datetime | None,
    every: bool,
    as_json: bool,
) -> None:
    """Judge one request that nobody makes, and show the word of every check and rule about it.

    TOOL is a name as in policies (billing.refund) or as agents see it (billing__refund); a
    resource or prompt may stand for it. A prompt is server.prompt, its exposed name, or its own
    with --server. A resource's server can't be told from its URI, so name it, unless there is
    only one.
    """
    kind = _kind(tool, resource, prompt)
    doing = _method(kind, method)
    if server and kind is Kind.TOOL:
        output.fail("`--server` goes with `--resource` or `--prompt`; a tool's name has it in it")
    found = policies(path, folder)
    revision = found.built.revision
    if revision is None:
        output.fail(found.built.problem, output.EXIT_DOES_NOT_COMPILE)
    known = _known(revision, found.settings)
    match kind:
        case Kind.TOOL:
            named = of_tool(tool, known)
        case Kind.RESOURCE:
            named = of_resource(resource, server, known)
        case Kind.PROMPT:
            named = of_prompt(prompt, server, known)
        case _:
            assert_never(kind)
    contract = revision.contracts[named.key] if kind is Kind.TOOL else read_only(named.key)
    clock = SystemClock().now()
    at = now.replace(tzinfo=clock.tzinfo) if now is not None else clock
    actor = Actor(
        user=user,
        tenant=tenant,
        roles=frozenset(roles),
        scopes=frozenset(scopes),
        client="explain",
        method="explain",
        issuer="explain",
    )
    bound = _bound(in_run, actor, Phase(phase), at, revision)
    call = CallUnderTest(
        contract=contract,
        actor=actor,
        phase=bound.run.phase if bound is not None else Phase(phase),
        arguments=_arguments(arguments),
        now=at,
        pin=contract.pin,
        run_id=bound.run.run_id if bound is not None else "",
        bound=bound,
        effect=contract.effect,
        risk=contract.risk,
        method=doing,
        kind=kind,
        server=named.server,
        cause=_cause(kind, doing, cause),
    )
    _tell(call, revision, named.note, every=every, as_json=as_json)


def _tell(
    call: CallUnderTest, revision: Revision, note: str, *, every: bool, as_json: bool
) -> None:
    found = trial.verdict(call, revision)
    # Rules are asked in the phase that the call takes its run on to.
    asked = replaced(request_of(call), phase=found.case.phase)
    explanation = explaining.explain(revision.policy, asked, every=every)
    if as_json:
        about: JsonObject = {
            "method": call.method.value,
            call.kind.value: call.contract.tool,
            "server": call.server_name,
            "phase": found.case.phase.value,
            "note": note,
        }
        output.as_json({**about, **explanation.to_json(), "checks": _checks(found)})
        return
    if note:
        output.line(note)
    for each in found.findings:
        if each.outcome == "refused":
            output.line(f"refused by the {each.step} check: {each.reason}")
    if found.case.phase is not call.phase:
        output.line(f"the call takes its run on from {call.phase} to {found.case.phase}")
    output.line(explanation.text())


def _bound(text: str, actor: Actor, phase: Phase, at: datetime, revision: Revision) -> Bound | None:
    """Return the run that a call is said to be made in; ends the command for one that can't be."""
    if not text:
        return None
    known = templates.known(revision.templates)
    try:
        document = yamltext.load(text, file="--run")  # JSON is such a text
        run = yamltext.validate(RunUnderTest, document, file="--run")
    except FileError as error:
        output.fail(str(error))
    fault = run.fault(known)
    if fault:
        output.fail(f"--run: {fault}")
    return run.bound(actor, phase, known, at)


def _known(revision: Revision, settings: Settings | None) -> Known:
    servers = {name.partition(".")[0] for name in revision.contracts}
    if settings is not None:
        servers.update(settings.servers)
    else:
        servers.update(*(rule.matcher.named_servers() for rule in revision.policy.rules))
    return Known(
        servers=sorted(servers),
        is_configured=settings is not None,
        naming=naming(settings.expose if settings is not None else ExposeSettings()),
        contracts=revision.contracts,
    )


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


def _cause(kind: Kind, doing: Method, named: str) -> Cause:
    cause = Cause(named)
    if cause is not Cause.CALLER and (kind is not Kind.TOOL or doing is not Method.CALL_TOOL):
        output.fail("`--cause`: the gateway by itself only calls tools")
    return cause


def _methods_of(kind: Kind) -> str:
    return ", ".join(f"`{method}`" for method in sorted(OF[kind]))


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
