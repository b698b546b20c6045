"""Other definitions of tools, as pages and commands take them, and what of a policy they break."""

from collections.abc import Iterable, Mapping, Sequence

from gateway.actions import redefining
from gateway.actions.redefining import Broken
from gateway.contracts import published
from gateway.contracts.published import Definitions
from gateway.errors import FileError
from gateway.replay.redefined import Redefined
from gateway.replay.report import Report
from gateway.revision import Revision
from gateway.types.values import replaced
from gateway.yamltext.models import suggest


def placed(
    data: bytes,
    *,
    file: str,
    servers: Sequence[str],
    revision: Revision,
    server: str = "",
    mend: str = "",
) -> Mapping[str, Definitions]:
    """Return definitions by server, of which each is known; raises FileError.

    `server` is whose they are where the text can't say so itself; `mend` is how to say it.
    """
    found = published.read(data, file=file)
    if not server:
        known_tools = [*revision.contracts]
        found = published.placed(found, file=file, servers=servers, known=known_tools, mend=mend)
    elif [*found] != [""]:
        raise FileError("names its servers itself; leave `SERVER=` out", file=file)
    else:
        found = {server: found[""]}
    known = {*servers, *(tool.partition(".")[0] for tool in revision.contracts)}
    for each in found:
        if each not in known:
            nearest = suggest(each, sorted(known))
            raise FileError(f"no server `{each[:64]}` is known{nearest}", file=file)
    return found


def told(
    report: Report,
    before: Revision,
    after: Redefined,
    *,
    prefix: str,
    roles: Iterable[str],
    servers: Iterable[str],
) -> Report:
    """Return a report about a revision with what is broken beside the tools that break it.

    Raises FileError for policy files that can't be read any more.
    """
    broken: Broken = redefining.broken(
        before, after.revision, prefix=prefix, roles=roles, servers=servers
    )
    tools = tuple(
        replaced(
            each,
            breaks=broken.findings.get(each.tool, ()),
            failing=broken.tests.get(each.tool, ()),
        )
        for each in report.tools
    )
    subject = replaced(report.subject, revision=before.id, definitions=after.revision.id)
    return replaced(report, tools=tools, subject=subject)
