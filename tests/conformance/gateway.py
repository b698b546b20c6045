"""The real gateway before one server, in transparent mode, with a policy that allows all of MCP."""

import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

CONFIG = """
servers:
  backend: {{url: "{url}"}}
expose: {{transparent: true}}
contracts: {{unreviewed: observe}}
listen: {{address: "127.0.0.1:{port}"}}
admin: {{address: "127.0.0.1:{admin}"}}
policies: policies
store: sqlite:///weighbridge.db
"""
POLICY = "rules:\n  - {id: everything, decision: allow, match: {methods: ['*']}}\n"
_READY_S = 120.0  # a busy machine is slow at starting processes
_STOP_S = 15.0


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@asynccontextmanager
async def gateway_between(url: str, folder: Path) -> AsyncGenerator[str]:
    """Run `weighbridge serve` before the server at `url`; yields the gateway's own URL."""
    port = free_port()
    (folder / "policies").mkdir()
    (folder / "policies" / "all.yaml").write_text(POLICY)
    text = CONFIG.format(url=url, port=port, admin=free_port())
    (folder / "config.yaml").write_text(text)
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(folder / "config.yaml")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log)
    try:
        with anyio.fail_after(_READY_S):
            while not _listens(port):
                await anyio.sleep(0.05)
            await anyio.sleep(0.5)  # the first list of the server behind it
        yield f"http://localhost:{port}/mcp"
    finally:
        process.terminate()
        process.wait(_STOP_S)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0
