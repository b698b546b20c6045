"""From a real client's file with five published servers to a governed client, and back."""

import json
import subprocess
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ErrorData

from tests.e2e import tools

KEY = "e2e-0a1b2c3d4e5f6a7b8c9d"
WITHIN_S = 60


async def _no(context: Any, params: Any = None) -> ErrorData:
    return ErrorData(code=-1, message="no")


async def listed(server: str | StdioServerParameters) -> set[str]:
    """What a client that can be asked anything is shown."""
    async with Client(
        server, elicitation_callback=_no, sampling_callback=_no, list_roots_callback=_no
    ) as client:
        return {each.name for each in (await client.list_tools()).tools}


@pytest.fixture
async def remote() -> AsyncGenerator[str]:
    """A published server behind a URL."""
    path = tools.MODULES / "@modelcontextprotocol/server-everything/dist/index.js"
    port = tools.free_port()
    command = (tools.NODE, path, "streamableHttp")
    async with tools.background(*command, environ={"PORT": str(port)}) as process:
        await tools.listens(port, process)
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "note.txt").write_text("hello\n")
    git = ("git", "-C", str(folder), "-c", "user.name=Sam", "-c", "user.email=sam@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "write a note")):
        subprocess.run([*git, *words], check=True)
    return folder


def five(project: Path, remote: str) -> dict[str, Any]:
    """Five servers as people have them."""
    return {
        "everything": tools.server_everything(),
        "files": tools.server_filesystem(project),
        "git": tools.python_server("mcp_server_git", "--repository", str(project)),
        "time": tools.python_server("mcp_server_time"),
        "remote": {"type": "http", "url": remote, "headers": {"Authorization": f"Bearer {KEY}"}},
    }


async def behind(servers: dict[str, Any]) -> set[str]:
    """What five servers show by themselves, by the names that a gateway gives."""
    found: set[str] = set()
    for name, entry in servers.items():
        server = entry.get("url") or StdioServerParameters(
            command=entry["command"], args=entry["args"]
        )
        found |= {f"{name}__{tool}" for tool in await listed(server)}
    return found


async def init(project: Path, *words: str) -> Any:
    command = (tools.WEIGHBRIDGE, "init", *words, "--json")
    code, out, err = await tools.run(*command, cwd=project, timeout_s=120)
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize("client", ["claude-code", "vscode"])
async def test_one_command_governs_five_servers_and_another_one_gives_them_back(
    client: str, project: Path, remote: str
) -> None:
    name, section = {
        "claude-code": (".mcp.json", "mcpServers"),
        "vscode": (".vscode/mcp.json", "servers"),
    }[client]
    servers = five(project, remote)
    body = json.dumps({section: servers}, indent=2)
    file = project / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(body if client == "claude-code" else f"// by hand\n{body[:-2]},\n}}\n")
    before = file.read_bytes()
    alone = await behind(servers)
    began = time.monotonic()
    said = await init(project, "--from", name, "--yes")
    entry = _entry(file, section)
    governed = await listed(
        StdioServerParameters(command=entry["command"], args=entry["args"], cwd=str(project))
    )
    took = time.monotonic() - began
    assert (said["client"], said["left"]) == (client, [])
    assert all(each["ready"] for each in said["servers"]), said
    assert governed == alone
    assert took < WITHIN_S
    assert KEY not in (project / "config.yaml").read_text()
    await init(project, "--undo")
    assert file.read_bytes() == before


def _entry(file: Path, section: str) -> Any:
    text = file.read_text().removeprefix("// by hand\n")
    return json.loads(text.replace("},\n}\n", "}\n}\n"))[section]["weighbridge"]


async def test_claude_code_reaches_the_gateway_in_front_of_the_server_that_it_was_given(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environ = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    program = tools.MODULES / "@anthropic-ai/claude-code/cli-wrapper.cjs"

    async def claude(*words: str) -> str:
        code, out, err = await tools.run(
            tools.NODE, program, "mcp", *words, cwd=tmp_path, environ=environ
        )
        assert code == 0, out + err
        return out

    clock = tools.python_server("mcp_server_time")
    await claude("add", "--scope", "user", "time", "--", clock["command"], *clock["args"])
    before = (home / ".claude.json").read_bytes()
    code, _, err = await tools.run(
        tools.WEIGHBRIDGE, "init", "--yes", cwd=tmp_path, environ=environ
    )
    assert code == 0, err
    listed = await claude("list")
    assert "time:" not in listed
    assert "Connected" in listed, listed
    await init(tmp_path, "--undo", "--force")  # it goes on writing its file
    after = json.loads((home / ".claude.json").read_bytes())
    assert after["mcpServers"] == json.loads(before)["mcpServers"]
    assert "time:" in await claude("list")
