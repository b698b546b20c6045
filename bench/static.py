"""Serves a list from memory: the same bytes as the gateway's, page by page, and nothing else.

python -m bench.static PORT FILE: the file holds one result a line, in the order of the pages.
"""

import sys
from pathlib import Path

import orjson
import uvicorn

from bench.asgi import live, read, respond


def build(pages: list[bytes]):
    after = {orjson.loads(page).get("nextCursor"): page for page in pages[:-1]}
    following = dict(zip(after, pages[1:], strict=True))

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        body = await read(receive)
        if body is None:
            return
        message = orjson.loads(body)
        number = orjson.dumps(message["id"])
        result = following.get(message["params"].get("cursor"), pages[0])
        await respond(send, 200, b'{"jsonrpc":"2.0","id":' + number + b',"result":' + result + b"}")

    return app


if __name__ == "__main__":
    uvicorn.run(
        build(Path(sys.argv[2]).read_bytes().splitlines()),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="error",
        access_log=False,
        http="httptools",
        loop="uvloop",
        timeout_keep_alive=300,
    )
