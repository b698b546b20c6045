"""Which client's file it is about."""

from pathlib import Path

import pytest

from gateway.cli import init
from tests.helpers.taken_over import Project

GONE = {"a": {"command": "no-such-program"}}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


def test_the_only_one_is_found(place: Project) -> None:
    Project(place.folder, ".cursor/mcp.json").write(GONE)
    Project(place.folder, ".mcp.json").write({})
    done = place.run("init")
    assert ".cursor/mcp.json (Cursor): 1 server will stand" in done.stdout


def test_of_several_one_has_to_be_named(place: Project) -> None:
    place.write(GONE)
    Project(place.folder, ".vscode/mcp.json").write(GONE, "servers")
    codex = "[mcp_servers.a]\ncommand = 'x'\n"
    Project(place.home, ".codex/config.toml").write(codex)
    done = place.run("init", "--yes")
    assert done.exit_code == 2
    assert done.stderr == (
        "weighbridge: several clients have servers; name one with --from: "
        "`.mcp.json` (Claude Code, 1 server), `.vscode/mcp.json` (VS Code, 1 server), "
        "`home/.codex/config.toml` (Codex, 1 server)\n"
    )


def test_at_a_terminal_it_asks_which(place: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_watched", lambda: True)
    place.write(GONE)
    Project(place.folder, ".vscode/mcp.json").write(GONE, "servers")
    done = place.run("init", asked="2\nn\n")
    assert ".vscode/mcp.json (VS Code): 1 server will stand" in done.stdout
    assert done.exit_code == 1


def test_one_that_is_broken_is_passed_over_for_another(place: Project) -> None:
    place.write("{")
    Project(place.folder, ".vscode/mcp.json").write(GONE, "servers")
    done = place.run("init")
    assert "passed over: " in done.stderr
    assert ".vscode/mcp.json" in done.stdout


def test_the_only_one_that_is_broken_is_the_fault(place: Project) -> None:
    place.write("{")
    done = place.run("init")
    assert done.exit_code == 2
    assert '.mcp.json:1:2: a text in `"` is expected here' in done.stderr


def test_where_none_is_it_says_where_it_looked(place: Project) -> None:
    done = place.run("init")
    assert done.exit_code == 2
    assert "no client's file was found; name one with --from (looked for `.mcp.json`" in done.stderr


def test_a_named_file_that_is_not_there_is_told(place: Project) -> None:
    done = place.run("init", "--from", "none.json")
    assert (done.exit_code, done.stderr) == (2, "weighbridge: none.json: no such file\n")
