"""The gateway of a demo: one process after the other, at the same addresses."""

import re
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio.to_thread

from gateway.demo.processes import Running, running, weighbridge
from gateway.demo.workspace import Ports, Workspace

_READY: Final = re.compile(r'"url":"(http://127\.0\.0\.1:(\d+)/mcp)","admin":"http://[^":]+:(\d+)"')


@dataclass(slots=True, kw_only=True)
class Gate:
    """The gateway's process; on ports of its own choice the first time, and on these from then."""

    workspace: Workspace
    desk_port: int
    time_server: Path | None
    url: str = ""  # for agents
    ports: Ports = field(default_factory=Ports)
    _process: Running | None = None

    @property
    def admin(self) -> str:
        """Where hosts find `/v1`, without a path."""
        return f"http://127.0.0.1:{self.ports.admin}"

    async def start(self, until: AsyncExitStack) -> None:
        """Start it and wait until it answers; it runs until the stack is left."""
        made = self.workspace
        made.write_config(
            python=sys.executable,
            desk_port=self.desk_port,
            time_server=self.time_server,
            ports=self.ports,
        )
        ready = made.folder / "gateway.ready"
        ready.unlink(missing_ok=True)
        command = [*weighbridge(), "serve"]
        command += ["--config", str(made.config), "--ready-file", str(ready)]
        self._process = until.enter_context(running("gateway", command, made.folder))
        found = await self._process.until(_READY, ready)
        self.url, self.ports = found[1], Ports(listen=int(found[2]), admin=int(found[3]))

    async def restart(self, until: AsyncExitStack) -> None:
        """Have it end as an operator does, and start another one; nothing but the store is left."""
        if self._process is not None:
            await anyio.to_thread.run_sync(self._process.end)
        await self.start(until)
