"""10,000 calls, one in ten meets a fault: gateway alive, memory flat, one final event each.

scripts/chaos [--calls 10000]
"""

import argparse
import asyncio
import collections
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

from bench.client import Connection
from bench.load import META, head, message_of
from bench.run import free_port, tree_pss

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ("kill", "garbage", "silence", "huge")
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


def started(folder: Path, port: int) -> subprocess.Popen:
    (folder / "policies").mkdir()
    (folder / "policies/all.yaml").write_text(POLICY)
    server = {
        "command": sys.executable,
        "args": [str(ROOT / "bench/faulty.py")],
        "protocol": "legacy",
        "timeout": "2s",
        "max_calls": 64,
        "restart": {"first": "20ms", "longest": "200ms", "stable_after": "1s"},
    }
    config = {
        "servers": {f"s{number}": server for number in range(4)},
        "listen": {"address": f"127.0.0.1:{port}"},
        "admin": {"address": "127.0.0.1:0"},
        "store": f"sqlite:///{folder}/store.db",
        "contracts": {"unreviewed": "observe"},
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    command = [str(ROOT / ".venv/bin/weighbridge"), "serve", "-c", str(folder / "config.yaml")]
    log = (folder / "log").open("w")
    return subprocess.Popen(command, stdout=log, stderr=log)


async def one(connection: Connection, number: int, do: str) -> str:
    name = f"s{number % 4}__echo"
    params = {"name": name, "arguments": {"n": number, "do": do}, "_meta": META}
    body = orjson.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    _, answer = await connection.request(head(name, ""), body)
    reply = message_of(answer)
    assert reply["id"] == number, reply
    status = reply["result"]["_meta"]["weighbridge/outcome"]["status"]
    if do == "" and status == "ok":
        assert reply["result"]["content"][0]["text"] == str(number), reply
    return status


async def ready(port: int) -> None:
    connection = Connection("127.0.0.1", port)
    async with asyncio.timeout(60):
        fine = 0
        while fine < 4:
            try:
                statuses = [await one(connection, number, "") for number in range(4)]
                fine = statuses.count("ok")
            except (OSError, ConnectionError):
                connection = Connection("127.0.0.1", port)
            await asyncio.sleep(0.1)


async def storm(port: int, calls: int) -> collections.Counter[str]:
    found: collections.Counter[str] = collections.Counter()
    numbers = iter(range(1_000, 1_000 + calls))

    async def worker() -> None:
        connection = Connection("127.0.0.1", port)
        for number in numbers:
            do = FAULTS[number // 10 % 4] if number % 10 == 0 else ""
            found[await one(connection, number, do)] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(16):
            group.create_task(worker())
    return found


def final_events(store: Path) -> tuple[int, int]:
    """Calls with a final event, and calls with another number of them than one."""
    connection = sqlite3.connect(store)
    rows = connection.execute(
        "SELECT call_id, COUNT(*) FROM events WHERE kind = 'tool_call' "
        "AND stage IN ('finished', 'failed') GROUP BY call_id"
    ).fetchall()
    connection.close()
    return len(rows), sum(count != 1 for _, count in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000)
    calls = parser.parse_args().calls
    folder, port = Path(tempfile.mkdtemp(prefix="weighbridge-chaos-")), free_port()
    process = started(folder, port)
    try:
        asyncio.run(ready(port))
        asyncio.run(storm(port, 500))  # warm: pools, caches, first restarts
        before, began = tree_pss(process.pid), time.perf_counter()
        found = asyncio.run(storm(port, calls))
        took, after = time.perf_counter() - began, tree_pss(process.pid)
        asyncio.run(ready(port))  # alive, and every server is back
        alive = process.poll() is None
    finally:
        process.terminate()
        code = process.wait(30)
    with_event, wrong = final_events(folder / "store.db")
    print(f"{calls} calls in {took:.0f} s: {dict(found.most_common())}")
    print(f"memory (PSS of the tree): {before:.0f} MiB before, {after:.0f} MiB after")
    print(f"calls with a final event: {with_event}; with another number than one: {wrong}")
    print(f"alive: {alive}; exit code at the end: {code}")
    good = (
        sum(found.values()) == calls
        and set(found) <= ANSWERED
        and wrong == 0
        and with_event >= calls + 500
        and alive
        and code == 0
        and after < before * 1.5
    )
    print("1 passed, 0 failed" if good else "0 passed, 1 failed")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
