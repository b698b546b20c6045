"""A downstream MCP server that does what a script says: over stdio as a real process.

The same scripts run over real HTTP with `tests.helpers.fake_http`. Only the standard library is
used, so that a process starts quickly.

    script = Script(on_call={"slow": [{"delay_ms": 50}, {"reply": text("done")}]})
    command = stdio_command(script, tmp_path)        # an argv: the entry's `command` and `args`
    calls = record_of(tmp_path).calls("tools/call")  # every message that it received

A script is plain JSON data:

    tools             definitions for tools/list; may hold anything, to publish bad ones
    able_tools        more of them, for clients that declare capabilities when they initialize
    resources, templates, prompts    definitions for the other lists
    page              entries a page of every list (0: all on one)
    eras              ["legacy", "modern"]: which of initialize and server/discover it answers
    version           the version that initialize settles on (default: what the client asked for)
    capabilities      default {"tools": {"listChanged": true}}
    on_start          steps before the first message is read
    on_initialize     steps in place of the usual answer to initialize
    on_discover       steps in place of the usual answer to server/discover
    on_list           steps in place of the usual answer to tools/list
    on_method         {method: steps} in place of the usual answer to any other request
    on_call           {tool name: steps}; "*" for every other tool. Without steps a tool echoes:
                      text = the name it was called by, structuredContent = {name, arguments, meta}
    on_nth_call       [steps of the 1st tools/call, of the 2nd, ...]; later calls go by on_call
    ignore            any of "eof", "sigterm"
    helper            true: start a child of its own that sleeps for ever
    session           HTTP, legacy: give out session ids (default true)

A step is an object with one of these keys; `$ID` stands for the id of the request (as JSON):

    reply             the result              reply_text_bytes  a text result of about n bytes
    error             the JSON-RPC error      raw / raw_line    text written as it stands
    raw_hex           bytes written as they stand
    delay_ms          wait                    wait_for_file     wait until a file exists
    stderr            text written to stderr  stderr_bytes      n bytes (`newlines: true` for lines)
    exit              end the process at once with this code
    request           {method, params}: ask the client, wait for the answer, remember it; with
                      `withdraw`, a path: take it back once that file exists, and go on; with
                      `aside: true`, ask on the stream that belongs to no call (HTTP only)
    exit_once         a path: end the process unless the file exists, and create it
    progress          {progress, total, message}; `token` in it overrides the caller's token
    notify            {method, params}        set               {key: value}: change the script
    environment       true: reply with {argv, environment, cwd, descriptors, answers}
    http              status, with optional `headers` and `body` (HTTP only)
    drop              true: cut the TCP connection (HTTP only)
    sse               list of texts written to the event stream as they stand (HTTP only)
    headers           [[name, value], ...] added to the response (HTTP only)
"""

import asyncio
import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Message = dict[str, Any]
Step = dict[str, Any]

LEGACY_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
WAIT_S = 15.0  # the longest that any helper waits


def tool(name: str, **more: Any) -> Message:
    """Return a sound definition."""
    return {"name": name, "inputSchema": {"type": "object"}, **more}


EVERYTHING: Message = {  # capabilities of a server that offers every list
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
}


def text(value: str) -> Message:
    """Return a result with one text block."""
    return {"content": [{"type": "text", "text": value}]}


@dataclass
class Script:
    """What a fake server does; see the module's docstring."""

    tools: list[Any] = field(default_factory=lambda: [tool("echo")])
    able_tools: list[Any] = field(default_factory=list[Any])
    resources: list[Any] = field(default_factory=list[Any])
    templates: list[Any] = field(default_factory=list[Any])
    prompts: list[Any] = field(default_factory=list[Any])
    page: int = 0
    eras: list[str] = field(default_factory=lambda: ["legacy", "modern"])
    version: str = ""
    capabilities: Message = field(default_factory=lambda: {"tools": {"listChanged": True}})
    on_start: list[Step] = field(default_factory=list[Step])
    on_initialize: list[Step] = field(default_factory=list[Step])
    on_discover: list[Step] = field(default_factory=list[Step])
    on_list: list[Step] = field(default_factory=list[Step])
    on_method: dict[str, list[Step]] = field(default_factory=dict[str, list[Step]])
    on_call: dict[str, list[Step]] = field(default_factory=dict[str, list[Step]])
    on_nth_call: list[list[Step]] = field(default_factory=list[list[Step]])
    ignore: list[str] = field(default_factory=list[str])
    helper: bool = False
    session: bool = True


class Wire:
    """What a step needs of a transport; one is made for each request."""

    def __init__(self, message: Message) -> None:
        self.message = message

    @property
    def id(self) -> Any:
        """The id of the request."""
        return self.message.get("id")

    async def write(self, data: bytes) -> None:
        """Write one message as it stands."""
        raise NotImplementedError

    async def ask(self, question: Message, *, aside: bool) -> Any:
        """Ask the client and return its answer."""
        raise NotImplementedError

    async def http(self, step: Step) -> None:
        """Do what only HTTP can."""
        raise NotImplementedError

    async def send(self, message: Message) -> None:
        """Write one JSON message."""
        await self.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass"))


class Fake:
    """Runs a script, whatever carries it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.is_able = False  # the client declared something when it initialized
        self.calls = 0
        self.writing = asyncio.Lock()
        self.answers: list[Any] = []  # what the client answered to `request` steps

    async def handle(self, message: Message, wire: Wire) -> None:
        """Answer one request."""
        steps = self._steps(message)
        if steps is None:
            await wire.send(self._usual(message))
            return
        for step in steps:
            await self.do(step, wire)

    def _steps(self, message: Message) -> list[Step] | None:
        script, method = self.script, message.get("method")
        if method == "tools/call":
            self.calls += 1
            if self.calls <= len(script.on_nth_call):
                return script.on_nth_call[self.calls - 1]
            name = message["params"]["name"]
            return script.on_call.get(name, script.on_call.get("*"))
        own = {
            "initialize": script.on_initialize,
            "server/discover": script.on_discover,
            "tools/list": script.on_list,
        }
        return own.get(str(method)) or script.on_method.get(str(method)) or None

    def _usual(self, message: Message) -> Message:
        reply: Message = {"jsonrpc": "2.0", "id": message.get("id")}
        result = self._result(message)
        if result is None:
            return {**reply, "error": {"code": -32601, "message": "no such method"}}
        return {**reply, "result": result}

    def _result(self, message: Message) -> Message | None:
        params: Message = message.get("params") or {}
        match message.get("method"):
            case "initialize" if "legacy" in self.script.eras:
                self.is_able = bool(params["capabilities"])
                return {
                    "protocolVersion": self.script.version or params["protocolVersion"],
                    "capabilities": self.script.capabilities,
                    "serverInfo": {"name": "fake", "version": "1"},
                }
            case "server/discover" if "modern" in self.script.eras:
                return {
                    "resultType": "complete",
                    "supportedVersions": [MODERN_VERSION],
                    "capabilities": self.script.capabilities,
                    "ttlMs": 0,
                    "cacheScope": "private",
                }
            case "ping" | "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel":
                return {}
            case "tools/call":
                said = {
                    "name": params["name"],
                    "arguments": params.get("arguments"),
                    "meta": params.get("_meta"),
                }
                return {**text(params["name"]), "structuredContent": said}
            case "resources/read":
                return {"contents": [{"uri": params["uri"], "text": params["uri"]}]}
            case "prompts/get":
                content = {"type": "text", "text": params["name"]}
                return {"messages": [{"role": "user", "content": content}]}
            case method:
                return self._list(str(method), params)

    def _list(self, method: str, params: Message) -> Message | None:
        script = self.script
        lists = {
            "tools/list": ("tools", script.tools + script.able_tools * self.is_able),
            "prompts/list": ("prompts", script.prompts),
            "resources/list": ("resources", script.resources),
            "resources/templates/list": ("resourceTemplates", script.templates),
        }
        return self._page(*lists[method], params) if method in lists else None

    def _page(self, member: str, entries: list[Any], params: Message) -> Message:
        size = self.script.page or len(entries) or 1
        start = int(params.get("cursor") or 0)
        page: Message = {member: entries[start : start + size]}
        if start + size < len(entries):
            page["nextCursor"] = str(start + size)
        return page

    async def do(self, step: Step, wire: Wire) -> None:  # noqa: C901 - a table of steps
        """Do one step."""
        reply: Message = {"jsonrpc": "2.0", "id": wire.id}
        match step:
            case {"reply": result}:
                await wire.send({**reply, "result": result})
            case {"reply_text_bytes": size}:
                await wire.send({**reply, "result": text("x" * size)})
            case {"error": error}:
                await wire.send({**reply, "error": error})
            case {"raw": line} | {"raw_line": line}:
                await wire.write(line.replace("$ID", json.dumps(wire.id)).encode())
            case {"raw_hex": line}:
                number = json.dumps(wire.id).encode()
                await wire.write(bytes.fromhex(line).replace(b"$ID", number))
            case {"delay_ms": milliseconds}:
                await asyncio.sleep(milliseconds / 1000)
            case {"wait_for_file": path}:
                await until_async(lambda: Path(path).exists(), 4 * WAIT_S)  # the test waits less
            case {"stderr": words}:
                print(words, file=sys.stderr, flush=True)
            case {"stderr_bytes": size}:
                line = b"e" * 79 + (b"\n" if step.get("newlines") else b"e")
                await asyncio.to_thread(_write_all, 2, (line * (size // 80 + 1))[:size])
            case {"exit": code}:
                os._exit(code)
            case {"request": request}:
                await self._ask(request, wire)
            case {"exit_once": path}:
                if not Path(path).exists():
                    Path(path).touch()
                    os._exit(1)
            case {"progress": news}:
                token = wire.message.get("params", {}).get("_meta", {}).get("progressToken")
                params = {"progressToken": token, **news}
                if "token" in news:
                    params["progressToken"] = params.pop("token")
                note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
                await wire.send(note)
            case {"notify": note}:
                await wire.send({"jsonrpc": "2.0", **note})
            case {"set": changes}:
                for key, value in changes.items():
                    setattr(self.script, key, value)
            case {"environment": True}:
                await wire.send({**reply, "result": {**text(""), "structuredContent": self._own()}})
            case _:
                await wire.http(step)

    async def _ask(self, request: Message, wire: Wire) -> None:
        number = f"ask-{uuid.uuid4().hex}"
        question = {"id": number, "method": request["method"], "params": request.get("params", {})}
        if "withdraw" not in request:
            aside = request.get("aside", False)
            self.answers.append(await wire.ask({"jsonrpc": "2.0", **question}, aside=aside))
            return
        await wire.send({"jsonrpc": "2.0", **question})
        await until_async(lambda: Path(request["withdraw"]).exists())
        note = {"method": "notifications/cancelled", "params": {"requestId": number}}
        await wire.send({"jsonrpc": "2.0", **note})

    def _own(self) -> Message:
        return {
            "argv": sys.argv[1:],
            "environment": dict(os.environ),
            "cwd": os.getcwd(),
            "descriptors": _INHERITED,
            "answers": self.answers,
        }


_INHERITED: list[str] = []  # what was open when the process began, before asyncio


def _note_descriptors() -> None:
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            _INHERITED.append(os.readlink(f"/proc/self/fd/{number}"))


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


# The stdio face


class StdioFake(Wire):
    """Reads lines from stdin and answers each in a task of its own."""

    def __init__(self, fake: Fake, record: Path, message: Message | None = None) -> None:
        super().__init__(message or {})
        self.fake = fake
        self.record = record
        self.asked: dict[str, asyncio.Future[Any]] = {}

    async def write(self, data: bytes) -> None:
        async with self.fake.writing:  # a long line must not be torn apart by another
            await asyncio.to_thread(_write_all, 1, data + b"\n")

    async def ask(self, question: Message, *, aside: bool) -> Any:
        answer = self.asked[question["id"]] = asyncio.get_running_loop().create_future()
        await self.send(question)
        return await answer

    async def http(self, step: Step) -> None:
        raise AssertionError(f"no step for stdio: {step}")

    async def run(self) -> None:
        """Serve until the end of the input."""
        for step in self.fake.script.on_start:
            await self.fake.do(step, self)
        async with asyncio.TaskGroup() as tasks:
            while line := await asyncio.to_thread(sys.stdin.buffer.readline):
                self._received(line, tasks)
        while "eof" in self.fake.script.ignore:
            await asyncio.sleep(0.05)

    def _received(self, line: bytes, tasks: asyncio.TaskGroup) -> None:
        message = json.loads(line)
        with self.record.open("ab") as file:
            file.write(json.dumps({**message, "pid": os.getpid(), "at": time.time()}).encode())
            file.write(b"\n")
        if "method" not in message:
            if message["id"] in self.asked:
                self.asked.pop(message["id"]).set_result(
                    message.get("result", message.get("error"))
                )
        elif "id" in message:
            wire = StdioFake(self.fake, self.record, message)
            wire.asked = self.asked
            tasks.create_task(self.fake.handle(message, wire))


def main() -> None:
    """Run a script file as a stdio server: `fake_server.py SCRIPT [anything...]`."""
    _note_descriptors()
    path = Path(sys.argv[1])
    script = Script(**json.loads(path.read_text("utf-8")))
    with path.with_suffix(".started").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if "sigterm" in script.ignore:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if script.helper:
        helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        path.with_suffix(".helper").write_text(str(helper.pid))
    asyncio.run(StdioFake(Fake(script), path.with_suffix(".calls")).run())
    os._exit(0)  # a reader thread may still hang in stdin


# For tests


def stdio_command(script: Script, folder: Path, name: str = "fake") -> list[str]:
    """Write the script into `folder` and return the argv that runs it."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(asdict(script)), "utf-8")
    return [sys.executable, str(Path(__file__).resolve()), str(path)]


@dataclass(frozen=True)
class Record:
    """What a fake received: lines in a file, so that they survive its end."""

    path: Path

    def messages(self) -> list[Message]:
        """Return every message, oldest first."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_bytes().splitlines()]

    def calls(self, method: str = "tools/call") -> list[Message]:
        """Return the messages of one method."""
        return [message for message in self.messages() if message.get("method") == method]

    def pids(self) -> list[int]:
        """Return the ids of all processes that were ever started for it."""
        started = self.path.with_suffix(".started")
        return [int(pid) for pid in started.read_text().split()] if started.exists() else []


def record_of(folder: Path, name: str = "fake") -> Record:
    """Return the record of a stdio fake."""
    return Record(folder / f"{name}.calls")


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie doesn't."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def until_async(
    holds: Callable[[], Any] | Callable[[], Awaitable[Any]], within_s: float = WAIT_S
) -> None:
    """Wait until something holds, asked directly or by a coroutine; fails after `within_s`."""
    end = time.monotonic() + within_s
    while not await _asked(holds()):
        if time.monotonic() > end:
            raise AssertionError(f"did not happen within {within_s} s")
        await asyncio.sleep(0.01)


async def _asked(answer: Any) -> Any:
    return await answer if inspect.isawaitable(answer) else answer


def texts(tools: Sequence[Any]) -> list[str]:
    """Return the names of tools."""
    return [item["name"] if isinstance(item, dict) else item.name for item in tools]


if __name__ == "__main__":
    main()
