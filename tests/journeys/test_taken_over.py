"""From a client's own file to a governed one, and back: the real command, a real client."""

import json
import stat
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, stdio_command, text, tool

KEY = "sk-a1b2c3d4e5f6a7b8c9d0e1f2"
TOKEN = "correct-horse-battery-staple"


@dataclass(frozen=True)
class Taken:
    """A project whose client was taken over, and what was there before."""

    folder: Path
    before: bytes
    said: Any
    remote: FakeHttp

    @property
    def file(self) -> Path:
        return self.folder / ".mcp.json"

    @property
    def entries(self) -> Any:
        return json.loads(self.file.read_text())["mcpServers"]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Generator[Taken]:
    folder = tmp_path_factory.mktemp("project")
    crm = [sys.executable, "-m", "gateway.demo.crm", "--db", str(folder / "books.db")]
    reply = {"reply": text("found")}
    files = stdio_command(Script(tools=[tool("read_file")]), folder, "files")
    notes = stdio_command(Script(tools=[tool("put_note"), tool("get")]), folder, "notes")
    with FakeHttp(Script(tools=[tool("find")], on_call={"*": [reply]})) as remote:
        entries: Any = {
            "crm": {"command": crm[0], "args": crm[1:]},
            "files": {
                "command": files[0],
                "args": files[1:],
                "env": {"FILES_TOKEN": TOKEN, "LOG_LEVEL": "debug"},
            },
            "My Notes": {"command": notes[0], "args": notes[1:], "alwaysAllow": ["get"]},
            "remote": {
                "type": "http",
                "url": remote.url,
                "headers": {"Authorization": f"Bearer {KEY}"},
            },
            "gone": {"command": "no-such-program-here"},
            "old": {"type": "sse", "url": "https://example.com/sse"},
        }
        file = folder / ".mcp.json"
        file.write_text(json.dumps({"mcpServers": entries, "other": {"kept": True}}, indent=4))
        file.chmod(0o640)
        before = file.read_bytes()
        done = forked.ran(["init", "--from", str(file), "--dir", str(folder), "--yes", "--json"])
        assert done.returncode == 0, done.stderr
        yield Taken(folder, before, json.loads(done.stdout), remote)


async def test_a_client_finds_the_same_tools_behind_one_entry(taken: Taken) -> None:
    entry = taken.entries["weighbridge"]
    server = StdioServerParameters(command=entry["command"], args=entry["args"], cwd="/")
    async with Client(server) as client:
        listed = {each.name for each in (await client.list_tools()).tools}
        answer = await client.call_tool("remote__find", {})
    assert listed == {
        "crm__add_note",
        "crm__delete_customer",
        "crm__get_customer",
        "crm__search_customers",
        "files__read_file",
        "My-Notes__get",
        "My-Notes__put_note",
        "remote__find",
    }
    assert not answer.is_error
    called = taken.remote.calls("tools/call")
    assert [each["headers"]["authorization"] for each in called] == [f"Bearer {KEY}"]
    config = ["--config", str(taken.folder / "config.yaml")]
    events = forked.ran(["events", "query", "--kind", "authorization", *config, "--json"])
    (event,) = [json.loads(line) for line in events.stdout.splitlines()]
    assert event["body"]["rule"] == "starter.read"


def test_secrets_are_in_a_file_for_their_owner_and_nowhere_else(taken: Taken) -> None:
    secrets = taken.folder / "weighbridge.env"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    kept = secrets.read_text()
    assert KEY in kept
    assert TOKEN in kept
    others = [*taken.folder.rglob("*.yaml"), taken.file]
    assert not [each for each in others if KEY in each.read_text() or TOKEN in each.read_text()]
    assert not [each for each in (KEY, TOKEN) if each in json.dumps(taken.said)]


def test_what_cannot_be_taken_over_stays_and_is_named(taken: Taken) -> None:
    assert taken.entries.keys() == {"weighbridge", "old"}
    assert [each["name"] for each in taken.said["left"]] == ["old"]
    ready = {each["client_name"]: each["ready"] for each in taken.said["servers"]}
    assert ready == {
        "crm": True, "files": True, "My Notes": True, "remote": True, "gone": False,
    }  # fmt: skip
    assert "contracts: {unreviewed: observe}" in (taken.folder / "config.yaml").read_text()


def test_the_policy_is_linted_and_its_tests_pass_at_once(taken: Taken) -> None:
    config = ["--config", str(taken.folder / "config.yaml")]
    lint = forked.ran(["policy", "lint", *config, "--json"])
    levels = {
        each["level"] for each in json.loads(lint.stdout) if each["check"] != "unreviewed-tool"
    }
    assert (lint.returncode, levels) == (0, {"info"})
    tested = forked.ran(["policy", "test", *config, "--json"])
    assert (tested.returncode, json.loads(tested.stdout)["failed"]) == (0, 0)
    assert json.loads(tested.stdout)["passed"] >= 6


def test_undo_gives_the_file_back_byte_for_byte(taken: Taken) -> None:
    """Last, as it ends what the others look at; it makes its own again."""
    now = taken.file.read_bytes()
    done = forked.ran(["init", "--undo", "--dir", str(taken.folder)])
    assert done.returncode == 0, done.stderr
    assert taken.file.read_bytes() == taken.before
    assert stat.S_IMODE(taken.file.stat().st_mode) == 0o640
    assert "config.yaml" in done.stdout
    taken.file.write_bytes(now)
