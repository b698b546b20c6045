"""An HTTP tool server that does as it is told: answer, reset, cut off, flood, or never end.

python -m bench.chaos_http PORT
"""

import asyncio
import contextlib
import gzip
import json
import socket
import struct
import sys

from bench.faulty import TOOL

MIB = 1 << 20
HUGE = 50 * MIB
BOMB = gzip.compress(b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":"' + b"x" * HUGE + b'"}}')
NOTE = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"again"}}\n\n'


async def head(writer: asyncio.StreamWriter, status: str, length: int | None, *more: str) -> None:
    lines = [f"HTTP/1.1 {status}", *more]
    if length is not None:
        lines.append(f"content-length: {length}")
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    await writer.drain()


async def say(
    writer: asyncio.StreamWriter, body: bytes, *more: str, status: str = "200 OK"
) -> None:
    await head(writer, status, len(body), *(more or ("content-type: application/json",)))
    writer.write(body)
    await writer.drain()


async def result(writer: asyncio.StreamWriter, request_id: object, value: dict) -> None:
    await say(writer, json.dumps({"jsonrpc": "2.0", "id": request_id, "result": value}).encode())


async def endless(writer: asyncio.StreamWriter) -> None:
    await head(writer, "200 OK", None, "content-type: text/event-stream")
    while True:  # until the other side has had enough, and writing fails
        writer.write(NOTE * 100)
        await writer.drain()
        await asyncio.sleep(0.001)


async def huge(writer: asyncio.StreamWriter, request_id: object) -> None:
    start = f'{{"jsonrpc":"2.0","id":{request_id},"result":{{"content":[],"x":"'.encode()
    await head(writer, "200 OK", len(start) + HUGE + 3, "content-type: application/json")
    writer.write(start)
    for _ in range(HUGE // MIB):
        writer.write(b"x" * MIB)
        await writer.drain()
    writer.write(b'"}}')
    await writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def call(writer: asyncio.StreamWriter, request_id: object, arguments: dict) -> None:
    match arguments["do"]:
        case "reset":
            reset(writer)
        case "cut":
            await head(writer, "200 OK", 1000, "content-type: application/json")
            writer.write(b'{"jsonrpc":"2.0",')
            writer.close()
        case "garbage":
            await say(writer, b'{"jsonrpc": "2.0", "id": nonsense')
        case "no http":
            writer.write(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
            await writer.drain()
        case "silence":
            await asyncio.sleep(60)
        case "huge":
            await huge(writer, request_id)
        case "endless":
            await endless(writer)
        case "500":
            await say(writer, b"oops", "content-type: text/plain", status="500 Oops")
        case "bomb":
            await say(writer, BOMB, "content-type: application/json", "content-encoding: gzip")
        case _:
            text = {"type": "text", "text": str(arguments["n"])}
            await result(writer, request_id, {"content": [text]})


async def answer(writer: asyncio.StreamWriter, message: dict) -> None:
    method, request_id = message.get("method"), message.get("id")
    match method:
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "faulty", "version": "1"}
            offered = {"protocolVersion": version, "capabilities": {"tools": {}}}
            await result(writer, request_id, {**offered, "serverInfo": info})
        case "tools/list":
            await result(writer, request_id, {"tools": [TOOL]})
        case "tools/call":
            await call(writer, request_id, message["params"]["arguments"])
        case _:
            await say(writer, b"", "content-type: text/plain", status="202 Accepted")


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one kept connection; whatever the other side does to it only ends it."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            top = await reader.readuntil(b"\r\n\r\n")
            if not top.startswith(b"POST"):
                await say(writer, b"", "allow: POST", status="405 Method Not Allowed")
                continue
            fields = dict(line.lower().split(b": ", 1) for line in top.split(b"\r\n")[1:-2])
            body = await reader.readexactly(int(fields[b"content-length"]))
            await answer(writer, json.loads(body))
    writer.close()


async def main(port: int) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
