"""The load: callers that check every answer and time every call.

python -m bench.load SPEC (JSON): `port` or `argv` (for stdio), `tool`, `key`, `size`, `seconds`,
`concurrency`, `first` (the number of the first call), `era` (modern or handshake), `kind` (echo,
rows, kept, hangar, list). Prints calls, wrong answers, calls a second, and p50, p95, p99 in µs.
"""

import asyncio
import itertools
import sys
import time
from collections.abc import Awaitable, Callable

import orjson
import psutil
import uvloop

from bench.client import Connection, Whole
from bench.downstream import COUNT, rows

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
OUTCOME = "weighbridge/outcome"
_LATE_S = 90.0
_SESSIONS = 16  # of all callers: gateways bound how many one principal has
Ask = Callable[[str, dict, int], Awaitable[dict]]


class Http:
    """One caller over HTTP, on a connection of its own; in the handshake era with a session."""

    def __init__(self, spec: dict) -> None:
        self.connection = Connection("127.0.0.1", spec["port"])
        self.is_modern = spec.get("era", "modern") == "modern"
        version = "2026-07-28" if self.is_modern else "2025-11-25"
        lines = [
            "POST /mcp HTTP/1.1",
            "host: 127.0.0.1",
            "content-type: application/json",
            "accept: application/json, text/event-stream",
            f"mcp-protocol-version: {version}",
        ]
        if spec.get("key"):
            lines.append(f"authorization: Bearer {spec['key']}")
        self.head = ("\r\n".join(lines) + "\r\n").encode()
        self.heads: dict[tuple[str, str], bytes] = {}

    async def begin(self) -> None:
        if self.is_modern:
            return
        first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
        answer = Whole()
        await self.connection.exchange(self.head, orjson.dumps(first), answer)
        if "result" not in message_of(answer.body):
            raise ConnectionError(f"no session: {answer.body[:200]!r}")
        session = answer.headers.get(b"mcp-session-id")
        if session is not None:
            self.head += b"mcp-session-id: " + session + b"\r\n"
        await self._sent(self.head, {"method": "notifications/initialized"}, {})

    def join(self, other: "Http") -> None:
        """Use the session of another caller, over a connection of its own."""
        self.head = other.head

    async def __call__(self, method: str, params: dict, number: int) -> dict:
        head = self.head
        if self.is_modern:
            key = (method, params.get("name", ""))
            head = self.heads.get(key) or self.heads.setdefault(key, self._head(*key))
            params = {**params, "_meta": META}
        status, body = await self._sent(head, {"id": number, "method": method}, params)
        reply = message_of(body)
        return reply if status == 200 else {"status": status, **reply}

    def _head(self, method: str, name: str) -> bytes:
        named = f"mcp-name: {name}\r\n" if name else ""
        return self.head + f"mcp-method: {method}\r\n{named}".encode()

    async def _sent(self, head: bytes, message: dict, params: dict) -> tuple[int, bytes]:
        body = orjson.dumps({"jsonrpc": "2.0", **message, "params": params})
        return await self.connection.request(head, body)


def head(tool: str, key: str) -> bytes:
    """The head of a stateless call, for those who send bodies of their own."""
    return Http({"port": 0, "key": key})._head("tools/call", tool)


class Stdio:
    """A host that started the target; all callers share its pipes."""

    def __init__(self, spec: dict) -> None:
        self.spec = spec
        self.is_modern = spec.get("era", "modern") == "modern"
        self.waiting: dict[int, asyncio.Future[dict]] = {}

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *self.spec["argv"],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 24,
        )
        self.reading = asyncio.ensure_future(self._read())
        if not self.is_modern:
            await self._asked({"id": 0, "method": "initialize", "params": HELLO})
            self._write({"method": "notifications/initialized"})

    async def stop(self) -> None:
        self.process.terminate()
        await self.process.wait()
        await self.reading

    def cpu(self) -> float:
        whole = psutil.Process(self.process.pid)
        each = [one.cpu_times() for one in (whole, *whole.children(recursive=True))]
        return sum(times.user + times.system for times in each)

    async def begin(self) -> None:
        return

    def join(self, other: "Stdio") -> None:
        return

    async def __call__(self, method: str, params: dict, number: int) -> dict:
        if self.is_modern:
            params = {**params, "_meta": META}
        return await self._asked({"id": number, "method": method, "params": params})

    async def _asked(self, message: dict) -> dict:
        answer = self.waiting[message["id"]] = asyncio.get_running_loop().create_future()
        self._write(message)
        return await answer

    def _write(self, message: dict) -> None:
        self.process.stdin.write(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")

    async def _read(self) -> None:
        async for line in self.process.stdout:
            message = orjson.loads(line)
            if "method" not in message:
                self.waiting.pop(message["id"]).set_result(message)
        for each in self.waiting.values():
            each.set_exception(ConnectionError("it ended"))


def message_of(body: bytes) -> dict:
    """The JSON-RPC message of a JSON answer or of a one-message event stream."""
    if not body or body.startswith(b"{"):
        return orjson.loads(body or b"{}")
    data = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return orjson.loads(data[-1])


async def call(ask: Ask, spec: dict, number: int) -> str:
    """Make one call; returns what is wrong with its answer."""
    kind = spec.get("kind", "echo")
    if kind == "list":
        return await listed(ask, spec, number)
    arguments: dict = {"text": "x" * spec["size"], "n": number}
    wanted = arguments
    if kind in ("rows", "kept"):
        arguments, wanted = {"n": number}, rows(number)
    if kind == "kept":
        kept = [{"id": each["id"], "state": each["state"]} for each in wanted["rows"]]
        wanted = {"n": number, "rows": kept}
    if kind == "hangar":
        inner = {"mcp_server": "bench", "tool": "echo", "arguments": arguments}
        arguments = {"calls": [inner]}
    reply = await ask("tools/call", {"name": spec["tool"], "arguments": arguments}, number)
    result = reply.get("result") or {}
    found = result.get("structuredContent")
    if kind == "hangar" and found:
        found = found["results"][0]["result"]["structuredContent"]
    right = (
        reply.get("id") == number
        and found == wanted
        and not result.get("isError")
        and not (result.get("_meta") or {}).get(OUTCOME, {}).get("replayed")
    )
    assert kind not in ("rows", "kept") or len(wanted["rows"]) == COUNT
    return "" if right else orjson.dumps(reply)[:300].decode()


async def listed(ask: Ask, spec: dict, number: int) -> str:
    """Get all pages of the list; says so when it is not as long as it should be."""
    count, cursor = 0, None
    for page in itertools.count():
        params = {"cursor": cursor} if cursor else {}
        reply = await ask("tools/list", params, number * 100 + page)
        result = reply.get("result") or {}
        count += len(result.get("tools", ()))
        cursor = result.get("nextCursor")
        if not cursor:
            break
    return "" if count == spec["tools"] else f"{count} tools: {orjson.dumps(reply)[:200]!r}"


async def worker(
    ask: Ask, spec: dict, number: int, until: float, found: list[float], wrong: list[str]
) -> None:
    count = 0
    while not count or time.perf_counter() < until:
        count += 1
        call_id = spec.get("first", 0) + number * 1_000_000 + count
        began = time.perf_counter()
        fault = await call(ask, spec, call_id)
        found.append((time.perf_counter() - began) * 1e6)
        if fault:
            wrong.append(fault)
            if len(wrong) > 5:
                return


async def run(spec: dict) -> dict:
    """Load a target; one that does not answer at all ends this with an error."""
    async with asyncio.timeout(spec["seconds"] + _LATE_S):
        return await loaded(spec)


async def loaded(spec: dict) -> dict:
    callers = range(spec["concurrency"])
    stdio = Stdio(spec) if "argv" in spec else None
    asks = [stdio or Http(spec) for _ in callers]
    if stdio is not None:
        await stdio.start()
        await until_right(stdio, spec)
    await asyncio.gather(*(ask.begin() for ask in asks[:_SESSIONS]))
    for number, ask in enumerate(asks[_SESSIONS:]):
        ask.join(asks[number % _SESSIONS])
    found: list[float] = []
    wrong: list[str] = []
    before = stdio.cpu() if stdio is not None else 0.0
    began = time.perf_counter()
    until = began + spec["seconds"]
    async with asyncio.TaskGroup() as group:
        for number, ask in enumerate(asks):
            group.create_task(worker(ask, spec, number + 1, until, found, wrong))
    wall = time.perf_counter() - began
    result = {"calls": len(found), "wrong": wrong}
    if stdio is not None:
        result["cpu_ms"] = (stdio.cpu() - before) * 1000 / max(1, len(found))
        await stdio.stop()
    found.sort()
    if found:
        result["per_second"] = len(found) / wall
        result |= {f"p{each}": found[int(len(found) * each / 100)] for each in (50, 95, 99)}
    return result


async def until_right(ask: Ask, spec: dict, within_s: float = 30.0) -> None:
    """Wait until the target answers rightly, and is warm."""
    end = time.perf_counter() + within_s
    numbers = itertools.count(1)
    right = 0
    while right < 50:
        fault = await call(ask, spec, spec.get("first", 0) + next(numbers))
        right += not fault
        if fault and time.perf_counter() > end:
            raise ConnectionError(fault)


if __name__ == "__main__":
    print(orjson.dumps(uvloop.run(run(orjson.loads(sys.argv[1])))).decode())
