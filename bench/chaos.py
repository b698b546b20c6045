"""10,000 calls, one in ten meets a fault: gateway alive, memory flat, one final event each.

scripts/chaos [--calls 10000]

Half of the calls go to servers over stdio, half to servers over HTTP; half of them only read. Every
answer is checked.
"""

import argparse
import asyncio
import collections
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import psutil

from bench.client import Connection
from bench.load import META, head, message_of
from bench.processes import free_port

ROOT = Path(__file__).resolve().parent.parent
SERVERS = 4  # of each transport
WARM = 500  # pools, caches, first restarts
STEPS = 10  # looks at the memory
FAULTS = {
    "stdio": ("kill", "garbage", "silence", "huge"),
    "http": (
        "reset",
        "cut",
        "garbage",
        "no http",
        "silence",
        "huge",
        "endless",
        "500",
        "bomb",
    ),
}
POLICY = "rules:\n  - {id: all, decision: allow, match: {tools: ['*']}}\n"
ANSWERED = {
    "ok",
    "unavailable",
    "timeout",
    "busy",
    "result_invalid",
    "result_too_large",
    "indeterminate",
}


@dataclass
class Tally:
    """What came back: statuses by fault, and the id of every call."""

    statuses: collections.Counter[str] = field(default_factory=collections.Counter)
    by_fault: dict[str, collections.Counter[str]] = field(
        default_factory=lambda: collections.defaultdict(collections.Counter)
    )
    calls: list[str] = field(default_factory=list)
    slowest: float = 0.0


def started(folder: Path, port: int, http_port: int) -> subprocess.Popen:
    (folder / "policies").mkdir()
    (folder / "policies/all.yaml").write_text(POLICY)
    common = {
        "protocol": "legacy",
        "timeout": "2s",
        "max_calls": 64,
        "restart": {"first": "20ms", "longest": "200ms", "stable_after": "1s"},
    }
    stdio = {"command": sys.executable, "args": [str(ROOT / "bench/faulty.py")]}
    http = {"url": f"http://127.0.0.1:{http_port}/mcp"}
    entries = {f"stdio{number}": {**common, **stdio} for number in range(SERVERS)}
    entries |= {f"http{number}": {**common, **http} for number in range(SERVERS)}
    config = {
        "servers": entries,
        "listen": {"address": f"127.0.0.1:{port}"},
        "admin": {"address": "127.0.0.1:0"},
        "store": f"sqlite:///{folder}/store.db",
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    weighbridge, chosen = str(ROOT / ".venv/bin/weighbridge"), ["-c", str(folder / "config.yaml")]
    subprocess.run(
        [weighbridge, "tools", "pin", "--reviewed", *chosen], check=True, stdout=subprocess.DEVNULL
    )
    for server in list(entries)[::2]:  # the tools of every other server only read
        path = folder / f"policies/contracts/{server}.yaml"
        path.write_text(path.read_text().replace("effect: write", "effect: read"))
    command = [weighbridge, "serve", *chosen]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def plan(calls: int, first: int) -> Iterator[tuple[int, str, str]]:
    """Number, server and fault of each call; the same in every run."""
    choose = random.Random(first)
    for number in range(first, first + calls):
        kind = choose.choice(("stdio", "http"))
        do = choose.choice(FAULTS[kind]) if choose.random() < 0.1 else ""
        yield number, f"{kind}{choose.randrange(SERVERS)}", do


async def one(connection: Connection, number: int, server: str, do: str) -> dict:
    """Make a call, check that its answer is its own, and return what the gateway says of it."""
    name = f"{server}__echo"
    params = {"name": name, "arguments": {"n": number, "do": do}, "_meta": META}
    body = orjson.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    _, answer = await connection.request(head(name, ""), body)
    reply = message_of(answer)
    assert reply["id"] == number, reply
    outcome = reply["result"]["_meta"]["weighbridge/outcome"]
    if outcome["status"] == "ok":
        assert do == "", (do, reply)
        assert reply["result"]["content"][0]["text"] == str(number), reply
    return outcome


async def ready(port: int) -> None:
    """Wait until every server answers."""
    connection = Connection("127.0.0.1", port)
    async with asyncio.timeout(60):
        for server in [f"{kind}{number}" for kind in FAULTS for number in range(SERVERS)]:
            while True:
                try:
                    if (await one(connection, 1, server, ""))["status"] == "ok":
                        break
                except (OSError, ConnectionError):
                    connection = Connection("127.0.0.1", port)
                await asyncio.sleep(0.1)


async def storm(port: int, calls: int, first: int) -> Tally:
    found, planned = Tally(), plan(calls, first)

    async def worker() -> None:
        connection = Connection("127.0.0.1", port)
        for number, server, do in planned:
            began = time.perf_counter()
            outcome = await one(connection, number, server, do)
            found.slowest = max(found.slowest, time.perf_counter() - began)
            found.calls.append(outcome["call_id"])
            found.statuses[outcome["status"]] += 1
            if do:
                found.by_fault[f"{server.rstrip('0123456789')} {do}"][outcome["status"]] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(16):
            group.create_task(worker())
    return found


def final_events(store: Path) -> collections.Counter[str]:
    """How many final events each call has."""
    connection = sqlite3.connect(store)
    rows = connection.execute(
        "SELECT call_id, COUNT(*) FROM events WHERE kind = 'tool_call' "
        "AND stage IN ('finished', 'failed') GROUP BY call_id"
    ).fetchall()
    connection.close()
    return collections.Counter(dict(rows))


def memory(pid: int) -> float:
    """What the gateway alone holds, in MiB; its servers come and go."""
    return psutil.Process(pid).memory_full_info().uss / 2**20


def report(folder: Path, found: list[Tally], sizes: list[float], took: float) -> bool:
    """Print what happened, and return whether it was as it has to be."""
    events = final_events(folder / "store.db")
    main = found[1:]
    calls = [call for tally in found for call in tally.calls]
    total = sum((tally.statuses for tally in main), collections.Counter())
    wrong = [call for call in calls if events[call] != 1]
    doubled = [call for call, count in events.items() if count != 1]
    print(f"{total.total()} calls in {took:.0f} s: {dict(total.most_common())}")
    for fault in sorted({fault for tally in main for fault in tally.by_fault}):
        each = sum((tally.by_fault[fault] for tally in main), collections.Counter())
        print(f"  {fault:14} {dict(each.most_common())}")
    print("memory of the gateway (USS, MiB):", " ".join(f"{size:.0f}" for size in sizes))
    print(f"slowest call: {max(tally.slowest for tally in main):.1f} s")
    print(f"calls without exactly one final event: {len(wrong)} of {len(calls)}")
    log = (folder / "log").read_text()
    print(f"log: {len(log.splitlines())} lines, {log.count('Traceback')} stack traces")
    flat = max(sizes[len(sizes) // 2 :]) < max(sizes[: len(sizes) // 2]) * 1.1 + 2
    answered = set(total) <= ANSWERED and len(set(calls)) == len(calls)
    return answered and not wrong and not doubled and flat and "Traceback" not in log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    calls = parser.parse_args().calls
    folder = Path(tempfile.mkdtemp(prefix="weighbridge-chaos-"))
    port, http_port = free_port(), free_port()
    http = subprocess.Popen([sys.executable, "-m", "bench.chaos_http", str(http_port)], cwd=ROOT)
    try:
        process = started(folder, port, http_port)
    except BaseException:
        http.kill()
        raise
    try:
        asyncio.run(ready(port))
        found, first = [asyncio.run(storm(port, WARM, 1_000))], 1_000 + WARM
        sizes, began = [memory(process.pid)], time.perf_counter()
        for _ in range(STEPS):
            found.append(asyncio.run(storm(port, calls // STEPS, first)))
            sizes.append(memory(process.pid))
            first += calls // STEPS
        took = time.perf_counter() - began
        asyncio.run(ready(port))  # alive, and every server is back
        alive = process.poll() is None
    finally:
        process.terminate()
        code = process.wait(30)
        http.kill()
        http.wait()
    good = report(folder, found, sizes, took)
    print(f"alive: {alive}; exit code at the end: {code}")
    good = good and alive and code == 0
    print("1 passed, 0 failed" if good else f"0 passed, 1 failed; see {folder}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
