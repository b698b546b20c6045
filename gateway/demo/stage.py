"""Everything that runs while the script is played: the desk, the gateway, and two agents."""

import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio
import httpx2

from gateway import ids
from gateway.demo.agent import Agent, connected
from gateway.demo.processes import DemoFault, running, weighbridge
from gateway.demo.script import ACME, CHANGED_TOOL, Step
from gateway.demo.workspace import Workspace
from gateway.types.outcomes import Status

_PORT: Final = re.compile(r"\d+")
_URL: Final = re.compile(r"http://127\.0\.0\.1:\d+/mcp")
_READY_S: Final = 30.0
_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What the play needs to know about the running parts."""

    workspace: Workspace
    agents: Mapping[str, Agent]  # by tenant
    url: str  # of the gateway
    desk_url: str  # of the desk, without a path
    trace: str

    async def ready(self, script: Sequence[Step]) -> None:
        """Wait for the tools: the gateway answers at once and never waits for its servers."""
        wanted = {step.tool for step in script if step.status is Status.OK}

        async def listed() -> bool:
            return wanted <= await self.agents[ACME].tools()

        if not await _comes_true(listed):
            missing = wanted - await self.agents[ACME].tools()
            raise DemoFault(f"the gateway does not list {', '.join(sorted(missing))}")

    async def rewrite(self) -> None:
        """Let the desk publish another definition, and wait until the gateway has seen it."""
        async with httpx2.AsyncClient() as http:
            (await http.post(f"{self.desk_url}/demo/rewrite")).raise_for_status()

        async def gone() -> bool:
            return CHANGED_TOOL not in await self.agents[ACME].tools()

        await _comes_true(gone)  # if not, the call that follows shows it


@asynccontextmanager
async def raised(folder: Path, time_server: Path | None) -> AsyncGenerator[Stage]:
    """Start the desk, the gateway and the agents; end them in the opposite order."""
    made = Workspace.create(folder)
    trace = ids.trace_id()
    async with AsyncExitStack() as stack:
        port_file = folder / "desk.port"
        desk = stack.enter_context(running("desk", _desk_command(made, port_file), folder))
        port = int((await desk.until(_PORT, port_file))[0])
        made.write_config(python=sys.executable, desk_port=port, time_server=time_server)
        ready = folder / "gateway.ready"
        command = [
            *weighbridge(),
            "serve",
            "--config",
            str(made.config),
            "--ready-file",
            str(ready),
        ]
        gateway = stack.enter_context(running("gateway", command, folder))
        url = (await gateway.until(_URL, ready))[0]
        agents = {
            tenant: await stack.enter_async_context(connected(url, key, trace))
            for tenant, key in made.keys.items()
        }
        yield Stage(
            workspace=made,
            agents=agents,
            url=url,
            desk_url=f"http://127.0.0.1:{port}",
            trace=trace,
        )


def _desk_command(made: Workspace, port_file: Path) -> Sequence[str]:
    module = [sys.executable, "-m", "gateway.demo.desk"]
    return [*module, "--db", str(made.books.path), "--port-file", str(port_file)]


async def _comes_true(condition: Callable[[], Awaitable[bool]]) -> bool:
    with anyio.move_on_after(_READY_S):
        while not await condition():  # noqa: ASYNC110 - another process can't set an event of ours
            await anyio.sleep(_POLL_S)
        return True
    return False
