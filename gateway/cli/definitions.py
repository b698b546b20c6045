"""Files with what `tools/list` gave, as `weighbridge replay --schemas` takes them."""

from collections.abc import Mapping
from pathlib import Path

from gateway.actions import redefining
from gateway.actions.redefining import Broken
from gateway.cli import output
from gateway.cli.options import load
from gateway.config.terms import terms
from gateway.contracts import published
from gateway.contracts.published import Definitions
from gateway.errors import FileError
from gateway.replay.redefined import Redefined, redefined
from gateway.replay.report import Report
from gateway.revision import Revision
from gateway.types.values import replaced
from gateway.yamltext.models import suggest


def given(files: tuple[str, ...], path: Path, revision: Revision) -> Redefined | None:
    """Return what a revision becomes over the definitions in files; None without any."""
    if not files:
        return None
    servers = load(path).settings.servers
    known = {*servers, *(tool.partition(".")[0] for tool in revision.contracts)}
    found: dict[str, Definitions] = {}
    for each in files:
        try:
            some = _read(each, [*servers], revision)
        except FileError as error:
            output.fail(str(error))
        for server in some:
            if server not in known:
                nearest = suggest(server, sorted(known))
                output.fail(f"`{each}`: no server `{server[:64]}` is known{nearest}")
        twice = sorted(found.keys() & some.keys())
        if twice:
            output.fail(f"`{each}`: the tools of `{twice[0]}` are in another file as well")
        found |= some
    return redefined(revision, found)


def _read(said: str, servers: list[str], revision: Revision) -> Mapping[str, Definitions]:
    server, is_named, name = said.partition("=")
    if not is_named or Path(said).exists():
        server, name = "", said
    file = Path(name)
    try:
        with file.open("rb") as opened:
            data = opened.read(published.MAX_BYTES + 1)
    except OSError as error:
        raise FileError(f"can't be read: {(error.strerror or '').lower()}", file=name) from None
    found = published.read(data, file=name)
    if not server:
        return published.placed(found, file=name, servers=servers, known=[*revision.contracts])
    if [*found] != [""]:
        raise FileError("names its servers itself; leave `SERVER=` out", file=name)
    return {server: found[""]}


def broken(path: Path, before: Revision, after: Redefined, prefix: str) -> Broken:
    """Return what the definitions break in the rules, contracts and tests of a revision."""
    settings = load(path).settings
    try:
        return redefining.broken(
            before,
            after.revision,
            prefix=prefix,
            roles=terms(settings).roles,
            servers=settings.servers,
        )
    except FileError as error:
        output.fail(str(error))


def told(report: Report, revision: Revision, after: Redefined, broken: Broken) -> Report:
    """Return a report about a revision with what is broken beside the tools that break it."""
    tools = tuple(
        replaced(
            each,
            breaks=broken.findings.get(each.tool, ()),
            failing=broken.tests.get(each.tool, ()),
        )
        for each in report.tools
    )
    subject = replaced(report.subject, revision=revision.id, definitions=after.revision.id)
    return replaced(report, tools=tools, subject=subject)
