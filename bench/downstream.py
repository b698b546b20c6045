"""A fast downstream: answers both eras from one raw ASGI function.

python -m bench.downstream PORT [write] [sse] [rows] [many]

The tool `echo` reads. With `write` there is `note`, which writes; with `rows` there is `rows`,
whose result has 32 KB in fields; with `many` there are 50 others. With `sse`, answers stream.
"""

import sys

import orjson
import uvicorn

from bench.asgi import live, read, respond

TOOL = {
    "name": "echo",
    "description": "Return the text and a row for it.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 100_000}, "n": {"type": "integer"}},
        "required": ["text", "n"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["text", "n"],
    },
    "annotations": {"readOnlyHint": True},
}
WRITE = {
    **TOOL,
    "name": "note",
    "description": "Keep a text in a row.",
    "annotations": {"readOnlyHint": False, "destructiveHint": False},
}
_ROW = {"type": "object", "properties": {"id": {"type": "integer"}, "state": {"type": "string"}}}
ROWS = {
    "name": "rows",
    "description": "Return many rows.",
    "inputSchema": {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "rows": {"type": "array", "items": _ROW}},
        "required": ["n", "rows"],
    },
    "annotations": {"readOnlyHint": True},
}
COUNT = 64  # rows, of half a KB each
MANY = [{**TOOL, "name": f"tool_{number:02}", "description": "x" * 600} for number in range(50)]


def rows(n: int) -> dict:
    return {"n": n, "rows": [row(n + number) for number in range(COUNT)]}


def row(number: int) -> dict:
    person = {"name": "Ada Example", "city": "Example Town", "notes": "n" * 300}
    return {"id": number, "state": "open", "person": person, "amounts": [1.5, 2.25, number]}


INFO = {"name": "bench", "version": "1"}


def tools(words: list[str]) -> list[dict]:
    if "many" in words:
        return MANY
    more = [WRITE] if "write" in words else []
    return [TOOL, *more, *([ROWS] if "rows" in words else [])]


def replied(message: dict) -> dict:
    result = answer(message["method"], message.get("params") or {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        return {**reply, "error": {"code": -32601, "message": "method not found"}}
    return {**reply, "result": result}


def answer(method: str, params: dict) -> dict | None:
    modern = "io.modelcontextprotocol/protocolVersion" in (params.get("_meta") or {})
    result: dict | None
    if method == "tools/call" and params["name"] == "rows":
        result = {
            "content": [{"type": "text", "text": f"{COUNT} rows"}],
            "structuredContent": rows(params["arguments"]["n"]),
        }
    elif method == "tools/call":
        arguments = params["arguments"]
        result = {
            "content": [{"type": "text", "text": arguments["text"]}],
            "structuredContent": {"text": arguments["text"], "n": arguments["n"]},
        }
    elif method == "tools/list":
        result = {"tools": tools(sys.argv)}
        if modern:
            result |= {"ttlMs": 60000, "cacheScope": "public"}
    elif method == "server/discover":
        result = {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 60000,
            "cacheScope": "public",
        }
    elif method == "initialize":
        version = params.get("protocolVersion", "2025-11-25")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": INFO}
    elif method == "ping":
        return {}
    else:
        return None
    if modern:
        result["resultType"] = "complete"
    return result


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    body = await read(receive)
    if body is None:
        return
    if scope["method"] != "POST":
        await respond(send, 405, b"")
        return
    message = orjson.loads(body)
    if "id" not in message:
        await respond(send, 202, b"")
        return
    reply = replied(message)
    await respond(
        send,
        200 if "result" in reply else 404,
        orjson.dumps(reply),
        is_stream="sse" in sys.argv and message["method"] == "tools/call",
    )


if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="error",
        access_log=False,
        http="httptools",
        loop="uvloop",
        timeout_keep_alive=300,  # no caller here looks for connections that were closed meanwhile
    )
