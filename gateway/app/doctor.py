"""Checks of everything a gateway needs, before it runs: one mend for each finding."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import anyio.to_thread

from gateway import __version__, ids
from gateway.actions import revisions
from gateway.actions.crew import absent, worker_of
from gateway.actions.state import is_dead
from gateway.app import sealing
from gateway.app.inspect import Inspection, everything, inspect
from gateway.app.signing import OFF, key_path, signer_of
from gateway.app.surfaces import lacks
from gateway.clock import SystemClock
from gateway.config.addresses import is_private_url
from gateway.config.load import Loaded
from gateway.config.terms import terms
from gateway.contracts.standing import in_words, tally
from gateway.errors import ConfigurationError, FileError, StoreUnavailable
from gateway.events.envelope import Origin
from gateway.identity.authenticate import Authenticator
from gateway.identity.provider import Provider
from gateway.policy.findings import Level
from gateway.revision import Revision, Unreviewed
from gateway.servers.state import ServerStatus
from gateway.store import key_files
from gateway.store.store import Store
from gateway.telemetry import environment as telemetry
from gateway.types.decisions import Mode

_FRESH: Final = timedelta(seconds=10)  # a running gateway writes every two seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One thing that was looked at."""

    part: str  # config, servers, policies, contracts, approvals, identity, store, workers, log, …
    ok: bool
    found: str
    mend: str = ""


async def examine(
    loaded: Loaded, folder: Path, environ: Mapping[str, str]
) -> tuple[Diagnosis, ...]:
    """Look at every part; each look is bounded, and none changes anything but a probe of the
    store.
    """
    found: list[Diagnosis] = [*_config(loaded)]
    built = await anyio.to_thread.run_sync(_build, loaded)
    revision = built.revision
    # As the gateway would: what a server may ask decides which of its tools there are.
    asks = everything if revision is None else revision.policy.questions
    inspection = await inspect(loaded, folder, environ, asks=asks)
    found += _servers(inspection, revision)
    found += _policies(built)
    if revision is not None:
        observes = loaded.settings.mode is Mode.OBSERVE
        found += _contracts(inspection, revision, observes=observes)
        found += _approvals(loaded, revision)
    found += await _identity(loaded)
    found += await _provider(loaded)
    found.append(await _store(loaded))
    if found[-1].ok:
        found += await _workers(loaded)
        found += await _log(loaded)
        if revision is not None and any(each.audit.seal for each in revision.contracts.values()):
            found.append(await _sealing(loaded))
    found += _telemetry(environ)
    return tuple(found)


def _config(loaded: Loaded) -> Iterator[Diagnosis]:
    yield Diagnosis(part="config", ok=True, found="the configuration can be read")
    for warning in loaded.warnings:
        yield Diagnosis(part="config", ok=False, found=warning, mend="see the configuration page")
    if loaded.settings.mode is Mode.OBSERVE:
        yield Diagnosis(
            part="config",
            ok=True,
            found="`mode: observe`: every call passes, and decisions are only recorded; "
            "`weighbridge enforce` ends that",
        )
    if not loaded.settings.servers:
        yield Diagnosis(
            part="config",
            ok=False,
            found="there are no servers",
            mend="add entries under `servers`, as in an agent client's `mcpServers`",
        )


def _build(loaded: Loaded) -> revisions.Built:
    settings = loaded.settings
    try:
        texts = revisions.read(settings.policies)
    except FileError as error:
        return revisions.Built(revision=None, errors=revisions.each(error))
    return revisions.build(
        texts,
        unreviewed=Unreviewed(settings.contracts.unreviewed),
        at=SystemClock().now(),
        prefix=f"{settings.policies}/",
        servers=settings.servers,
        terms=terms(settings),
    )


def _tools(inspection: Inspection, server: str, revision: Revision | None) -> str:
    """Count as `weighbridge status` does; without a policy nothing is exposed yet."""
    tools = [tool for tool in inspection.tools if tool.server == server]
    if revision is None:
        return f"{len(tools)} published"
    observe = revision.unreviewed is Unreviewed.OBSERVE
    return in_words(tally(tools, revision.contracts, observe=observe))


def _servers(inspection: Inspection, revision: Revision | None) -> Iterator[Diagnosis]:
    for state in inspection.states:
        if state.status is ServerStatus.READY and not state.list_error:
            version = f"{state.transport}, MCP {state.version}"
            yield Diagnosis(
                part="servers",
                ok=True,
                found=f"`{state.name}` answers ({version}); tools: "
                f"{_tools(inspection, state.name, revision)}",
            )
        else:
            reason = state.list_error or state.reason or f"it is {state.status}"
            yield Diagnosis(
                part="servers",
                ok=False,
                found=f"`{state.name}`: {reason}",
                mend=f"run its command or open its URL by hand; then mend `servers.{state.name}`",
            )
        for tool in state.quarantined:
            where = f" at `{tool.pointer}`" if tool.pointer else ""
            yield Diagnosis(
                part="servers",
                ok=False,
                found=f"`{state.name}.{tool.name}` is kept back: {tool.reason}{where}",
                mend="tell the server's author; its other tools work",
            )
    for name, reason in inspection.misconfigured.items():
        yield Diagnosis(
            part="servers",
            ok=False,
            found=f"`{name}`: {reason}",
            mend="set the variable, or write `${NAME:-default}`",
        )


def _policies(built: revisions.Built) -> Iterator[Diagnosis]:
    if built.problem:
        yield Diagnosis(
            part="policies",
            ok=False,
            found=built.problem,
            mend="mend a rule, or what the test expects"
            if built.report is not None and built.report.failed
            else "mend that line; for a first folder, run `weighbridge tools pin`",
        )
        return
    warnings = [each for each in built.findings if each.level is Level.WARNING]
    tests = len(built.report.results) if built.report is not None else 0
    yield Diagnosis(
        part="policies", ok=True, found=f"the policy compiles and {tests} tests of it pass"
    )
    if warnings:
        yield Diagnosis(
            part="policies",
            ok=True,
            found=f"the linter has {len(warnings)} warnings; see `weighbridge policy lint`",
        )


def _contracts(
    inspection: Inspection, revision: Revision, *, observes: bool
) -> Iterator[Diagnosis]:
    """Look at each tool's contract; all are exposed where drafts count.

    Drafts that count are one finding: right after `weighbridge init` every tool is one.
    """
    reviewed, drafts = 0, list[str]()
    counts = observes or revision.unreviewed is Unreviewed.OBSERVE
    so = "" if counts else ", so it is not exposed"
    for tool in inspection.tools:
        contract = revision.contracts.get(tool.key)
        if tool.quarantine is not None:
            continue  # told with its server
        if contract is None:
            yield Diagnosis(
                part="contracts",
                ok=False,
                found=f"`{tool.key}` has no contract{so}",
                mend="run `weighbridge tools pin`, then `weighbridge tools review`",
            )
        elif not contract.reviewed and counts:
            drafts.append(tool.key)
        elif not contract.reviewed:
            yield Diagnosis(
                part="contracts",
                ok=False,
                found=f"the contract of `{tool.key}` is not reviewed{so}",
                mend=f"run `weighbridge tools review {tool.key}`, or look at {contract.place}",
            )
        elif contract.pin != tool.pin:
            yield Diagnosis(
                part="contracts",
                ok=False,
                found=f"`{tool.key}` is not what was reviewed{'' if observes else ', and blocked'}",
                mend=f"run `weighbridge tools diff {tool.key}`, then `tools pin {tool.key}`",
            )
        else:
            reviewed += 1
    if drafts:
        shown = ", ".join(f"`{key}`" for key in drafts[:3])
        more = f" and {len(drafts) - 3} more" if len(drafts) > 3 else ""
        yield Diagnosis(
            part="contracts",
            ok=False,
            found=f"drafts count, though nobody has reviewed them: {shown}{more}",
            mend="run `weighbridge tools review`, which walks them one by one",
        )
    told = "1 tool is" if reviewed == 1 else f"{reviewed} tools are"
    yield Diagnosis(part="contracts", ok=True, found=f"{told} as reviewed")


def _approvals(loaded: Loaded, revision: Revision) -> Iterator[Diagnosis]:
    rules = [
        (rule.id, rule.approval)
        for rule in revision.policy.rules
        if rule.approval is not None and not rule.shadow
    ]
    if not rules:
        return
    wrong = [*lacks(rules, loaded.settings)]
    for each in wrong:
        yield Diagnosis(part="approvals", ok=False, found=each.found, mend=each.mend)
    if not wrong:
        many = f"{len(rules)} rules hold calls" if len(rules) > 1 else "1 rule holds calls"
        where = loaded.settings.admin.url
        if loaded.settings.accounts:
            where += " and in a terminal"
        yield Diagnosis(
            part="approvals", ok=True, found=f"{many}, and people can decide at {where}"
        )
    if not loaded.settings.approvals.webhooks:
        yield Diagnosis(
            part="approvals",
            ok=True,
            found="nobody is told of requests; `approvals.webhooks` tells a chat or a program",
        )


async def _identity(loaded: Loaded) -> tuple[Diagnosis, ...]:
    settings = loaded.settings
    if not settings.identity.jwt:
        return ()
    authenticator = Authenticator(
        settings.identity, resource=settings.listen.resource, clock=SystemClock()
    )
    problems = await authenticator.renew()
    if not problems:
        return (Diagnosis(part="identity", ok=True, found="the keys of every issuer can be had"),)
    return tuple(
        Diagnosis(
            part="identity",
            ok=False,
            found=f"keys of an issuer: {problem}",
            mend="look at `jwks_url` or `jwks_file` under `identity.jwt`; tokens need the keys",
        )
        for problem in problems
    )


async def _provider(loaded: Loaded) -> tuple[Diagnosis, ...]:
    oidc = loaded.settings.admin.oidc
    if oidc is None:
        return ()
    provider = Provider(oidc, clock=SystemClock(), is_trusted=is_private_url)
    problem = await provider.problem()
    if not problem:
        found = f"people can log in at `{oidc.issuer}`"
        return (Diagnosis(part="identity", ok=True, found=found),)
    return (
        Diagnosis(
            part="identity",
            ok=False,
            found=f"nobody can log in at the identity provider: {problem}",
            mend="look at `admin.oidc.issuer`, and whether the provider can be reached from here",
        ),
    )


async def _store(loaded: Loaded) -> Diagnosis:
    try:
        await anyio.to_thread.run_sync(_open_and_close, loaded.settings.store.url)
    except (StoreUnavailable, ConfigurationError) as error:
        return Diagnosis(
            part="store",
            ok=False,
            found=str(error),
            mend="start the database, or correct `store`"
            if loaded.settings.store.url.startswith("postgres")
            else "make the place writable, or set `store`",
        )
    return Diagnosis(part="store", ok=True, found="the store can be used")


async def _workers(loaded: Loaded) -> tuple[Diagnosis, ...]:
    """Say which workers run, where several serve one port; nothing where none does."""
    store = await anyio.to_thread.run_sync(_opened, loaded.settings.store.url)
    try:
        told = await store.instances.all()
    finally:
        await anyio.to_thread.run_sync(store.close)
    now = SystemClock().now()
    running = [one.status for one in told if now - one.at < _FRESH and not is_dead(one.status)]
    workers = sorted(str(each) for each in map(worker_of, running) if each is not None)
    if not workers:
        return ()
    said = ", ".join(f"worker {each}" for each in workers)
    mend = "its parent starts it anew; the log says why it ended"
    return (
        Diagnosis(part="workers", ok=True, found=f"running: {said}"),
        *(Diagnosis(part="workers", ok=False, found=each, mend=mend) for each in absent(running)),
    )


async def _log(loaded: Loaded) -> tuple[Diagnosis, ...]:
    """Say whether the event log is made provable, and can be."""
    settings = loaded.settings.events.checkpoints
    path = key_path(loaded.settings)
    if path is None:
        return (_unproven(OFF, "then set `events.checkpoints.key` to its file, on each gateway"),)
    if settings.key is None and not path.exists():
        said = "the first checkpoint of the event log makes its key, beside the store"
        return (Diagnosis(part="log", ok=True, found=said),)
    try:
        signer = await anyio.to_thread.run_sync(signer_of, path, settings)
    except ConfigurationError as error:
        return (_unproven(str(error), "look at `events.checkpoints`"),)
    found: list[Diagnosis] = []
    if key_files.is_open(path):
        mend = f"take the others' rights away: `chmod 600 {path}`"
        found.append(_unproven(f"`{path}`: others can read the key for checkpoints", mend))
    said = f"checkpoints of the event log are signed as `{signer.name}`"
    if not settings.to:
        said += "; none leaves the store, `events.checkpoints.to` names places outside of it"
    return (*found, Diagnosis(part="log", ok=True, found=said))


async def _sealing(loaded: Loaded) -> Diagnosis:
    """Say whether calls can be sealed whose contracts want that, and what was sealed be opened."""
    store = await anyio.to_thread.run_sync(_opened, loaded.settings.store.url)
    try:
        last = await store.sealed.newest_key()
    finally:
        await anyio.to_thread.run_sync(store.close)
    problem, mend = sealing.examined(loaded.settings, last)
    said = problem or "sealed copies of arguments have their key"
    return Diagnosis(part="log", ok=not problem, found=said, mend=mend)


def _unproven(found: str, mend: str) -> Diagnosis:
    return Diagnosis(part="log", ok=False, found=found, mend=mend)


def _opened(url: str) -> Store:
    return Store.open(url, origin=Origin(instance=ids.new("doctor"), version=__version__))


def _open_and_close(url: str) -> None:
    _opened(url).close()


def _telemetry(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    variables = telemetry.read(environ)
    for warning in variables.warnings:
        yield Diagnosis(part="telemetry", ok=False, found=warning, mend="see the telemetry page")
    if variables.exports:
        yield Diagnosis(part="telemetry", ok=True, found="spans and metrics are exported")
    else:
        yield Diagnosis(
            part="telemetry",
            ok=True,
            found="nothing is exported; set `OTEL_EXPORTER_OTLP_ENDPOINT` to see traces",
        )
