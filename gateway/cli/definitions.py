"""Files with what `tools/list` gave, as `weighbridge replay --schemas` takes them."""

from collections.abc import Mapping
from pathlib import Path

from gateway.admin import redefinitions
from gateway.cli import output
from gateway.cli.options import load
from gateway.config.terms import terms
from gateway.contracts import published
from gateway.contracts.published import Definitions
from gateway.errors import FileError
from gateway.replay.redefined import Redefined, redefined
from gateway.replay.report import Report
from gateway.revision import Revision


def given(files: tuple[str, ...], path: Path, revision: Revision) -> Redefined | None:
    """Return what a revision becomes over the definitions in files; None without any."""
    if not files:
        return None
    servers = [*load(path).settings.servers]
    found: dict[str, Definitions] = {}
    for each in files:
        try:
            some = _read(each, servers, revision)
        except FileError as error:
            output.fail(str(error))
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
    return redefinitions.placed(data, file=name, servers=servers, revision=revision, server=server)


def told(report: Report, path: Path, revision: Revision, after: Redefined, prefix: str) -> Report:
    """Return a report with what the definitions break in rules, contracts and tests."""
    settings = load(path).settings
    try:
        return redefinitions.told(
            report,
            revision,
            after,
            prefix=prefix,
            roles=terms(settings).roles,
            servers=settings.servers,
        )
    except FileError as error:
        output.fail(str(error))
