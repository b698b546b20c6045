"""Supervised servers for tests: started, waited for, and stopped again."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from gateway.clock import SystemClock
from gateway.errors import AskRefused
from gateway.servers.entry import Entry, Timeouts
from gateway.servers.fleet import Servers
from gateway.servers.names import Naming
from gateway.servers.opening import Surroundings
from gateway.servers.supervisor import Server
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivered, Delivery, Undelivered
from gateway.types.relay import Outbound
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, stdio_command, until_async

# Ratios as in the product, scaled down.
QUICK = Timeouts(
    start_s=5.0,
    probe_s=1.0,
    stop_eof_s=1.0,
    stop_term_s=0.5,
    backoff_min_s=0.05,
    backoff_slow_s=0.2,
    backoff_max_s=0.5,
    wake_gap_s=0.1,
    wake_wait_s=0.5,
    healthy_s=0.2,
)


def stdio_entry(script: Script, folder: Path, name: str = "alpha", **more: Any) -> Entry:
    """Return an entry that runs a script as a process."""
    command, *args = stdio_command(script, folder, name)
    settings: dict[str, Any] = {"timeouts": QUICK, **more}
    return Entry(name=name, command=command, args=tuple(args), **settings)


def http_entry(fake: FakeHttp, name: str = "alpha", **more: Any) -> Entry:
    """Return an entry that calls a running fake."""
    settings: dict[str, Any] = {"timeouts": QUICK, **more}
    return Entry(name=name, url=fake.url, **settings)


@asynccontextmanager
async def running(
    *entries: Entry,
    folder: Path = Path(),
    environment: Mapping[str, str] | None = None,
    naming: Naming | None = None,
    wait_s: float = 5.0,
    asks: Callable[[str], JsonObject] = lambda _: {},
) -> AsyncGenerator[Servers]:
    """Run servers until the block ends; each was listed or has failed once before, or `wait_s`."""
    around = Surroundings(
        environment={"PATH": "/usr/bin:/bin"} if environment is None else environment,
        folder=folder,
        clock=SystemClock(),
        mask=lambda text: text,
        asks=asks,
    )
    servers = Servers(entries, around, naming or Naming())
    async with anyio.create_task_group() as tasks:
        await tasks.start(servers.run)
        await servers.first_lists(wait_s)
        yield servers
        tasks.cancel_scope.cancel()


Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
Ask: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]


@dataclass
class Listener:
    """Hears what a server says to one call, and answers what it asks."""

    report: Progress | None = None
    answer: Ask | None = None
    logged: list[JsonObject] = field(default_factory=list[JsonObject])
    asked: list[tuple[str, JsonObject]] = field(default_factory=list[tuple[str, JsonObject]])
    done: list[str] = field(default_factory=list[str])  # elicitations

    @property
    def wants_progress(self) -> bool:
        return self.report is not None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        assert self.report is not None
        await self.report(progress, total, message)

    async def log(self, params: JsonObject) -> None:
        self.logged.append(params)

    async def completed(self, elicitation_id: str) -> None:
        self.done.append(elicitation_id)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        self.asked.append((method, params))
        if self.answer is None:
            raise AskRefused(-32601, f"{method} is not offered")
        return await self.answer(method, params)


async def call(
    server: Server | None,
    name: str = "echo",
    arguments: JsonObject | None = None,
    *,
    is_read: bool = False,
    deadline_s: float = 5.0,
    ear: Listener | None = None,
    **more: Any,
) -> Delivery:
    """Call a tool by its own name."""
    meta = more.pop("meta", None)
    on_progress = more.pop("on_progress", None)
    params: JsonObject = {"name": name, "arguments": arguments or {}}
    if meta:
        params["_meta"] = meta
    if on_progress:
        ear = Listener(report=on_progress)
    return await send(
        server, Method.CALL_TOOL, params, ear, is_read=is_read, deadline_s=deadline_s, **more
    )


async def send(
    server: Server | None,
    method: Method,
    params: JsonObject,
    ear: Listener | None = None,
    *,
    is_read: bool = False,
    deadline_s: float = 5.0,
    **more: Any,
) -> Delivery:
    """Send any request; `more` are members of the Outbound."""
    assert server is not None
    outbound = Outbound(
        method=method, params=params, deadline_s=deadline_s, is_read=is_read, **more
    )
    return await server.request(outbound, ear)


async def until_status(server: Server | None, status: str) -> None:
    """Wait until a server has a status."""
    assert server is not None
    await until_async(lambda: server.state.status == status)


def failed(delivery: Delivery) -> Undelivered:
    """Return a delivery that has to be a failure."""
    assert isinstance(delivery, Undelivered), delivery
    return delivery


def structured(delivery: Delivery) -> Any:
    """Return the structured data of a delivery that has to be a success."""
    assert isinstance(delivery, Delivered), delivery
    return delivery.result["structuredContent"]


def first_text(delivery: Delivery) -> Any:
    """Return the text of the first block of a success."""
    assert isinstance(delivery, Delivered), delivery
    content: Any = delivery.result["content"]
    return content[0]["text"]
