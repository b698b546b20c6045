"""What taking a client's servers over comes to: plain data in, the texts of files out."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Final

from gateway.actions import starter
from gateway.clients import entries, files, finding, kinds, names, translating
from gateway.clients.entries import Entry, Left
from gateway.clients.files import ClientFile
from gateway.clients.kinds import Client
from gateway.clients.references import Around
from gateway.clients.translating import Translated, Variables
from gateway.config import env_file
from gateway.config import load as loading
from gateway.errors import FileError
from gateway.types.json import Json, JsonObject
from gateway.types.values import value
from gateway.yamltext import layout
from gateway.yamltext.editors import schema_line

CONFIG: Final = "config.yaml"
SECRETS: Final = "weighbridge.env"
POLICIES: Final = "policies"
_OURS: Final = "weighbridge"
_HEAD: Final = """\
# Written by `weighbridge init` from the servers of {title}. Every key: docs/reference/config.md

# observe: every call passes, and what would have been decided is recorded. enforce: it is done.
# `weighbridge enforce` switches.
mode: observe
"""
_SECRETS: Final = f"""
# The values of the references below; mode 600, and not for version control.
env_file: {SECRETS}
"""
_CONTRACTS: Final = """
# Drafts of contracts count until you have reviewed them (`weighbridge tools review`); `refuse`
# then keeps out whatever nobody has looked at.
contracts: {unreviewed: observe}
"""
_NAMES: Final = """
# Clients put a prefix such as `mcp__weighbridge__` before names, and models take 64 characters.
expose: {max_name: 46}
"""
_ENV_HEAD: Final = """\
# Secrets of the servers in config.yaml, taken from the file of {title} by `weighbridge init`.
# NAME=value a line. Keep it out of version control.
"""


@value
class Plan:
    """What would happen to a client's file: who moves, who stays, and what is needed for it.

    `values` are secrets for the file of variables; `passed` says by variable how the client's own
    entry hands it to the gateway. With `governed`, the name of a gateway that is there, nothing is
    to be done.
    """

    source: ClientFile
    taken: tuple[Translated, ...] = ()
    left: tuple[Left, ...] = ()
    values: Mapping[str, str]
    passed: Mapping[str, str]
    governed: str = ""

    @property
    def name(self) -> str:
        """The name of the gateway's entry: like no server that stays."""
        stay = {each.name for each in self.left}
        numbered = (f"{_OURS}-{number}" for number in range(2, len(stay) + 3))
        return next(each for each in (_OURS, *numbered) if each not in stay)


def plan(
    source: ClientFile,
    path: PurePath,
    environ: Mapping[str, str],
    leave: Mapping[str, str] | None = None,
) -> Plan:
    """Say what becomes of each server of a file at `path`; `leave`: who stays besides, and why."""
    home = PurePath(environ["HOME"]) if environ.get("HOME") else None
    for name, each in source.servers.items():
        if entries.is_ours(name, each):
            return Plan(source=source, values={}, passed={}, governed=name)
    around = Around(
        project=kinds.project_of(source.client, path, home),
        home=home,
        inherited=finding.inherited(source.client, environ),
    )
    found = [entries.read(name, each, source.client) for name, each in source.servers.items()]
    left = {each.name: each for each in found if isinstance(each, Left)}
    left |= {name: Left(name=name, reason=why) for name, why in (leave or {}).items()}
    readable = [each for each in found if isinstance(each, Entry)]
    # The same names whoever stays: servers were started by them.
    ours = names.names(each.name for each in readable)
    wanted = [each for each in readable if each.name not in left]
    taken, variables = _taken(wanted, ours, source.client, around)
    left |= {each.name: each for each in taken if isinstance(each, Left)}
    return Plan(
        source=source,
        taken=tuple(each for each in taken if isinstance(each, Translated)),
        left=tuple(left[name] for name in source.servers if name in left),
        values=variables.values,
        passed=variables.passed,
    )


def _taken(
    wanted: Sequence[Entry], ours: Mapping[str, str], client: Client, around: Around
) -> tuple[list[Translated | Left], Variables]:
    """Put servers into our words; a second time without those that no configuration can have."""
    variables = Variables(translating.referred(wanted, client, around))
    taken = [
        translating.translated(each, ours[each.name], client, around, variables) for each in wanted
    ]
    faults = {
        each.entry.name: Left(name=each.entry.name, reason=fault)
        for each in taken
        if isinstance(each, Translated) and (fault := _fault(each, variables.values))
    }
    if not faults:
        return taken, variables
    rest = [each for each in wanted if each.name not in faults]
    others, variables = _taken(rest, ours, client, around)
    return [*others, *faults.values()], variables


def _fault(made: Translated, values: Mapping[str, str]) -> str:
    """Say why a configuration can't have a server; nothing if it can."""
    text = layout.block({"servers": {made.name: made.section}})
    try:
        loading.of_text(text, Path("/", CONFIG), values)
    except FileError as error:
        return f"can't be configured: {error.message}"
    return ""


def config(made: Plan) -> str:
    """Return the configuration."""
    parts = [schema_line("config"), _HEAD.format(title=made.source.client.title)]
    if made.values:
        parts.append(_SECRETS)
    return "".join((*parts, _CONTRACTS, _NAMES, "\n", starter.IDENTITY, "\n", servers(made)))


def servers(made: Plan) -> str:
    """Return the servers alone: a configuration to start them by."""
    return layout.block({"servers": {each.name: each.section for each in made.taken}})


def secrets(made: Plan) -> str:
    """Return the file of variables."""
    return _ENV_HEAD.format(title=made.source.client.title) + env_file.write(made.values)


def entry(made: Plan, command: Sequence[str], config: PurePath) -> JsonObject:
    """Return the client's entry for the gateway; `command` begins with an absolute path."""
    program, *words = command
    args: list[Json] = [*words, "stdio", "--config", str(config)]
    patience_s = max((each.entry.timeout_s or 0 for each in made.taken), default=0)
    said: JsonObject = {"type": "stdio"} if made.source.client.says_type else {}
    return {
        **said,
        "command": program,
        "args": args,
        **translating.passing(made.passed, made.source.client, patience_s),
    }


def switched(made: Plan, given: JsonObject) -> str:
    """Return the client's text with its entry for the gateway in the place of the servers."""
    gone = {each.entry.name for each in made.taken}
    return files.switched(made.source, gone, made.name, given)
