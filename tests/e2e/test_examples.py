"""Each example held against the published server that it is pinned to."""

import asyncio
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client, MCPError, StdioServerParameters

from gateway.contracts import files, writing
from gateway.contracts.pins import pin
from scripts import examples


@dataclass(frozen=True, kw_only=True)
class Try:
    """One call that passes and one that doesn't; `{folder}` is where the example's files are."""

    passes: str
    with_args: dict[str, Any]
    says: str  # in the answer, which without an account or a network is the server's refusal
    refused: str
    for_args: dict[str, Any]
    code: str
    args: tuple[str, ...] = ()  # more for the server, which differ from machine to machine
    places: Mapping[str, str] = field(default_factory=dict[str, str])


FOLDER, SITE = "{folder}", "{site}"
TRIES = {
    "fetch": Try(
        passes="fetch__fetch",
        with_args={"url": "https://docs.python.org/3/"},
        says="Failed to fetch",
        refused="fetch__fetch",
        for_args={"url": "http://169.254.169.254/latest/meta-data"},
        code="private_address",
    ),
    "filesystem": Try(
        passes="files__write_file",
        with_args={"path": f"{FOLDER}/drafts/note.md", "content": "by the agent"},
        says="note.md",
        refused="files__read_text_file",
        for_args={"path": "/etc/passwd"},
        code="outside_of_the_workspace",
        places={"/srv/workspace": FOLDER},
    ),
    "git": Try(
        passes="git__git_log",
        with_args={"repo_path": FOLDER},
        says="begin",
        refused="git__git_diff",
        for_args={"repo_path": FOLDER, "target": "--output=x"},
        code="not_a_name",
        places={"/srv/repository": FOLDER},
    ),
    "github": Try(
        passes="github__get_issue",
        with_args={"owner": "example-org", "repo": "app", "issue_number": 7},
        says="fetch failed",  # the server's own words: it has no network
        refused="github__create_pull_request_review",
        for_args={
            "owner": "example-org",
            "repo": "app",
            "pull_number": 9,
            "body": "Fine.",
            "event": "APPROVE",
        },
        code="people_approve",
    ),
    "memory": Try(
        passes="memory__create_relations",
        with_args={"relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}]},
        says="knows",
        refused="memory__add_observations",
        for_args={"observations": [{"entityName": "Ada", "contents": ["password: tea"]}]},
        code="looks_like_a_credential",
        places={"/srv/memory": FOLDER},
    ),
    "playwright": Try(
        passes="browser__browser_navigate",
        with_args={"url": SITE},
        says="A page of ours",
        refused="browser__browser_navigate",
        for_args={"url": "https://example.com/"},
        code="another_site",
        args=("--no-sandbox", "--executable-path", shutil.which("chromium") or "chromium"),
    ),
    "sqlite": Try(
        passes="sqlite__read_query",
        with_args={"query": "SELECT 6 * 7 AS answer"},
        says="42",
        refused="sqlite__write_query",
        for_args={"query": "DROP TABLE orders"},
        code="never_by_an_agent",
        places={"/srv/data": FOLDER},
    ),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a page on this machine."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text("<title>A page of ours</title><h1>Here</h1>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


def a_folder(path: Path) -> Path:
    """Make what the examples speak of: a repository with a commit, and a folder for drafts."""
    (path / "drafts").mkdir(parents=True)
    git = ("git", "-C", str(path), "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "begin")):
        subprocess.run([*git, *words], check=True)
    return path


def filled(value: Any, folder: Path, site: str) -> Any:
    """Put in the places of this run."""
    return json.loads(json.dumps(value).replace(FOLDER, str(folder)).replace(SITE, site))


async def called(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Call a tool once its server is there; returns what is said, and the gateway's code for it."""
    for _ in range(60):
        try:
            answer = await client.call_tool(tool, arguments)
        except MCPError as error:
            return error.message, ""
        outcome = cast("dict[str, Any]", (answer.meta or {})["weighbridge/outcome"])
        if outcome.get("code") != "downstream_starting":
            text = "".join(getattr(block, "text", "") for block in answer.content)
            return text, outcome.get("code", "")
        await asyncio.sleep(1)
    raise AssertionError("the server does not start")


def test_every_example_is_tried() -> None:
    assert {*TRIES} == {*examples.names()}


@pytest.mark.parametrize("name", sorted(TRIES))
async def test_an_example_fits_its_published_server(name: str, tmp_path: Path, site: str) -> None:
    attempt, folder = TRIES[name], a_folder(tmp_path / "folder")
    places = filled(dict(attempt.places), folder, site)
    config = examples.copied(name, tmp_path, places)
    settings = json.loads(config.read_text())
    for server in settings["servers"].values():
        server["args"] += attempt.args
    config.write_text(json.dumps(settings))

    assert examples.changed(config) == {}, "run `scripts/examples`"

    gateway = StdioServerParameters(
        command=str(examples.WEIGHBRIDGE),
        args=["stdio", "--config", str(config)],
        env={**examples.SECRETS},
        cwd=str(config.parent),
    )
    async with Client(gateway) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert attempt.passes in listed
        said, _ = await called(client, attempt.passes, filled(attempt.with_args, folder, site))
        assert attempt.says in said
        _, code = await called(client, attempt.refused, filled(attempt.for_args, folder, site))
        assert code == attempt.code


def test_another_definition_is_told_and_taken_over_to_be_reviewed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(examples.EXAMPLES / "fetch", tmp_path / "fetch")
    monkeypatch.setattr(examples, "EXAMPLES", tmp_path)
    contract = tmp_path / "fetch/policies/contracts/fetch.yaml"
    (reviewed,) = files.load(contract.read_text(), file="fetch.yaml")
    other = {**reviewed.definition, "description": "Fetches what it likes."}
    contract.write_text(writing.dump([replace(reviewed, definition=other, pin=pin(other))]))

    assert examples.main(["fetch", "--write"]) == 0
    told = capsys.readouterr().out
    assert "fetch: fetch.fetch: changed" in told
    assert "Fetches what it likes." in told
    assert examples.main(["fetch"]) == 1  # until somebody has looked
    assert "fetch: fetch.fetch: unreviewed" in capsys.readouterr().out
    (renewed,) = files.load(contract.read_text(), file="fetch.yaml")
    assert not renewed.reviewed
    assert renewed == replace(reviewed, reviewed=False, place=renewed.place)
