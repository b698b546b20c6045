"""A load that checks every answer; prints one JSON line of latencies in microseconds."""

import asyncio
import sys
import time

import orjson
import uvloop

from bench.client import Connection

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}

OUTCOME = "weighbridge/outcome"


def head(tool: str, key: str) -> bytes:
    lines = [
        "POST /mcp HTTP/1.1",
        "host: 127.0.0.1",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        f"mcp-name: {tool}",
    ]
    if key:
        lines.append(f"authorization: Bearer {key}")
    return ("\r\n".join(lines) + "\r\n").encode()


def message_of(body: bytes) -> dict:
    """The JSON-RPC message of a JSON answer or of a one-message event stream."""
    if body.startswith(b"{"):
        return orjson.loads(body)
    data = [line[5:].strip() for line in body.splitlines() if line.startswith(b"data:")]
    return orjson.loads(data[-1])


async def worker(
    spec: dict, number: int, until: float, found: list[float], wrong: list[str]
) -> None:
    connection = Connection("127.0.0.1", spec["port"])
    top = head(spec["tool"], spec.get("key", ""))
    text = "x" * spec["size"]
    count = 0
    while time.perf_counter() < until:
        count += 1
        call_id = spec.get("first", 0) + number * 1_000_000 + count
        params = {"name": spec["tool"], "arguments": {"text": text, "n": call_id}, "_meta": META}
        body = orjson.dumps(
            {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": params}
        )
        began = time.perf_counter()
        status, answer = await connection.request(top, body)
        took = time.perf_counter() - began
        reply = message_of(answer)
        result = reply.get("result") or {}
        right = (
            status == 200
            and reply.get("id") == call_id
            and result.get("structuredContent") == {"text": text, "n": call_id}
            and not result.get("isError")
            and not (result.get("_meta") or {}).get(OUTCOME, {}).get("replayed")
        )
        if not right:
            wrong.append(answer[:300].decode(errors="replace"))
            if len(wrong) > 5:
                return
        found.append(took * 1e6)


async def run(spec: dict) -> dict:
    found: list[float] = []
    wrong: list[str] = []
    began = time.perf_counter()
    until = began + spec["seconds"]
    async with asyncio.TaskGroup() as group:
        for number in range(spec["concurrency"]):
            group.create_task(worker(spec, number + 1, until, found, wrong))
    wall = time.perf_counter() - began
    found.sort()
    if not found:
        return {"calls": 0, "wrong": wrong}
    return {
        "calls": len(found),
        "wrong": wrong,
        "per_second": len(found) / wall,
        "p50": found[len(found) // 2],
        "p99": found[int(len(found) * 0.99)],
    }


if __name__ == "__main__":
    print(orjson.dumps(uvloop.run(run(orjson.loads(sys.argv[1])))).decode())
