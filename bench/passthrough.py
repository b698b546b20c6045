"""The bare hop: raw ASGI in, own pooled client out, bytes untouched. The floor for a gateway."""

import sys

import uvicorn

from bench.asgi import live
from bench.client import Pool

_DROP = {b"host", b"content-length", b"connection", b"authorization", b"transfer-encoding"}


def build(port: int):
    pool = Pool("127.0.0.1", port)

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        head = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n" + b"".join(
            name + b": " + value + b"\r\n" for name, value in scope["headers"] if name not in _DROP
        )
        status, answer = await pool.request(head, body)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(answer)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


if __name__ == "__main__":
    uvicorn.run(
        build(int(sys.argv[2])),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="error",
        access_log=False,
        http="httptools",
        loop="uvloop",
        timeout_keep_alive=300,  # no caller here looks for connections that were closed meanwhile
    )
