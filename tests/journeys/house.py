"""What journeys are made of: configurations, contracts, the log as it lies on disk, and clients."""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol

import aiohttp

from gateway.contracts import writing
from gateway.contracts.pins import pinned
from gateway.identity import apikeys
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.tools import Contract, Effect
from tests.helpers import forked
from tests.helpers.cases import a_contract, a_tool
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, stdio_command, until_async
from tests.helpers.forked import Hosted
from tests.helpers.gateway import MODERN, Gateway

Json = dict[str, Any]
LEGACY = "2025-11-25"
RESTART = {"first": "50ms", "longest": "200ms", "stable_after": "1s"}
ONWARD = Compensation(kind=CompensationClass.PIVOT, reason="nothing here takes anything back")
WITHIN_S = 30.0  # a busy machine is slow, and none of these waits is for its own sake


class Client(Protocol):
    """Any front of the gateway, seen from an agent host."""

    async def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request and return the JSON-RPC message that answers it."""
        ...


def stdio(script: Script, folder: Path, name: str = "alpha", **more: Any) -> Json:
    """Return the entry of a fake that the gateway starts."""
    command, *args = stdio_command(script, folder, name)
    return {"command": command, "args": args, "restart": RESTART, **more}


def http(fake: FakeHttp, **more: Any) -> Json:
    """Return the entry of a fake behind a URL."""
    return {"url": fake.url, "restart": RESTART, **more}


def config(servers: Mapping[str, Json], **sections: Any) -> str:
    """Return a configuration: JSON is YAML."""
    whole = {"servers": dict(servers), **sections}
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in whole.items())


def unreviewed(servers: Mapping[str, Json], **sections: Any) -> str:
    """Return a configuration that exposes tools without a contract."""
    return config(servers, contracts={"unreviewed": "observe"}, **sections)


def contract(
    definition: Json, server: str = "alpha", *, effect: Effect = Effect.READ, **changes: Any
) -> Contract:
    """Return a reviewed contract for a definition: a harmless read unless told otherwise.

    A write has no way back, as its contract has to say, and keeps the class that it is given.
    """
    tool = a_tool(definition, server)
    changes = changes if effect is Effect.READ else {"compensation": ONWARD} | changes
    return a_contract(tool, definition=pinned(definition), effect=effect, **changes)


def contracts(*entries: Contract) -> str:
    """Return a contract file."""
    return writing.dump(entries)


def key(name: str, tenant: str, user: str = "sam", **more: Any) -> tuple[str, Json]:
    """Return an API key and its entry."""
    secret = f"wb_{name}_{hashlib.sha256(name.encode()).hexdigest()}"
    entry = {"id": name, "hash": apikeys.hash_key(secret), "user": user, "tenant": tenant, **more}
    return secret, entry


def events(folder: Path, **wanted: Any) -> list[Json]:
    """Return the committed events as they lie in the file, those with these members."""
    with closing(sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True)) as store:
        rows = store.execute("SELECT body FROM events ORDER BY seq").fetchall()
    found: list[Json] = [json.loads(row[0]) for row in rows]
    return [one for one in found if wanted.items() <= {**one["body"], **one}.items()]


def ends(folder: Path, call: str) -> list[Json]:
    """Return the final events of one call."""
    found = events(folder, kind="tool_call", call=call)
    return [one for one in found if one["stage"] in {"finished", "failed"}]


async def end(folder: Path, call: str) -> Json:
    """Wait for the final event of a call and return its body; there must be exactly one."""
    await until_async(lambda: ends(folder, call), WITHIN_S)
    (only,) = ends(folder, call)
    return only["body"]


async def event(folder: Path, **wanted: Any) -> Json:
    """Wait for an event with these members and return the newest."""
    await until_async(lambda: events(folder, **wanted), WITHIN_S)
    return events(folder, **wanted)[-1]


def status(folder: Path) -> Json:
    """Return what `weighbridge status` reads: the newest snapshot in the store."""
    with closing(sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True)) as store:
        rows = store.execute("SELECT status FROM gateway_instances ORDER BY at").fetchall()
    return json.loads(rows[-1][0]) if rows else {"servers": []}


def server_of(folder: Path, name: str) -> Json:
    """Return what the newest snapshot says of one server."""
    servers = status(folder)["servers"]
    return next((one for one in servers if one["name"] == name), {"status": "", "reason": ""})


async def server_status(folder: Path, name: str, wanted: str) -> Json:
    """Wait until a server has a status, and return all that is said of it."""
    await until_async(lambda: server_of(folder, name)["status"] == wanted, WITHIN_S)
    return server_of(folder, name)


def as_modern(gateway: Gateway, **headers: str) -> "ModernHttp":
    """Return a stateless client over HTTP."""
    return ModernHttp(gateway, headers)


class ModernHttp:
    """A client of the revision 2026-07-28 over HTTP."""

    def __init__(self, gateway: Gateway, headers: Mapping[str, str]) -> None:
        self._gateway = gateway
        self.headers = dict(headers)  # of the next requests, with `_` for `-`

    async def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request and return the message that answers it."""
        _, message = await self._gateway.send(method, params, **self.headers)
        return message


class LegacyHttp:
    """A client of the handshake revisions over HTTP, with its session."""

    def __init__(self, session: aiohttp.ClientSession, url: str, version: str) -> None:
        self._session = session
        self._url = url
        self.headers = {  # of the next requests
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": version,
        }
        self._id = 0

    async def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request and return the message that answers it."""
        self._id += 1
        body = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        async with self._session.post(
            self._url, data=json.dumps(body).encode(), headers=self.headers
        ) as answer:
            if "Mcp-Session-Id" in answer.headers:
                self.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
            said = await answer.text()
            if answer.content_type == "text/event-stream":
                said = [line[5:] for line in said.split("\n") if line.startswith("data: {")][-1]
            return json.loads(said)

    async def begin(self, version: str) -> None:
        """Do the handshake."""
        await self.request("initialize", hello(version))
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        async with self._session.post(
            self._url, data=json.dumps(note).encode(), headers=self.headers
        ) as answer:
            assert answer.status == 202


def hello(version: str = LEGACY) -> Json:
    """Return the parameters of initialize."""
    client = {"name": "host", "version": "1"}
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": client}


@asynccontextmanager
async def legacy(gateway: Gateway, version: str = LEGACY) -> AsyncGenerator[LegacyHttp]:
    """Connect a handshake client over HTTP."""
    async with aiohttp.ClientSession(headers=gateway.headers) as session:
        client = LegacyHttp(session, gateway.url, version)
        await client.begin(version)
        yield client


@asynccontextmanager
async def client(gateway: Gateway, era: str) -> AsyncGenerator[ModernHttp | LegacyHttp]:
    """Connect a client of an era (`modern` or `legacy`) over HTTP."""
    if era == "modern":
        yield as_modern(gateway)
        return
    async with legacy(gateway) as connected:
        yield connected


def operations(folder: Path, **wanted: Any) -> list[Json]:
    """Return the rows of operations as they lie in the file, those with these columns."""
    return _rows(folder, "SELECT * FROM operations ORDER BY created_at", wanted)


def requests(folder: Path, **wanted: Any) -> list[Json]:
    """Return the rows of requests for approval as they lie in the file, with these columns."""
    return _rows(folder, "SELECT * FROM approvals ORDER BY created_at", wanted)


def _rows(folder: Path, query: str, wanted: Mapping[str, Any]) -> list[Json]:
    with closing(sqlite3.connect(f"file:{folder}/store.db?mode=ro", uri=True)) as store:
        store.row_factory = sqlite3.Row
        rows = store.execute(query).fetchall()
    found = [dict(row) for row in rows]
    return [one for one in found if wanted.items() <= one.items()]


class Stdio:
    """An agent host that started `weighbridge stdio`."""

    def __init__(self, process: Hosted) -> None:
        self.process = process
        self.notes: list[Json] = []
        self._id = 0

    async def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request and return the message that answers it; other messages become notes."""
        self._id += 1
        await self.send({"id": self._id, "method": method, "params": params or {}})
        while True:
            message = await self.read()
            if message.get("id") == self._id:
                return message
            self.notes.append(message)

    async def send(self, message: Json) -> None:
        """Write one message."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()

    def leave(self) -> None:
        """Close the gateway's input, as a host does that ends."""
        assert self.process.stdin
        self.process.stdin.close()

    async def read(self) -> Json:
        """Read one message."""
        assert self.process.stdout
        async with asyncio.timeout(WITHIN_S):
            line = await self.process.stdout.readline()
        assert line, "the gateway has closed its output"
        return json.loads(line)

    async def until_note(self, method: str) -> Json:
        """Wait for a notification."""
        while True:
            for note in self.notes:
                if note.get("method") == method:
                    self.notes.remove(note)
                    return note
            self.notes.append(await self.read())


@asynccontextmanager
async def hosted(
    folder: Path,
    configuration: str,
    *,
    policy: str,
    contracts: str = "",
    environ: Mapping[str, str] | None = None,
) -> AsyncGenerator[Stdio]:
    """Run `weighbridge stdio` as an agent host does, with the handshake done."""
    prepare(folder, configuration, policy=policy, contracts=contracts)
    process = await forked.hosted(
        ["stdio", "--config", str(folder / "config.yaml")],
        folder / "log.txt",
        {"PATH": "/usr/bin:/bin", "HOME": str(folder), **(environ or {})},
    )
    client = Stdio(process)
    try:
        await client.request("initialize", hello())
        await client.send({"method": "notifications/initialized"})
        yield client
    finally:
        client.leave()
        try:
            async with asyncio.timeout(WITHIN_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            raise
        finally:
            await process.wait()


def prepare(folder: Path, configuration: str, *, policy: str, contracts: str = "") -> None:
    """Write the files of a gateway that has no listeners."""
    (folder / "policies/contracts").mkdir(parents=True, exist_ok=True)
    (folder / "policies/policy.yaml").write_text(policy)
    if contracts:
        (folder / "policies/contracts/tools.yaml").write_text(contracts)
    (folder / "config.yaml").write_text(f"store: sqlite:///{folder}/store.db\n{configuration}")


async def names_of(client: Client) -> list[str]:
    """Return the names of the tools that a client is shown."""
    message = await client.request("tools/list")
    return [tool["name"] for tool in message["result"]["tools"]]


async def listed(client: Client, *names: str) -> None:
    """Wait until a client is shown these tools."""

    async def shown() -> bool:
        return set(names) <= set(await names_of(client))

    await until_async(shown, WITHIN_S)


async def call(client: Client, name: str, arguments: Json | None = None, **more: Any) -> Json:
    """Call a tool and return its result."""
    message = await client.request(
        "tools/call", {"name": name, "arguments": arguments or {}, **more}
    )
    assert "result" in message, message
    return message["result"]


async def call_for_error(client: Client, name: str) -> Json:
    """Call a tool whose server answers with an error of its own; return that error."""
    message = await client.request("tools/call", {"name": name, "arguments": {}})
    assert "error" in message, message
    return message["error"]


async def call_raw(gateway: Gateway, name: str, arguments: str) -> Json:
    """Call a tool with arguments that no JSON library would write, as text."""
    body = (
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","_meta":'
        f'{{"io.modelcontextprotocol/protocolVersion":"{MODERN}",'
        f'"io.modelcontextprotocol/clientCapabilities":{{}}}},"arguments":{arguments}}}}}'
    )
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
        **gateway.headers,
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(gateway.url, data=body.encode(), headers=headers) as answer,
    ):
        assert answer.status == 200
        return (await answer.json())["result"]


def texts(result: Mapping[str, Any]) -> str:
    """Return the texts of all blocks."""
    return "\n".join(block.get("text", "") for block in result["content"])


def named(definitions: Sequence[Json], name: str) -> Json:
    """Return the definition of one name."""
    return next(tool for tool in definitions if tool["name"] == name)
