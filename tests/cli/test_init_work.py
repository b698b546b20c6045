"""The work of `init`: what it makes, in which order, and what a failure leaves."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.actions import taking_over
from gateway.cli import init_files, init_work
from gateway.errors import FileError
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool
from tests.helpers.taken_over import Project


@pytest.fixture
def place(tmp_path: Path) -> Project:
    return Project(tmp_path)


def entries(place: Project, section: str = "mcpServers") -> Mapping[str, Any]:
    return json.loads(place.file.read_text())[section]


def test_vs_code_keeps_its_inputs_and_hands_their_values_on(place: Project) -> None:
    code = Project(place.folder, ".vscode/mcp.json")
    server = {**place.server("find"), "env": {"KEY": "${input:key}"}}
    code.write(
        json.dumps({"inputs": [{"id": "key", "type": "promptString"}], "servers": {"a": server}})
    )
    done = code.init("--yes")
    assert done.exit_code == 0, done.stderr
    assert "not started: `a`: INPUT_KEY is not set here; VS Code hands it over" in done.stdout
    assert entries(code, "servers")["weighbridge"]["env"] == {"INPUT_KEY": "${input:key}"}
    assert json.loads(code.file.read_text())["inputs"]
    config = (place.folder / "config.yaml").read_text()
    assert f"cwd: {place.folder}" in config


def test_a_default_that_is_a_secret_starts_the_server_and_is_not_in_the_configuration(
    place: Project,
) -> None:
    server = {**place.server("find"), "env": {"API_KEY": "${NO_SUCH_KEY:-hunter2}"}}
    place.write({"a": server})
    done = place.init("--yes")
    assert done.exit_code == 0, done.stderr
    assert "not started" not in done.stdout
    assert "contracts drafted: 1" in done.stdout
    made = [each for each in place.folder.rglob("*.yaml") if "hunter2" in each.read_text()]
    assert made == []
    assert entries(place)["weighbridge"]["env"] == {"NO_SUCH_KEY": "${NO_SUCH_KEY:-hunter2}"}


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("claude_desktop_config.json", {"command": "", "args": ["stdio", "--config"]}),
        (".mcp.json", {"type": "stdio", "command": "", "args": ["stdio", "--config"]}),
    ],
)
def test_each_client_gets_an_entry_of_its_own_form(
    place: Project, name: str, entry: dict[str, Any]
) -> None:
    other = Project(place.folder, name)
    other.write({"a": {"command": "no-such-program", "args": ["${A}"]}})
    assert other.init("--yes").exit_code == 0
    found = dict(entries(other)["weighbridge"])
    command, *words = init_work.own_command()
    args = [*words, *entry["args"], str(place.folder / "config.yaml")]
    found.pop("env", None)
    assert found == {**entry, "command": command, "args": args}
    has_references = name == ".mcp.json"
    config = (place.folder / "config.yaml").read_text()
    assert ('"${A}"' if has_references else '"$${A}"') in config


@pytest.mark.parametrize(
    ("mode", "mask", "config"), [(0o600, 0o022, 0o600), (0o644, 0o077, 0o600), (0o644, 0, 0o644)]
)
def test_what_nobody_else_could_read_stays_so(
    place: Project, mode: int, mask: int, config: int
) -> None:
    place.write({"a": {"command": "no-such-program", "args": ["-p", "hunter2"]}})
    place.file.chmod(mode)
    before = os.umask(mask)
    try:
        assert place.init("--yes").exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((place.folder / "config.yaml").stat().st_mode) == config


def test_codex_keeps_its_comments(place: Project) -> None:
    codex = Project(place.folder, ".codex/config.toml")
    server = place.server("find")
    text = (
        f"# mine\nmodel = 'x' # yes\n\n[mcp_servers.a]\ncommand = {json.dumps(server['command'])}\n"
    )
    codex.write(f"{text}args = {json.dumps(server['args'])}\n\n# other\n[other]\n")
    done = codex.init("--yes")
    assert done.exit_code == 0, done.stderr
    after = codex.file.read_text()
    assert after.startswith("# mine\nmodel = 'x' # yes\n\n[mcp_servers.weighbridge]\ncommand = ")
    assert after.endswith("startup_timeout_sec = 60\n\n# other\n[other]\n")
    assert (place.folder / "policies/contracts/a.yaml").exists()


def test_a_server_that_wants_a_login_stays_with_the_client_that_has_it(place: Project) -> None:
    refused = [{"http": 401}]
    with FakeHttp(Script(on_discover=refused, on_initialize=refused)) as remote:
        place.write({"login": {"url": remote.url}, "a": place.server("find")})
        done = place.init("--yes", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["left"] == [
        {"name": "login", "reason": "wants a login, which the client does"}
    ]
    assert entries(place).keys() == {"weighbridge", "login"}


def test_secrets_are_for_their_owner_and_version_control_leaves_them_out(place: Project) -> None:
    place.write({"a": {**place.server("find"), "env": {"API_KEY": "hunter2"}}})
    assert place.init("--yes").exit_code == 0
    secrets = place.folder / "weighbridge.env"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert "API_KEY=hunter2" in secrets.read_text()
    assert "weighbridge.env" in (place.folder / ".gitignore").read_text()
    texts = [each.read_text() for each in place.folder.rglob("*.yaml")]
    assert texts
    assert not [each for each in texts if "hunter2" in each]
    assert all(each.startswith("# yaml-language-server: $schema=") for each in texts)


def test_a_gitignore_that_is_there_is_not_touched_but_spoken_of(place: Project) -> None:
    (place.folder / ".gitignore").write_text("x\n")
    place.write({"a": {"command": "no-such-program", "env": {"API_KEY": "hunter2"}}})
    done = place.init("--yes")
    assert "keep `weighbridge.env` and `" in done.stdout
    assert (place.folder / ".gitignore").read_text() == "x\n"


@pytest.mark.parametrize("name", ["config.yaml", "policies", "weighbridge.env"])
def test_nothing_that_is_there_is_overwritten(place: Project, name: str) -> None:
    before = place.write({"a": {"command": "no-such-program"}})
    (place.folder / name).mkdir()
    done = place.init("--yes")
    assert done.exit_code == 2
    assert "is not overwritten; choose another folder with `--dir`" in done.stderr
    assert (place.file.read_bytes(), place.made()) == (before, [name])
    other = place.folder / "other"
    assert place.run("init", "--from", str(place.file), "--dir", str(other), "--yes").exit_code == 0
    assert entries(place)["weighbridge"]["args"][-1] == str(other / "config.yaml")


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (init_work, "inspect"),
        (taking_over, "secrets"),
        (init_files, "back_up"),
        (init_files, "record_text"),
        (init_files, "swap"),
    ],
)
def test_whatever_fails_before_the_switch_leaves_everything_as_it_was(
    place: Project, module: Any, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise FileError("can't be written: no space", file="x")

    before = place.write({"a": {**place.server("find"), "env": {"API_KEY": "hunter2"}}})
    monkeypatch.setattr(module, function, fails)
    done = place.init("--yes")
    assert done.exit_code == 2
    assert "x: can't be written: no space" in done.stderr
    assert (place.file.read_bytes(), place.made()) == (before, [])


def test_tools_that_cannot_be_written_down_keep_no_server_out(place: Project) -> None:
    odd = tool("odd", inputSchema={"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}})
    with FakeHttp(Script(tools=[odd, tool("find")])) as remote:
        place.write({"a": {"url": remote.url}})
        done = place.init("--yes", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["contracts"] == 1


def test_the_command_is_absolute() -> None:
    assert Path(init_work.own_command()[0]).is_absolute()
