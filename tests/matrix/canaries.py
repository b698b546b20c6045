"""Many callers at once, each with a word of its own: nobody may ever hear another's word.

    python -m tests.matrix.canaries [CALLERS]

Every caller has its own key; two tenants; every second one holds a session of the handshake era.
All that arrives at a caller, byte by byte, is searched for words of others.
"""

import asyncio
import contextlib
import json
import re
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.helpers.gateway import running
from tests.journeys.house import key
from tests.matrix.fixtures import CAPABILITIES, PROGRESS, Json
from tests.matrix.houses import CONTRACTS, KINDS, POLICY, Servers, all_served
from tests.matrix.wires import Wire, over_http

WORD = re.compile(rb"canary-\d+-[0-9a-f]{16}")
_BUSY = {429, 503, -32000}
_LATEST_S = 300.0
# A gateway keeps 1,000 connections. Callers share these, as they do behind a proxy; a call that may
# be asked needs a second one for the answer, and a call that waits for a lane keeps its own.
_CONNECTIONS = 950
_ASKING = 100


@dataclass
class Report:
    """What was seen."""

    callers: int
    seconds: float = 0.0
    own: Counter[str] = field(default_factory=Counter[str])  # by kind, heard by the right caller
    late: int = 0  # news that were dropped
    repeats: int = 0  # calls that were told to come back
    foreign: list[str] = field(default_factory=list[str])  # heard by the wrong caller
    wrong: list[str] = field(default_factory=list[str])  # any other surprise

    def __str__(self) -> str:
        """Say it in a few lines."""
        seen = ", ".join(f"{count} {kind}" for kind, count in sorted(self.own.items()))
        return (
            f"{self.callers} callers, {self.seconds:.1f} s: {seen}\n"
            f"told to come back: {self.repeats}, too slow for news: {self.late}\n"
            f"heard by another: {len(self.foreign)} {self.foreign[:3]}\n"
            f"wrong: {len(self.wrong)} {self.wrong[:3]}"
        )


class Caller:
    """One caller and its word."""

    def __init__(
        self, number: int, wire: Wire, word: str, report: Report, room: asyncio.Semaphore
    ) -> None:
        self.number = number
        self._room = room
        self.wire = wire
        self.word = word
        self.report = report
        wire.tap = self._arrived

    def _arrived(self, data: bytes) -> None:
        for word in WORD.findall(data):
            if word != self.word.encode():
                self.report.foreign.append(f"{self.word} heard {data[:200]!r}")

    async def all(self) -> None:
        """Do everything that a caller does, at the servers that have room for all of them."""
        for server in ("modern-stdio", "modern-http"):
            await self._calls(server)
            await self._asked(server)
        # A caller that may be asked, or wants a log, has a connection of its own at servers of the
        # handshake era, and over a pipe a process: there is not room for all.
        if self.number % 20 < 4:
            await self._asked("legacy-http")
            await self._calls("legacy-http")
        if self.number % 50 < 4:
            await self._asked("legacy-stdio")
        if self.wire.is_modern:
            await self._calls("legacy-stdio")

    async def _calls(self, server: str) -> None:
        echoed = await self._call(server, "echo")
        self._check("answers", self.word in json.dumps(echoed.get("structuredContent")))
        heard: list[Json] = []
        await self._call(server, "progress", heard, progressToken=self.word)
        messages = [note["params"].get("message") for note in heard]
        self._check("progress", set(messages) <= {self.word}, server)
        self.report.late += len(PROGRESS) - len(messages)  # for a client too slow to take them
        if server == "legacy-stdio" and self.number % 50 >= 4:
            return
        heard = []
        self.wire.log_level = "error"
        await self._call(server, "logs", heard)
        self.wire.log_level = ""
        told = [note["params"]["data"] for note in heard]
        # Over a pipe nobody can say whose message it is when several calls are under way.
        if told or not server.endswith("stdio"):
            self._check("logs", set(told) == {self.word}, server)

    async def _asked(self, server: str) -> None:
        asked: list[str] = []

        def answer(question: Json) -> Json:
            asked.append(question["params"]["message"])
            return {"result": {"action": "accept", "content": {"word": self.word}}}

        if self.wire.is_modern:
            self.wire.capabilities = CAPABILITIES
        async with self._room:
            said = await self._call(server, "ask_form", answer=answer)
        if self.wire.is_modern:
            self.wire.capabilities = {}
        self._check("questions", set(asked) == {f"{server} asks: {self.word}"}, server)
        told = said.get("structuredContent", {}).get("result", {})
        self._check("replies", told.get("content") == {"word": self.word}, server)

    async def _call(
        self, server: str, tool: str, heard: list[Json] | None = None, **more: Any
    ) -> Json:
        params: Json = {"name": f"{server}__{tool}", "arguments": {"mark": self.word}}
        until = time.monotonic() + _LATEST_S
        while time.monotonic() < until:
            got = await self.wire.request("tools/call", params, **more)
            result = got.message.get("result", {})
            status = result.get("_meta", {}).get("weighbridge/outcome", {}).get("status")
            if status == "busy" or got.message.get("error", {}).get("code") in _BUSY:
                self.report.repeats += 1
                await asyncio.sleep(0.05 + secrets.randbelow(200) / 1000)
                continue
            if heard is not None:
                heard += got.notes
            if status != "ok":
                self.report.wrong.append(f"{server} {tool}: {json.dumps(got.message)[:300]}")
            return result
        raise TimeoutError(f"{tool} of {server} was busy for {_LATEST_S} s")

    def _check(self, kind: str, holds: bool, place: str = "") -> None:
        if holds:
            self.report.own[kind] += 1
        else:
            self.report.wrong.append(f"{self.word}: {kind} {place}")


class Flock:
    """All callers of one run."""

    def __init__(self, keys: Sequence[str], url: str, folder: Path) -> None:
        self.report = Report(callers=len(keys))
        self._keys = keys
        self._url = url
        self._folder = folder
        self._room = asyncio.Semaphore(_ASKING)
        self._ready = 0
        self._uris: list[str] = []  # that are watched
        self._all_watch = asyncio.Event()

    async def run(self) -> Report:
        """Let all of them do all of it at the same time."""
        began = time.monotonic()
        connector = aiohttp.TCPConnector(limit=_CONNECTIONS)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            asyncio.TaskGroup() as tasks,
        ):
            for number, secret in enumerate(self._keys):
                tasks.create_task(self._one(number, secret, session))
        self.report.seconds = time.monotonic() - began
        return self.report

    async def _one(self, number: int, secret: str, session: aiohttp.ClientSession) -> None:
        modern = number % 4 < 2  # both eras in both tenants
        async with contextlib.AsyncExitStack() as stack:
            connecting = over_http(
                self._url,
                modern=modern,
                capabilities={} if modern else CAPABILITIES,
                headers={"Authorization": f"Bearer {secret}"},
                session=session,
                within_s=_LATEST_S,
            )
            async with self._room:
                wire = await stack.enter_async_context(connecting)
            word = f"canary-{number}-{secrets.token_hex(8)}"
            caller = Caller(number, wire, word, self.report, self._room)
            await caller.all()
            await self._watch(caller)

    async def _watch(self, caller: Caller) -> None:
        """Watch a resource of one's own, and hear of it alone."""
        uri = f"mem://legacy-http/rows/{caller.word}"
        if caller.wire.is_modern and caller.number % 16 >= 2:
            await self._until_all_watch("")  # there is a limit to streams, and room for some
            return
        async with caller.wire.listening(uri):
            await self._until_all_watch(uri)
            updated = await caller.wire.told("notifications/resources/updated")
            self.report.own["updates"] += updated["params"]["uri"] == uri

    async def _until_all_watch(self, uri: str) -> None:
        self._ready += 1
        self._uris += [uri] if uri else []
        if self._ready == len(self._keys):
            change = {"extra": 0, "updated": self._uris}
            (self._folder / "legacy-http.change").write_text(json.dumps(change))
            self._all_watch.set()
        await self._all_watch.wait()


async def run(callers: int, folder: Path) -> Report:
    """Run a gateway before the four servers, and all callers before the gateway."""
    pairs = [
        key(f"key{number}", f"tenant-{number % 2}", f"user-{number}") for number in range(callers)
    ]
    inside = folder / "gateway"
    inside.mkdir()
    async with all_served(folder) as urls:
        servers = Servers(folder=inside, urls=urls, more={"max_calls": 2 * callers})
        # Callers and gateway share the processors: nobody is late here, only slow.
        config = servers.config(
            identity={"api_keys": [entry for _, entry in pairs]},
            limits={"ask_timeout": "5m", "call_timeout": "5m"},
        )
        listen = {"max_concurrency": 4 * callers}
        async with running(
            inside, config, policy=POLICY, contracts=CONTRACTS, listen=listen
        ) as gateway:
            gateway.headers["Authorization"] = f"Bearer {pairs[0][0]}"
            await gateway.listed(*(f"{kind}__echo" for kind in KINDS))
            return await Flock([secret for secret, _ in pairs], gateway.url, folder).run()


def main() -> None:
    """Run, tell, and end with 1 when anything was heard by another or went wrong."""
    callers = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(run(callers, Path(folder)))
    print(report)
    sys.exit(bool(report.foreign or report.wrong))


if __name__ == "__main__":
    main()
