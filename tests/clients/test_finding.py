"""The usual places of clients' files."""

from pathlib import PurePath

from gateway.clients.finding import inherited, places
from gateway.clients.kinds import CODEX, VS_CODE


def paths(platform: str, home: str | None = "/h", **environ: str) -> list[str]:
    given = None if home is None else PurePath(home)
    return [str(each.path) for each in places(PurePath("/p"), given, platform, environ)]


def test_the_projects_files_come_before_the_users() -> None:
    assert paths("linux") == [
        "/p/.mcp.json",
        "/p/.vscode/mcp.json",
        "/p/.cursor/mcp.json",
        "/p/.codex/config.toml",
        "/h/.claude.json",
        "/h/.config/Code/User/mcp.json",
        "/h/.cursor/mcp.json",
        "/h/.codex/config.toml",
        "/h/.config/Claude/claude_desktop_config.json",
    ]


def test_a_mac_keeps_them_in_its_library() -> None:
    assert "/h/Library/Application Support/Claude/claude_desktop_config.json" in paths("darwin")


def test_the_environment_can_move_them() -> None:
    found = paths("linux", CODEX_HOME="/c", XDG_CONFIG_HOME="/x", CLAUDE_CONFIG_DIR="/d")
    assert {
        "/c/config.toml",
        "/x/Claude/claude_desktop_config.json",
        "/d/.claude.json",
    } <= set(found)


def test_a_home_that_is_the_project_is_not_looked_at_twice() -> None:
    found = paths("linux", home="/p")
    assert len(found) == len(set(found))


def test_without_a_home_there_is_the_project() -> None:
    assert len(paths("linux", home=None)) == 4


def test_what_the_machine_has_set_is_inherited_where_the_client_hands_on_everything() -> None:
    environ = {"HTTPS_PROXY": "http://p", "no_proxy": "", "AWS_SECRET_ACCESS_KEY": "x"}
    assert inherited(VS_CODE, environ) == ("HTTPS_PROXY",)
    assert inherited(CODEX, environ) == ()
