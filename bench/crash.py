"""SIGKILL in the middle of writes, again and again: nothing is sent twice, nothing is made up.

scripts/chaos crash [--kills 500] [--engine sqlite|postgres|both]

Eight agents call a real gateway and repeat each call until its end is told. The tool server writes
down what it carries out, and is never killed.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httptools
import orjson

from bench.client import Connection
from bench.crash_checks import Seen, check
from bench.load import META, head, message_of
from bench.processes import ROOT, free_port
from gateway.contracts import files, writing
from gateway.types.guarantees import Idempotency, Injection, InjectPlace
from gateway.types.operations import RetryClass
from tests.helpers.forked import Forked, begin
from tests.helpers.postgres import own_postgres

AGENTS = 8
LONGEST_LIFE_S = 0.15  # of a gateway, from its first answer on; one in five dies without one
LEASE_S = 1.0
AGAIN = {"in_progress", "unavailable", "audit_unavailable", "busy"}  # nothing is decided yet
POLICY = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
PROMISES = {
    "rows.put": Idempotency(is_declared=True),
    "rows.put_keyed": Idempotency(
        is_declared=True,
        retry=RetryClass.KEYED,
        inject=Injection(place=InjectPlace.ARGUMENT, name="/key"),
    ),
    "rows.put_same": Idempotency(is_declared=True, retry=RetryClass.NATURAL),
}


@dataclass(kw_only=True)
class House:
    """A gateway that is killed, the files that it has, and the tool server behind it."""

    folder: Path
    port: int

    @property
    def rows(self) -> Path:
        return self.folder / "rows"

    def furnish(self, store: str, server_port: int) -> None:
        """Write what a gateway reads, with contracts that make promises."""
        (self.folder / "policies").mkdir()
        (self.folder / "policies/all.yaml").write_text(POLICY)
        server = {
            "url": f"http://127.0.0.1:{server_port}/mcp",
            "protocol": "legacy",
            "timeout": "5s",
            "restart": {"first": "20ms", "longest": "200ms", "stable_after": "1s"},
        }
        config = {
            "servers": {"rows": server},
            "listen": {"address": f"127.0.0.1:{self.port}"},
            "admin": {"address": "127.0.0.1:0"},
            "store": store,
            "operations": {"lease": f"{LEASE_S}s"},
        }
        (self.folder / "config.yaml").write_text(json.dumps(config))
        self.command("tools", "pin", "--reviewed")
        path = self.folder / "policies/contracts/rows.yaml"
        drafts = files.load(path.read_text(), file=str(path))
        promised = (replace(one, idempotency=PROMISES[one.tool]) for one in drafts)
        path.write_text(writing.dump(list(promised)))

    def command(self, *words: str) -> str:
        """Run a command of this gateway's configuration and return what it says."""
        chosen = ["-c", str(self.folder / "config.yaml")]
        return subprocess.run(
            [sys.executable, "-m", "gateway", *words, *chosen],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    def start(self) -> Forked:
        config = str(self.folder / "config.yaml")
        return begin(["serve", "--config", config], self.folder / "log")


@dataclass(kw_only=True)
class Board:
    """The calls that there are to make, those in doubt, and what was said of each."""

    seen: Seen = field(default_factory=Seen)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    doubtful: list[tuple[float, str, int]] = field(default_factory=list)  # from when on
    under_way: set[int] = field(default_factory=set)  # sent for the first time, not answered
    answers: int = 0
    closing: bool = False

    def next(self) -> tuple[str, int] | None:
        """Return a call that is due again, or a new one; None when there is none to make now."""
        now = time.monotonic()
        due = [each for each in self.doubtful if each[0] <= now]
        if due:
            self.doubtful.remove(due[0])
            return due[0][1:]
        if self.closing:
            return None
        if self.under_way and random.random() < 0.1:
            number = random.choice(list(self.under_way))
            return self.seen.tools[number], number
        number = next(self.numbers)
        tool = random.choices(("put", "put_keyed", "put_same"), (8, 1, 1))[0]
        self.seen.tools[number] = tool
        return tool, number


async def ask(connection: Connection, tool: str, number: int) -> dict:
    """Make a call once and return its result."""
    params = {"name": f"rows__{tool}", "arguments": {"n": number}, "_meta": META}
    body = orjson.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    _, answer = await connection.request(head(params["name"], ""), body)
    return message_of(answer).get("result") or {}


async def agent(board: Board, port: int) -> None:
    """Call, and call again with the same arguments, as long as nothing is decided."""
    connection = Connection("127.0.0.1", port)
    while not (board.closing and not board.doubtful):
        chosen = board.next()
        if chosen is None:
            await asyncio.sleep(0.02)
            continue
        tool, number = chosen
        board.under_way.add(number)
        try:
            result = await ask(connection, tool, number)
        except (OSError, httptools.HttpParserError):  # killed, or not there yet
            connection = Connection("127.0.0.1", port)
            result = {}
            await asyncio.sleep(0.01)
        finally:
            board.under_way.discard(number)
        outcome = result.get("_meta", {}).get("weighbridge/outcome", {"status": "unavailable"})
        if outcome["status"] in AGAIN:
            pause = random.choice((0, LEASE_S))  # one agent is patient, another is not
            board.doubtful.append((time.monotonic() + pause, tool, number))
            continue
        board.answers += 1
        board.seen.told(number, outcome, result)
        if random.random() < 0.1:
            board.doubtful.append((time.monotonic(), tool, number))


async def listening(port: int) -> None:
    """Wait until somebody takes calls."""
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.01)


async def lives(house: House, board: Board, kills: int) -> AsyncIterator[Forked]:
    """Yield gateways at the moment of their death, one after the other."""
    for _ in range(kills):
        process, answers = house.start(), board.answers
        await listening(house.port)
        if random.random() > 0.2:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2):
                    while board.answers == answers:
                        await asyncio.sleep(0.002)
        await asyncio.sleep(random.uniform(0, LONGEST_LIFE_S))
        yield process
        await process.wait()


async def storm(house: House, kills: int) -> tuple[Seen, Counter[str]]:
    """Kill so often, then let one gateway live until every call has its end."""
    board, counts = Board(), Counter[str]()
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for _ in range(AGENTS):
            group.create_task(agent(board, house.port))
        async for process in lives(house, board, kills):
            counts["kills"] += 1
            process.kill()
            if counts["kills"] % 50 == 0:  # some two thirds of a second each
                print(f"{counts['kills']} of {kills} kills", file=sys.stderr, flush=True)
        board.closing = True
        last = house.start()
    counts["seconds"] = round(time.monotonic() - began)
    await asyncio.sleep(2 * LEASE_S)  # for what nobody asked about again
    last.terminate()
    async with asyncio.timeout(15):
        code = await last.wait()
    assert code == 0, f"the last gateway ended with {code}"
    return board.seen, counts


@contextmanager
def rows_server(house: House, port: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.crash_http", str(port), str(house.rows)]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        asyncio.run(listening(port))
        yield
    finally:
        process.terminate()
        process.wait()


def run(engine: str, kills: int, store: str = "") -> bool:
    folder = Path(tempfile.mkdtemp(prefix=f"weighbridge-crash-{engine}-"))
    house = House(folder=folder, port=free_port())
    server_port = free_port()
    with rows_server(house, server_port):
        house.furnish(store or f"sqlite:///{folder}/store.db", server_port)
        seen, counts = asyncio.run(storm(house, kills))
    listed = json.loads(house.command("ops", "list", "--limit", "100000", "--json"))
    told = house.command("events", "query", "--limit", "1000000", "--json").splitlines()
    events = [json.loads(line) for line in told]
    print(f"{engine}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    good = check(seen, house.rows.read_text(), listed, events)
    log = (folder / "log").read_text()
    print(f"log: {len(log.splitlines())} lines, {log.count('Traceback')} stack traces; {folder}")
    return good and "Traceback" not in log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--engine", choices=("sqlite", "postgres", "both"), default="both")
    chosen = parser.parse_args()
    results = []
    if chosen.engine in ("sqlite", "both"):
        results.append(run("sqlite", chosen.kills))
    if chosen.engine in ("postgres", "both"):
        with own_postgres() as server:
            results.append(run("postgres", chosen.kills, server.create("crash")))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
