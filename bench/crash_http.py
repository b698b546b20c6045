"""A tool server that writes down, for good, each write that it carries out; then it answers.

python -m bench.crash_http PORT FILE

The file has a line for each write: tool, number, key. `put_keyed` knows its key again.
"""

import asyncio
import os
import random
import sys

import orjson
import uvicorn

from bench.asgi import live, read, respond

SLOWEST_S = 0.03  # before a write, and between the write and its answer
NUMBER = {"n": {"type": "integer"}}
KEYED = {**NUMBER, "key": {"type": "string"}}
# Nothing is known of the first; the second takes the same key twice; the third bears repeating.
TOOLS = {"put": NUMBER, "put_keyed": KEYED, "put_same": NUMBER}


def tool(name: str) -> dict:
    schema = {"type": "object", "properties": TOOLS[name], "required": ["n"]}
    return {"name": name, "description": "Write a row.", "inputSchema": schema}


class Rows:
    """What was written; whoever has read a line knows that it was."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.last = 0
        self.by_key: dict[str, int] = {}

    def write(self, name: str, arguments: dict) -> int:
        key = arguments.get("key", "")
        if key in self.by_key:
            return self.by_key[key]
        os.write(self.file, f"{name} {arguments['n']} {key}\n".encode())
        self.last += 1
        if key:
            self.by_key[key] = self.last
        return self.last


async def call(rows: Rows, name: str, arguments: dict) -> dict:
    await asyncio.sleep(random.uniform(0, SLOWEST_S))
    row = rows.write(name, arguments)
    await asyncio.sleep(random.uniform(0, SLOWEST_S))
    return {"content": [{"type": "text", "text": f"{name} {arguments['n']} is row {row}"}]}


async def answer(rows: Rows, method: str, params: dict) -> dict:
    match method:
        case "initialize":
            offered = {
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "rows", "version": "1"},
            }
            return {"protocolVersion": params["protocolVersion"], **offered}
        case "tools/list":
            return {"tools": [tool(name) for name in TOOLS]}
        case "tools/call":
            return await call(rows, params["name"], params["arguments"])
        case _:
            return {}


def serving(rows: Rows):
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        # A request that was read whole is carried out, whoever sent it and is gone by now.
        body = await read(receive)
        if body is None or scope["method"] != "POST":
            await respond(send, 405, b"")
            return
        message = orjson.loads(body)
        if "id" not in message:
            await respond(send, 202, b"")
            return
        result = await answer(rows, message["method"], message.get("params") or {})
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        await respond(send, 200, orjson.dumps(reply))

    return app


if __name__ == "__main__":
    uvicorn.run(
        serving(Rows(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), log_level="error"
    )
