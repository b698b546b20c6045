"""An OTLP/HTTP collector that counts spans; `GET /` answers with the count.

It counts when it is asked, between the loads: to read a batch takes it some milliseconds, in which
the targets would have one processor less. A collector in use has a machine of its own.
"""

import gzip
import sys

import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.asgi import live, read, respond

_spans = 0
_unread: list[bytes] = []


def count(body: bytes) -> int:
    request = ExportTraceServiceRequest.FromString(body)
    return sum(len(scope.spans) for one in request.resource_spans for scope in one.scope_spans)


async def app(scope, receive, send):
    global _spans  # noqa: PLW0603 - the one thing that this process is for
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    body = await read(receive)
    if body is None:
        return
    if scope["path"] == "/v1/traces":
        zipped = (b"content-encoding", b"gzip") in scope["headers"]
        _unread.append(gzip.decompress(body) if zipped else body)
    if scope["method"] == "GET":
        _spans += sum(map(count, _unread))
        _unread.clear()
    await respond(send, 200, b"%d" % _spans if scope["method"] == "GET" else b"")


if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="error",
        access_log=False,
        http="httptools",
        loop="uvloop",
    )
