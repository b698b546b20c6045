"""A fast downstream: answers both eras from one raw ASGI function.

python -m bench.downstream PORT [write]: the tool `echo`, which reads, and `note`, which writes.
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
INFO = {"name": "bench", "version": "1"}


def answer(method: str, params: dict) -> dict | None:
    modern = "io.modelcontextprotocol/protocolVersion" in (params.get("_meta") or {})
    result: dict | None
    if method == "tools/call":
        arguments = params["arguments"]
        result = {
            "content": [{"type": "text", "text": arguments["text"]}],
            "structuredContent": {"text": arguments["text"], "n": arguments["n"]},
        }
    elif method == "tools/list":
        result = {"tools": [TOOL, WRITE] if "write" in sys.argv[2:] else [TOOL]}
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
    result = answer(message["method"], message.get("params") or {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "method not found"}
    else:
        reply["result"] = result
    await respond(send, 200 if result is not None else 404, orjson.dumps(reply))


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
