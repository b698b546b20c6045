"""Real clients in front, real servers behind."""

import json
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from gateway.identity.apikeys import new_api_key
from tests.e2e import tools
from tests.helpers.gateway import ALLOW, Gateway, outcome, running, spawned, text

OBSERVE = "contracts: {unreviewed: observe}\n"


LISTED = ("everything__echo", "files__write_file", "git__git_log", "time__get_current_time")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "note.txt").write_text("řemeslník\n")
    git = ("git", "-C", str(folder), "-c", "user.name=Sam", "-c", "user.email=sam@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "write a note")):
        subprocess.run([*git, *words], check=True)
    return folder


@pytest.fixture
async def gateway(tmp_path: Path, files: Path) -> AsyncGenerator[Gateway]:
    made = new_api_key("e2e", user="sam", tenant="acme")
    config = (
        tools.servers(
            everything=tools.server_everything(),
            files=tools.server_filesystem(files),
            git=tools.python_server("mcp_server_git", "--repository", str(files)),
            time=tools.python_server("mcp_server_time"),
        )
        + OBSERVE
        + f"identity:\n  api_keys:\n    {made.config_line}\n"
    )
    headers = {"Authorization": f"Bearer {made.key}"}
    async with running(tmp_path, config, headers=headers, begin=spawned) as gateway:
        await gateway.listed(*LISTED)
        yield gateway


@pytest.fixture
def stdio_config(tmp_path: Path) -> Path:
    """A configuration for `weighbridge stdio`."""
    folder = tmp_path / "stdio"
    (folder / "policies").mkdir(parents=True)
    (folder / "policies/all.yaml").write_text(ALLOW)
    config = folder / "config.yaml"
    config.write_text(
        tools.servers(everything=tools.server_everything()) + OBSERVE + "store: sqlite:///e2e.db\n"
    )
    return config


async def test_four_published_servers_answer_and_each_call_has_one_final_event(
    gateway: Gateway, files: Path
) -> None:
    new = {"path": str(files / "new.txt"), "content": "from an agent"}
    said = [
        text(await gateway.call("everything__get-sum", {"a": 19, "b": 23})),
        text(await gateway.call("git__git_log", {"repo_path": str(files)})),
        text(await gateway.call("time__get_current_time", {"timezone": "Europe/Prague"})),
        text(await gateway.call("files__write_file", new)),
    ]
    for words, answer in zip(("42", "write a note", "Europe/Prague", "new.txt"), said, strict=True):
        assert words in answer
    assert (files / "new.txt").read_text() == "from an agent"
    assert await gateway.stop() == 0
    events = gateway.events("--kind", "tool_call")
    ended = [each["body"]["tool"] for each in events if each["stage"] == "finished"]
    assert sorted(ended) == [
        "everything.get-sum",
        "files.write_file",
        "git.git_log",
        "time.get_current_time",
    ]


def key_of(gateway: Gateway) -> str:
    return gateway.headers["Authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize("generation", ["v1", "v2", "v2-modern"])
async def test_the_official_typescript_client(gateway: Gateway, generation: str) -> None:
    arguments = json.dumps({"message": "hello"})
    code, out, err = await tools.node(
        "client.mjs", generation, gateway.url, key_of(gateway), "everything__echo", arguments
    )
    assert code == 0, err
    said = json.loads(out)
    assert "files__read_text_file" in said["tools"]
    assert "hello" in said["result"]["content"][0]["text"]
    assert outcome(said["result"])["status"] == "ok"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_official_python_client_over_http(
    gateway: Gateway, files: Path, mode: Any
) -> None:
    async with httpx2.AsyncClient(headers=gateway.headers) as http:
        transport = streamable_http_client(gateway.url, http_client=http)
        async with Client(transport, mode=mode) as client:
            listed = await client.list_tools()
            assert "time__get_current_time" in {tool.name for tool in listed.tools}
            answer = await client.call_tool(
                "files__read_text_file", {"path": str(files / "note.txt")}
            )
    assert not answer.is_error
    assert "řemeslník" in answer.content[0].text  # type: ignore[union-attr] - a text block


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_official_python_client_over_stdio(stdio_config: Path, mode: Any) -> None:
    server = StdioServerParameters(
        command=str(tools.WEIGHBRIDGE), args=["stdio", "--config", str(stdio_config)]
    )
    async with Client(server, mode=mode) as client:
        listed = await client.list_tools()
        assert "everything__echo" in {tool.name for tool in listed.tools}
        answer = await client.call_tool("everything__echo", {"message": "hi"})
    assert "hi" in answer.content[0].text  # type: ignore[union-attr] - a text block


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_inspector_on_the_command_line(gateway: Gateway, era: str) -> None:
    inspector = tools.MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    common = (
        "--cli",
        gateway.url,
        *("--transport", "http", "--protocol-era", era),
        *("--header", f"Authorization: {gateway.headers['Authorization']}"),
    )
    code, out, err = await tools.run(tools.NODE, inspector, *common, "--method", "tools/list")
    assert code == 0, err
    assert "everything__echo" in out
    code, out, err = await tools.run(
        tools.NODE,
        inspector,
        *common,
        *("--method", "tools/call", "--tool-name", "everything__echo"),
        *("--tool-arg", "message=hello"),
    )
    assert code == 0, err
    assert "hello" in out


async def test_the_inspector_starts_the_gateway_over_stdio(stdio_config: Path) -> None:
    inspector = tools.MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    command = (tools.WEIGHBRIDGE, "stdio", "-c", stdio_config)  # `--config` is the inspector's own
    code, out, err = await tools.run(
        tools.NODE, inspector, "--cli", *command, "--method", "tools/list"
    )
    assert code == 0, out + err
    assert "everything__echo" in out


async def claude(folder: Path, *words: str | Path) -> str:
    """Run Claude Code as someone who never used it; returns what it prints."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environ = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    program = tools.MODULES / "@anthropic-ai/claude-code/cli-wrapper.cjs"
    code, out, err = await tools.run(tools.NODE, program, *words, cwd=folder, environ=environ)
    assert code == 0, out + err
    return out


async def test_claude_code_adds_and_reaches_the_gateway(gateway: Gateway, tmp_path: Path) -> None:
    header = f"Authorization: {gateway.headers['Authorization']}"
    add = ("mcp", "add", "--transport", "http", "weighbridge", gateway.url, "--header", header)
    await claude(tmp_path, *add)
    listed = await claude(tmp_path, "mcp", "list")
    assert f"weighbridge: {gateway.url}" in listed
    assert "Connected" in listed, listed


async def test_claude_code_starts_the_gateway_over_stdio(
    stdio_config: Path, tmp_path: Path
) -> None:
    command = (tools.WEIGHBRIDGE, "stdio", "--config", stdio_config)
    await claude(tmp_path, "mcp", "add", "weighbridge", "--", *command)
    listed = await claude(tmp_path, "mcp", "list")
    assert "Connected" in listed, listed
