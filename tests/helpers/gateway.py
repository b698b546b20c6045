"""The real command as a real process, with what a test wants to ask it."""

import asyncio
import io
import json
import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import aiohttp

from tests.helpers import forked

MODERN = "2026-07-28"
# A busy machine is slow, above all at starting processes; what hangs would hang for ever.
WITHIN_S = 30.0
STARTED_WITHIN_S = 180.0
ALLOW = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"


class Process(Protocol):
    """A process of the command."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it has ended."""
        ...

    def send_signal(self, signal: int, /) -> None:
        """Send it a signal."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it."""
        ...

    async def wait(self) -> int:
        """Wait for its end and return the exit code."""
        ...


# The words after `weighbridge`, the file for what it writes, and its environment.
Begin = Callable[[Sequence[str], Path, Mapping[str, str]], Awaitable[Process]]


@dataclass(kw_only=True)
class Gateway:
    """A running `weighbridge serve`."""

    url: str
    process: Process
    folder: Path
    headers: dict[str, str] = field(default_factory=dict[str, str])
    admin: str = ""  # where the listener for people is

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """Send one request of the modern era; returns HTTP status and the JSON-RPC message."""
        params = dict(params or {})
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        } | params.get("_meta", {})
        sent = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
        }
        if "name" in params:
            sent["Mcp-Name"] = params["name"]
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        sent |= {"Content-Type": "application/json"} | self.headers
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=io.BytesIO(body.encode()), headers=sent) as answer,
        ):
            text = await answer.text()
            if answer.content_type == "text/event-stream":
                text = [line[5:] for line in text.split("\n") if line.startswith("data:")][-1]
            return answer.status, json.loads(text)

    async def call(self, name: str, arguments: Any = None, **params: Any) -> dict[str, Any]:
        """Call a tool; returns the tool result."""
        _, message = await self.send(
            "tools/call", {"name": name, "arguments": arguments or {}, **params}
        )
        assert "result" in message, message
        return message["result"]

    async def names(self) -> list[str]:
        """Return the names of the listed tools."""
        _, message = await self.send("tools/list")
        return [tool["name"] for tool in message["result"]["tools"]]

    async def listed(self, *names: str) -> None:
        """Wait until these tools are listed."""
        async with asyncio.timeout(WITHIN_S):
            while not set(names) <= set(await self.names()):
                await asyncio.sleep(0.02)

    def command(self, *words: str, within_s: float = 0.0) -> Any:
        """Run a command of the same configuration and return its JSON; so long until it has one."""
        until = time.monotonic() + within_s
        while True:
            done = forked.ran([*words, "--config", str(self.folder / "config.yaml"), "--json"])
            if done.stdout or time.monotonic() > until:
                break
        assert done.stdout, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def events(self, *filters: str) -> list[dict[str, Any]]:
        """Return the events of the log, oldest first, those of a moment ago as well."""
        time.sleep(0.1)  # what nobody waits for is there within 60 ms, and later on a busy machine
        return self.command("events", "query", "--limit", "100000", *filters, within_s=WITHIN_S)

    async def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop it and return its exit code."""
        self.process.send_signal(number)
        async with asyncio.timeout(WITHIN_S):
            return await self.process.wait()


def outcome(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the gateway says about a result."""
    return result["_meta"]["weighbridge/outcome"]


def text(result: Mapping[str, Any]) -> str:
    """Return the text of a result's first block."""
    return result["content"][0]["text"]


async def spawned(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Process:
    """Start the command as a program of its own, as a shell does: that costs seconds of imports."""
    with log.open("ab") as file:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gateway", *words, stdout=file, stderr=file, env=dict(environ)
        )


@asynccontextmanager
async def running(
    folder: Path,
    config: str,
    *,
    policy: str = ALLOW,
    contracts: str = "",
    environ: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    store: str = "",
    listen: Mapping[str, Any] | None = None,
    admin: Mapping[str, Any] | None = None,
    begin: Begin = forked.started,
) -> AsyncGenerator[Gateway]:
    """Start the real command on free ports; `config` lacks listeners, store and policies.

    `store` is the store section, in YAML on one line; without it there is a `store.db`. `listen`
    and `admin` are more members of those sections, `begin` how the process is started.
    """
    (folder / "policies/contracts").mkdir(parents=True, exist_ok=True)
    (folder / "policies/policy.yaml").write_text(policy)
    if contracts:
        (folder / "policies/contracts/tools.yaml").write_text(contracts)
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    (folder / "config.yaml").write_text(
        f"listen: {json.dumps({'address': '127.0.0.1:0', **(listen or {})})}\n"
        f"admin: {json.dumps({'address': '127.0.0.1:0', **(admin or {})})}\n"
        f"store: {store or f'sqlite:///{folder}/store.db'}\n" + config
    )
    process = await begin(
        ["serve", "--config", str(folder / "config.yaml"), "--ready-file", str(ready)],
        folder / "log.txt",
        {"PATH": "/usr/bin:/bin", "HOME": str(folder), **(environ or {})},
    )
    try:
        async with asyncio.timeout(STARTED_WITHIN_S):
            while not ready.exists():
                if process.returncode is not None:
                    raise AssertionError((folder / "log.txt").read_text())
                await asyncio.sleep(0.02)
        said = json.loads(ready.read_text())
        yield Gateway(
            url=said["url"],
            admin=said["admin"],
            process=process,
            folder=folder,
            headers=dict(headers or {}),
        )
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(WITHIN_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
                raise
