"""How many steps of the interpreter a call takes, from the front to the front.

Steps don't depend on how busy a machine is: the same code takes the same number, give or take who
waits for whom. What C and Rust do is not counted, nor asyncio, uvicorn and other threads. A call's
count is the median of many; what functions took is that of the call in the middle.

    python -m tests.speed.steps             show the counts beside those that are kept
    python -m tests.speed.steps --renew     keep the counts of now, for this version of Python
"""

import argparse
import asyncio
import json
import logging
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, cast
from unittest.mock import patch

from starlette.types import Message
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from gateway.app import start
from gateway.app.gateway import Gateway
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.identity.authenticate import Authenticator
from gateway.listen.direct import CycleDirect, let_pass
from gateway.listen.http import HttpFront
from gateway.listen.joined import Joined
from gateway.types.tools import Contract, Effect
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool
from tests.helpers.gateway import MODERN
from tests.helpers.workspaces import a_workspace
from tests.journeys import house

KEPT: Final = Path(__file__).with_name("steps.json")
TOLERANCE: Final = 0.03  # more than that is a change that somebody meant, or has to mend
_WARM: Final = 4  # calls that fill caches
_CALLS: Final = 11
_ROOT: Final = str(Path(__file__).resolve().parents[2] / "gateway")
_SCHEMA: Final = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text", "n"],
    "additionalProperties": False,
}
_RULE: Final = (
    "  - {{id: other-{n}, decision: deny, code: other, match: {{tools: [alpha.find], "
    "roles: {{any: [role-{n}]}}}}, when: size(args.text) > 90000}}\n"
)
_SERVER_HEADERS: Final[list[tuple[bytes, bytes]]] = []  # the same list for each request of a second
_ALL: Final = "  - {id: all, decision: allow, match: {tools: ['*']}}\n"


@dataclass
class Steps:
    """What one kind of call took, in steps."""

    total: int
    functions: dict[str, int] = field(default_factory=dict[str, int])


class Trace:
    """Counts the steps of this thread, by function."""

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        if not _is_counted(frame.f_code.co_filename):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "opcode":
            self.counts[frame.f_code] += 1
        return self._stepped

    @contextmanager
    def on(self):
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def functions(self) -> Counter[str]:
        """Return the steps of each function."""
        found: Counter[str] = Counter()
        for code, count in self.counts.items():
            found[_named(code)] += count
        return found


def _is_counted(file: str) -> bool:
    # What the HTTP server does is no part of it: the front begins where a request is there.
    return file.startswith(_ROOT) or ("site-packages" in file and "/uvicorn/" not in file)


def _named(code: CodeType) -> str:
    file = code.co_filename
    path = file.removeprefix(_ROOT[: -len("gateway")]).rpartition("site-packages/")[2]
    return f"{path}:{code.co_qualname}"


class Wire(asyncio.Transport):
    """A connection that takes whatever is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False


def _arrived(scope: dict[str, Any], body: bytes, wire: Wire) -> RequestResponseCycle:
    """Return a request of uvicorn's all of which is there before it is looked at, as most are."""
    logger = logging.getLogger("uvicorn.error")
    cycle = RequestResponseCycle(
        scope=cast("Any", scope),
        transport=wire,
        flow=FlowControl(wire),
        logger=logger,
        access_logger=logger,
        access_log=False,
        default_headers=_SERVER_HEADERS,
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=True,
        on_response=_nothing,
    )
    cycle.body += body
    cycle.more_body = False
    return cycle


@dataclass
class World:
    """A gateway in this process, its front, and a server in another thread."""

    gateway: Gateway
    front: HttpFront
    connection: tuple[Wire, Joined]
    session: str = ""
    asked: int = 0

    async def call(self, name: str, **arguments: Any) -> Message:
        """Call a tool, stateless."""
        return await self.request("tools/call", {"name": name, "arguments": arguments})

    async def request(self, method: str, params: house.Json) -> Message:
        """Send a stateless request; returns the result."""
        meta: house.Json = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = [
            (b"mcp-protocol-version", MODERN.encode()),
            (b"mcp-method", method.encode()),
        ]
        if "name" in params:
            headers.append((b"mcp-name", params["name"].encode()))
        return await self._sent(method, {**params, "_meta": meta}, headers)

    async def call_in_session(self, name: str, **arguments: Any) -> Message:
        """Call a tool in a session of the handshake era."""
        headers = [
            (b"mcp-protocol-version", house.LEGACY.encode()),
            (b"mcp-session-id", self.session.encode()),
        ]
        return await self._sent("tools/call", {"name": name, "arguments": arguments}, headers)

    async def begin_session(self) -> None:
        """Do the handshake."""
        await self._sent("initialize", house.hello(), [])

    async def _sent(
        self, method: str, params: house.Json, headers: list[tuple[bytes, bytes]]
    ) -> Message:
        self.asked += 1
        message = {"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}
        body = json.dumps(message).encode()
        pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        answered: list[Message] = []
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "query_string": b"",
            "client": ("127.0.0.1", 4711),
            "headers": [
                (b"host", b"127.0.0.1"),
                (b"content-type", b"application/json"),
                (b"content-length", b"%d" % len(body)),
                (b"accept", b"application/json, text/event-stream"),
                *headers,
            ],
        }
        left = asyncio.get_running_loop().create_future()

        async def receive() -> Message:
            return pieces.pop() if pieces else await left

        async def send(event: Message) -> None:
            answered.append(event)

        wire, joined = self.connection
        wire.written = b""
        let_pass(scope, CycleDirect(_arrived(scope, body, wire), joined))
        await self.front(scope, receive, send)
        if answered:  # by ASGI, as the handshake is
            found = dict(answered[0]["headers"]).get(b"mcp-session-id")
            self.session = found.decode() if found else self.session
            said = b"".join(event.get("body", b"") for event in answered).decode()
        else:
            said = wire.written.partition(b"\r\n\r\n")[2].decode()
        if not said.startswith("{"):
            said = [line[5:] for line in said.splitlines() if line.startswith("data: {")][-1]
        reply: house.Json = json.loads(said)
        assert reply["id"] == self.asked, reply
        return reply["result"]


def _nothing(*parts: object) -> None:
    del parts


@asynccontextmanager
async def a_world(folder: Path, *, rules: int = 0, tools: int = 0) -> AsyncGenerator[World]:
    """Run a gateway whose policy has some more rules, and whose server some more tools."""
    reads = [tool(name, inputSchema=_SCHEMA) for name in ("find", "trim")]
    more = [tool(f"more_{number}", inputSchema=_SCHEMA) for number in range(tools)]
    put = tool("put", inputSchema=_SCHEMA)
    trimmed = (
        "  - {id: trim, decision: allow, match: {tools: [alpha.trim]}, output: {keep: [/name]}}\n"
    )
    policy = "rules:\n" + trimmed + "".join(_RULE.format(n=n) for n in range(rules)) + _ALL
    folder.mkdir()
    contracts: list[Contract] = [house.contract(each) for each in (*reads, *more)]
    contracts.append(house.contract(put, effect=Effect.WRITE))
    with FakeHttp(Script(tools=[*reads, put, *more])) as alpha:
        place = a_workspace(
            folder, {"alpha": house.http(alpha)}, policy=policy, contracts=contracts
        )
        # What runs beside the calls would run within one where a machine is slow.
        async with AsyncExitStack() as stack:
            stack.enter_context(patch.object(start, "start_loops", _nothing))
            gateway = await stack.enter_async_context(place.opened())
            clock = SystemClock()
            authenticator = Authenticator(
                Settings().identity, resource="http://127.0.0.1/mcp", clock=clock
            )
            front = HttpFront(gateway, authenticator, clock=clock)
            async with front.running():
                wire = Wire()
                connection = (wire, Joined(wire, asyncio.get_running_loop()))
                world = World(gateway, front, connection)
                await world.begin_session()
                yield world


async def counted(world: World, kind: str) -> Steps:
    """Count the steps of one kind of call, which has to be answered rightly."""
    calls: list[Counter[str]] = []
    for number in range(_WARM + _CALLS):
        trace = Trace()
        with trace.on():
            result = await _one(world, kind, number)
            # Events of reads are written down by a timer: here all are, before the count is over.
            await world.gateway.store.events.kept()
        assert not result.get("isError"), result
        calls.append(trace.functions())
    calls = calls[_WARM:]
    names = {name for each in calls for name in each}
    medians = {name: round(statistics.median(each[name] for each in calls)) for name in names}
    usual = {name: count for name, count in sorted(medians.items()) if count}
    return Steps(sum(usual.values()), usual)


async def _one(world: World, kind: str, number: int) -> Message:
    text = "x" * 200
    match kind:
        case "read":
            return await world.call("alpha__find", text=text, n=number)
        case "read in a session":
            return await world.call_in_session("alpha__find", text=text, n=number)
        case "write":
            return await world.call("alpha__put", text=text, n=number)
        case "read, minimised":
            return await world.call("alpha__trim", text=text, n=number)
        case _:
            return await world.request("tools/list", {})


KINDS: Final = ("read", "read in a session", "write", "read, minimised", "list")


async def measured(folder: Path) -> dict[str, Steps]:
    """Count every kind of call."""
    async with a_world(folder / "plain") as world:
        return {kind: await counted(world, kind) for kind in KINDS}


def version() -> str:
    """Return the version of Python that counts belong to: its compiler makes the steps."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def kept() -> dict[str, Steps] | None:
    """Return what is kept for this version of Python, None for nothing."""
    found = json.loads(KEPT.read_text()).get(version()) if KEPT.exists() else None
    return {kind: Steps(**each) for kind, each in found.items()} if found is not None else None


def told(kind: str, was: Steps, now: Steps, most: int = 12) -> str:
    """Say by how much a kind of call has grown, and in which functions."""
    change = now.total / was.total - 1
    grown = {
        name: now.functions.get(name, 0) - was.functions.get(name, 0)
        for name in {*now.functions, *was.functions}
    }
    lines = [f"{kind}: {now.total} steps, {was.total} are kept ({change:+.1%})"]
    for name, more in sorted(grown.items(), key=lambda item: -abs(item[1]))[:most]:
        if more:
            both = f"{was.functions.get(name, 0)} -> {now.functions.get(name, 0)}"
            lines.append(f"  {more:+6d}  {name} ({both})")
    return "\n".join(lines)


def renew(found: Mapping[str, Steps]) -> None:
    """Keep these counts for this version of Python, beside those of others."""
    whole: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    whole[version()] = {
        kind: {"total": each.total, "functions": each.functions} for kind, each in found.items()
    }
    KEPT.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--renew", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(Path(folder)))
    before = kept() or {}
    for kind, now in found.items():
        print(told(kind, before.get(kind, now), now))
    if options.renew:
        renew(found)
        print(f"kept for Python {version()} in {KEPT}")


if __name__ == "__main__":
    main()
