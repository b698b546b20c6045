"""The sixteen ways from a caller to a server, and the four without the gateway in between."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.helpers import forked
from tests.helpers.gateway import Gateway, running
from tests.journeys import house as journeys
from tests.matrix.fixtures import CAPABILITIES, TOOLS, Json
from tests.matrix.wires import WITHIN_S, Wire, over_http, over_pipes, over_stdio

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("modern-http", "legacy-http", "modern-stdio", "legacy-stdio")
POLICY = "rules:\n  - {id: everything, decision: allow, match: {methods: ['*']}}\n"
ASK_S = 2
# Only what changes nothing is given up when its caller takes it back.
SLOW = next(tool for tool in TOOLS if tool["name"] == "slow")
CONTRACTS = journeys.contracts(*(journeys.contract(SLOW, kind) for kind in KINDS))
_SECTIONS: Json = {
    "contracts": {"unreviewed": "observe"},
    "limits": {"ask_timeout": f"{ASK_S}s"},
}


def is_modern(kind: str) -> bool:
    """Whether a kind of caller or server speaks the stateless era."""
    return kind.startswith("modern")


@dataclass(kw_only=True)
class Servers:
    """The four servers as one gateway, or a direct client, has them."""

    folder: Path
    urls: dict[str, str]
    more: Json = field(default_factory=dict[str, Any])  # members of every entry

    def command(self, kind: str) -> list[str]:
        """Return the command of one over stdio."""
        era = kind.partition("-")[0]
        return [sys.executable, "-m", "tests.matrix.server", kind, era, str(self.folder)]

    def entry(self, kind: str) -> Json:
        """Return its entry in a configuration."""
        era: Json = {"protocol": kind.partition("-")[0], **self.more}
        if kind in self.urls:
            return {"url": self.urls[kind], **era}
        command, *args = self.command(kind)
        environ = {"PYTHONPATH": str(ROOT)}
        return {"command": command, "args": args, "env": environ, **era}

    def config(self, **more: Any) -> str:
        """Return the configuration of a gateway before all of them."""
        servers = {kind: self.entry(kind) for kind in KINDS}
        sections = {"servers": servers, **_SECTIONS, **more}
        return "".join(f"{key}: {json.dumps(value)}\n" for key, value in sections.items())


@dataclass(kw_only=True)
class House:
    """Everything that runs; connections are made once and kept."""

    stack: AsyncExitStack
    folder: Path
    urls: dict[str, str]
    gateway: Gateway
    places: dict[tuple[str, bool], Path] = field(default_factory=dict[tuple[str, bool], Path])
    _wires: dict[tuple[str, str, bool], Wire] = field(
        default_factory=dict[tuple[str, str, bool], Wire]
    )

    async def direct(self, kind: str, *, asks: bool = False) -> Wire:
        """Return a client of a server's own kind, straight at it."""
        key = ("direct", kind, asks)
        if key not in self._wires:
            more: Json = {"modern": is_modern(kind), "capabilities": CAPABILITIES if asks else {}}
            if kind in self.urls:
                wire = over_http(self.urls[kind], **more)
            else:
                command = Servers(folder=_made(self.folder / "direct"), urls={}).command(kind)
                wire = over_stdio(command, environ={"PYTHONPATH": str(ROOT)}, **more)
            self._wires[key] = await self.stack.enter_async_context(wire)
        return self._wires[key]

    async def caller(self, kind: str, *, asks: bool = False) -> Wire:
        """Return a client of the gateway; `asks`: one that may be asked."""
        key = ("through", kind, asks)
        if key not in self._wires:
            more: Json = {"modern": is_modern(kind), "capabilities": CAPABILITIES if asks else {}}
            if kind.endswith("http"):
                self.places[kind, asks] = self.gateway.folder
                wire = over_http(self.gateway.url, **more)
            else:
                folder = _made(self.folder / f"{kind}-{asks}")
                self.places[kind, asks] = folder
                wire = _hosted(folder, self.urls, **more)
            self._wires[key] = await self.stack.enter_async_context(wire)
            self._wires[key].makes_keys = True
            await ready(self._wires[key])
        return self._wires[key]

    def record(self, caller: str, server: str, *, asks: bool = False) -> "Record":
        """Return what a server was sent by the gateway of a caller."""
        over_pipe = self.places[caller, asks] / f"{server}.calls"
        return Record(self.folder / f"{server}.calls" if server in self.urls else over_pipe)

    def change(self, caller: str, server: str, what: Json, *, asks: bool = False) -> None:
        """Let a server change its lists, update resources, or end elicitations."""
        self.record(caller, server, asks=asks).path.with_suffix(".change").write_text(
            json.dumps(what)
        )


@dataclass(frozen=True)
class Record:
    """What a server received."""

    path: Path

    def messages(self, method: str | None) -> list[Json]:
        """Return the messages of one method, oldest first; without one, the responses."""
        lines = self.path.read_bytes().splitlines() if self.path.exists() else []
        found: list[Json] = [json.loads(line) for line in lines]
        return [message for message in found if message.get("method") == method]

    def call(self, mark: str) -> Json | None:
        """Return the call with this argument, once it is there."""
        calls = self.messages("tools/call")
        found = (each for each in calls if each["params"]["arguments"].get("mark") == mark)
        return next(found, None)


async def ready(wire: Wire) -> None:
    """Wait until a gateway shows all that its servers offer."""
    async with asyncio.timeout(3 * WITHIN_S):
        while len((await wire.request("tools/list")).result["tools"]) < len(KINDS) * len(TOOLS):
            await asyncio.sleep(0.05)


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


@asynccontextmanager
async def _hosted(folder: Path, urls: dict[str, str], **more: Any) -> AsyncGenerator[Wire]:
    config = Servers(folder=folder, urls=urls).config()
    journeys.prepare(folder, config, policy=POLICY, contracts=CONTRACTS)
    process = await forked.hosted(
        ["stdio", "--config", str(folder / "config.yaml")],
        folder / "log.txt",
        {"PATH": "/usr/bin:/bin"},
    )
    async with over_pipes(process, **more) as wire:
        yield wire


@asynccontextmanager
async def served(kind: str, folder: Path, *more: str) -> AsyncGenerator[str]:
    """Run one server over HTTP and yield its URL; `more` are words of its command."""
    port = folder / f"{kind}.port"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.matrix.server",
        kind,
        kind.partition("-")[0],
        str(folder),
        str(port),
        *more,
        cwd=ROOT,
    )
    try:
        async with asyncio.timeout(WITHIN_S):
            while not (port.exists() and port.read_text()):
                await asyncio.sleep(0.02)
        yield f"http://127.0.0.1:{port.read_text()}/mcp"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def all_served(folder: Path, *more: str) -> AsyncGenerator[dict[str, str]]:
    """Run the servers over HTTP and yield their URLs by kind; `more` as with `served`."""
    async with AsyncExitStack() as stack:
        kinds = [kind for kind in KINDS if kind.endswith("http")]
        starting = (stack.enter_async_context(served(kind, folder, *more)) for kind in kinds)
        yield dict(zip(kinds, await asyncio.gather(*starting), strict=True))


@asynccontextmanager
async def built(folder: Path) -> AsyncGenerator[House]:
    """Run the servers and a gateway over HTTP before them."""
    async with AsyncExitStack() as stack:
        urls = await stack.enter_async_context(all_served(folder))
        inside = _made(folder / "served")
        config = Servers(folder=inside, urls=urls).config()
        gateway = await stack.enter_async_context(
            running(inside, config, policy=POLICY, contracts=CONTRACTS)
        )
        house = House(stack=stack, folder=folder, urls=urls, gateway=gateway)
        # The slow part is the start of a process, so all of them start at once.
        await asyncio.gather(
            *(house.caller(kind) for kind in KINDS), house.caller("legacy-stdio", asks=True)
        )
        yield house
