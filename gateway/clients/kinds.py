"""Which clients there are, and how each writes down its MCP servers."""

from enum import StrEnum
from pathlib import PurePath
from typing import Final

from gateway.types.values import value


class Syntax(StrEnum):
    """What a file is written in; JSON has comments and trailing commas where clients take them."""

    JSON = "json"
    TOML = "toml"


class Dialect(StrEnum):
    """How values refer to something else."""

    CLAUDE = "claude"  # ${VAR} and ${VAR:-default}
    EDITOR = "editor"  # ${env:VAR}, ${input:id}, ${workspaceFolder} and the like
    NONE = "none"  # texts are texts


@value
class Client:
    """One client: its name, the key over its servers, and what its entries look like."""

    id: str
    title: str
    section: str
    syntax: Syntax = Syntax.JSON
    dialect: Dialect = Dialect.NONE
    says_type: bool = False  # entries begin with `type: stdio`


CLAUDE_CODE: Final = Client(
    id="claude-code",
    title="Claude Code",
    section="mcpServers",
    dialect=Dialect.CLAUDE,
    says_type=True,
)
VS_CODE: Final = Client(
    id="vscode", title="VS Code", section="servers", dialect=Dialect.EDITOR, says_type=True
)
CURSOR: Final = Client(id="cursor", title="Cursor", section="mcpServers", dialect=Dialect.EDITOR)
CODEX: Final = Client(id="codex", title="Codex", section="mcp_servers", syntax=Syntax.TOML)
CLAUDE_DESKTOP: Final = Client(
    id="claude-desktop", title="Claude Desktop", section="mcpServers", dialect=Dialect.NONE
)
CLIENTS: Final = (CLAUDE_CODE, VS_CODE, CURSOR, CODEX, CLAUDE_DESKTOP)


def by_name(path: PurePath) -> Client | None:
    """Say whose file this is by its name and folder; None where these don't tell."""
    name, folder = path.name.lower(), path.parent.name
    if name in {".mcp.json", ".claude.json"}:
        return CLAUDE_CODE
    if name == "claude_desktop_config.json":
        return CLAUDE_DESKTOP
    if path.suffix.lower() == ".toml":
        return CODEX
    if name == "mcp.json":
        if folder == ".cursor":
            return CURSOR
        if folder == ".vscode" or path.parent.parts[-2:] == ("Code", "User"):
            return VS_CODE
    return None


def project_of(client: Client, path: PurePath, home: PurePath | None) -> PurePath | None:
    """Return the folder that a file is about; None for one that holds for a whole user."""
    match client.id:
        case CLAUDE_CODE.id if path.name != ".claude.json":
            found = path.parent
        case VS_CODE.id | CURSOR.id | CODEX.id if path.parent.name.startswith("."):
            found = path.parent.parent
        case _:
            return None
    is_users = found == home and client is not CLAUDE_CODE
    return None if is_users else found
