"""Whose a file is, by its name and its folder."""

from pathlib import PurePath

import pytest

from gateway.clients.kinds import (
    CLAUDE_CODE,
    CLAUDE_DESKTOP,
    CODEX,
    CURSOR,
    VS_CODE,
    Client,
    by_name,
    project_of,
)

HOME = PurePath("/home/ana")
PLACES = {
    "/p/.mcp.json": (CLAUDE_CODE, "/p"),
    "/home/ana/.mcp.json": (CLAUDE_CODE, "/home/ana"),
    "/home/ana/.claude.json": (CLAUDE_CODE, None),
    "/p/.vscode/mcp.json": (VS_CODE, "/p"),
    "/home/ana/.config/Code/User/mcp.json": (VS_CODE, None),
    "/p/.cursor/mcp.json": (CURSOR, "/p"),
    "/home/ana/.cursor/mcp.json": (CURSOR, None),
    "/home/ana/.codex/config.toml": (CODEX, None),
    "/p/.codex/config.toml": (CODEX, "/p"),
    "/x/Claude/claude_desktop_config.json": (CLAUDE_DESKTOP, None),
}


@pytest.mark.parametrize("path", PLACES)
def test_a_name_tells_the_client_and_the_project(path: str) -> None:
    client, project = PLACES[path]
    assert by_name(PurePath(path)) is client
    found = project_of(client, PurePath(path), HOME)
    assert found == (None if project is None else PurePath(project))


def test_other_names_tell_nothing() -> None:
    found: Client | None = by_name(PurePath("/p/servers.json"))
    assert found is None
