"""Everything that runs while the script is played: the desk, the gateway, and two agents."""

import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, assert_never

import anyio
import httpx2

from gateway import ids
from gateway.demo.agent import Agent, connected
from gateway.demo.gate import Gate
from gateway.demo.host import Host
from gateway.demo.processes import DemoFault, Running, running
from gateway.demo.scene import ACME, Cue, Line, Step
from gateway.demo.script import CHANGED_TOOL
from gateway.demo.workspace import Workspace
from gateway.types.outcomes import Status

_PORT: Final = re.compile(r"\d+")
READY_S: Final = 30.0
_POLL_S: Final = 0.1


@dataclass(slots=True, kw_only=True)
class Desk:
    """The desk's process, on the same port however often it is started."""

    workspace: Workspace
    port: int = 0  # 0 until it was started once
    _process: Running | None = None

    @property
    def url(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self, until: AsyncExitStack) -> None:
        """Start it, when the one before has ended; it runs until the stack is left."""
        if not await _comes_true(self._has_ended):
            raise DemoFault("the desk has not ended")
        port_file = self.workspace.folder / "desk.port"
        port_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "gateway.demo.desk"]
        options = {"db": self.workspace.books.path, "port": self.port, "port-file": port_file}
        command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._process = until.enter_context(running("desk", command, self.workspace.folder))
        self.port = int((await self._process.until(_PORT, port_file))[0])

    async def _has_ended(self) -> bool:
        return self._process is None or self._process.process.poll() is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What the play needs to know about the running parts."""

    workspace: Workspace
    agents: Mapping[str, Agent]  # by tenant
    gate: Gate
    desk: Desk
    until: AsyncExitStack  # left at the end of the play
    trace: str

    @property
    def host(self) -> Host:
        """The program around the agents of one tenant."""
        return Host(url=self.gate.admin, key=self.workspace.host_key)

    async def ready(self, script: Sequence[Line]) -> None:
        """Wait for the tools: the gateway answers at once and never waits for its servers."""
        await self._lists(
            {line.tool for line in script if isinstance(line, Step) and line.status is Status.OK}
        )

    async def _lists(self, wanted: Set[str]) -> None:
        async def listed() -> bool:
            return wanted <= await self.agents[ACME].tools()

        if not await _comes_true(listed):
            missing = wanted - await self.agents[ACME].tools()
            raise DemoFault(f"the gateway does not list {', '.join(sorted(missing))}")

    async def cue(self, cue: Cue) -> None:
        """Have happen what a line of the script needs; raises DemoFault."""
        match cue:
            case Cue.REWRITE:
                await self._tell_desk(cue)
                await _comes_true(self._is_rewritten)  # if not, the call that follows shows it
            case Cue.LOSE_THE_TICKETS_ANSWER | Cue.DIE_IN_THE_REFUND:
                await self._tell_desk(cue)
            case Cue.RESTART_THE_GATEWAY:
                before = await self.agents[ACME].tools()
                await self.gate.restart(self.until)
                await self._lists(before)
            case Cue.RESTART_THE_DESK:
                await self.desk.start(self.until)
                if not await _comes_true(self._is_desk_back):
                    raise DemoFault("the gateway does not reach the desk again")
            case _:
                assert_never(cue)

    async def _tell_desk(self, cue: Cue) -> None:
        async with httpx2.AsyncClient() as http:
            (await http.post(f"{self.desk.url}{cue.value}")).raise_for_status()

    async def _is_rewritten(self) -> bool:
        return CHANGED_TOOL not in await self.agents[ACME].tools()

    async def _is_desk_back(self) -> bool:
        """Whether a read of it gets through; after an outage the gateway waits between attempts."""
        said = await self.agents[ACME].call(Step(tenant=ACME, shows="", tool=CHANGED_TOOL))
        return said.status == Status.OK


@asynccontextmanager
async def raised(folder: Path, time_server: Path | None) -> AsyncGenerator[Stage]:
    """Start the desk, the gateway and the agents; end them in the opposite order."""
    made = Workspace.create(folder)
    trace = ids.trace_id()
    async with AsyncExitStack() as stack:
        desk = Desk(workspace=made)
        await desk.start(stack)
        gate = Gate(workspace=made, desk_port=desk.port, time_server=time_server)
        await gate.start(stack)
        agents = {
            tenant: await stack.enter_async_context(connected(gate.url, key, trace))
            for tenant, key in made.keys.items()
        }
        yield Stage(workspace=made, agents=agents, gate=gate, desk=desk, until=stack, trace=trace)


async def _comes_true(condition: Callable[[], Awaitable[bool]]) -> bool:
    with anyio.move_on_after(READY_S):
        while not await condition():  # noqa: ASYNC110 - another process can't set an event of ours
            await anyio.sleep(_POLL_S)
        return True
    return False
