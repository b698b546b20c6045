"""The stdio front before a house, over pipes of this process."""

import contextlib
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from gateway import jsontext
from gateway.clock import SystemClock
from gateway.listen.gate import ServerInfo
from gateway.listen.legacy import SdkFront
from gateway.listen.lines import LineReader
from gateway.listen.stdio import serve_descriptors
from gateway.types.json import JsonObject
from tests.listen.house import House, a_principal

# A process has to start first, on a machine that may be busy.
LIMIT_S = 20.0


@asynccontextmanager
async def linked(
    house: House, *, max_line_bytes: int = 2000
) -> AsyncGenerator[tuple[int, LineReader, anyio.Event]]:
    """Serve the house over pipes; gives where to write, what to read, and how to stop."""
    ends = [*os.pipe(), *os.pipe()]
    for fd in ends:
        os.set_blocking(fd, False)
    stdin, to_front, from_front, stdout = ends
    front = SdkFront(house, info=ServerInfo(), clock=SystemClock())
    stop = anyio.Event()

    async def serve() -> None:
        await serve_descriptors(
            front,
            house,
            a_principal("local"),
            stdin,
            stdout,
            stop=stop,
            max_line_bytes=max_line_bytes,
        )
        ends.remove(stdout)
        os.close(stdout)  # as a process that ends does

    try:
        with anyio.fail_after(LIMIT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve)
                yield to_front, LineReader(from_front, max_bytes=1 << 21), stop
                stop.set()
    finally:
        for fd in ends:
            with contextlib.suppress(OSError):  # some tests close one themselves
                os.close(fd)


async def hear(reader: LineReader) -> JsonObject:
    value = jsontext.parse(await reader.read() or b"")
    assert isinstance(value, dict)
    return value
