"""Lines over file descriptors: capped, without threads, cancelled at once."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Generator
from typing import Final

import anyio

_CHUNK: Final = 256 * 1024
_MOST_HELD: Final = 256 * 1024  # bytes of lines that wait; whoever adds more waits with them


class LineTooLong(Exception):
    """A line went over the cap; it has been skipped up to its end."""


class LineReader:
    """Splits what a descriptor gives into lines of at most `max_bytes`, in linear time."""

    def __init__(self, fd: int, *, max_bytes: int) -> None:
        self._fd = fd
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []  # of the line that is being read
        self._size = 0
        self._ready: list[bytes | None] = []  # whole lines, last first; None is one too long

    async def read(self) -> bytes | None:
        """Return the next line without its end, or None after the last; raises LineTooLong."""
        while not self._ready:
            chunk = await _read(self._fd)
            if not chunk:
                return self._take(b"") if self._size else None
            head, *rest = chunk.split(b"\n")
            if not rest:
                self._add(head)
                continue
            lines = [self._end(head), *(self._fits(line) for line in rest[:-1])]
            self._ready = lines[::-1]
            self._add(rest[-1])
        line = self._ready.pop()
        if line is None:
            raise LineTooLong
        return line

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._max_bytes:
            self._parts.append(part)
        else:
            self._parts.clear()  # counted on, but not kept

    def _end(self, part: bytes) -> bytes | None:
        self._add(part)
        line = b"".join(self._parts) if self._size <= self._max_bytes else None
        self._parts, self._size = [], 0
        return line

    def _fits(self, line: bytes) -> bytes | None:
        return line if len(line) <= self._max_bytes else None

    def _take(self, part: bytes) -> bytes:
        line = self._end(part)
        if line is None:
            raise LineTooLong
        return line


async def _read(fd: int) -> bytes:
    while True:
        try:
            return os.read(fd, _CHUNK)
        except BlockingIOError:
            await anyio.wait_readable(fd)


async def write_all(fd: int, data: bytes) -> None:
    """Write all of it; raises BrokenPipeError when the reader has left."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            await anyio.wait_writable(fd)


class LineWriter:
    """Writes lines in the order in which they come; those of one turn of the loop together.

    To write a line takes longer than to make most of them, and wakes who reads it each time.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._waiting: list[bytes] = []
        self._size = 0
        self._is_busy = False  # somebody is at the descriptor
        self._fault: OSError | None = None  # of whoever has written at once
        self._news: asyncio.Future[None] | None = None  # what `run` waits for
        self._rest: asyncio.Future[None] | None = None  # done when nothing waits any more

    async def write(self, line: bytes, *, at_once: bool) -> None:
        """Write a line at once, or leave it to `run`, unless much waits already.

        That the reader has left is told to `run` alone.
        """
        text = line + b"\n"
        if at_once and not self._is_busy and not self._waiting:
            try:
                await self._out(text)
            except OSError as error:
                self._fault = error
                self._tell(self._news)
            return
        self._waiting.append(text)
        self._size += len(text)
        self._tell(self._news)
        if self._size > _MOST_HELD:
            await self.drained()

    async def run(self) -> None:
        """Write what is left to it until cancelled; raises BrokenPipeError when nobody reads."""
        loop = asyncio.get_running_loop()
        while self._fault is None:
            if self._waiting and not self._is_busy:
                await self._out(self._taken())
            else:
                self._news = loop.create_future()
                await self._news
        raise self._fault

    async def drained(self) -> None:
        """Wait until everything is written."""
        while self._waiting or self._is_busy:
            if self._rest is None or self._rest.done():
                self._rest = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._rest)

    def leave(self) -> None:
        """Write of what waits as much as the reader takes now; for an end that waits for nobody."""
        if self._waiting and not self._is_busy:
            with contextlib.suppress(OSError):
                os.write(self._fd, self._taken())

    async def _out(self, data: bytes) -> None:
        self._is_busy = True
        try:
            await write_all(self._fd, data)
        finally:
            self._is_busy = False
            self._tell(self._news if self._waiting else self._rest)

    def _taken(self) -> bytes:
        data = b"".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        return data

    def _tell(self, waiting: "asyncio.Future[None] | None") -> None:
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


@contextlib.contextmanager
def claimed_stdio() -> Generator[tuple[int, int]]:
    """Take stdin and stdout away from everybody else; gives private descriptors for both.

    Stray prints, also of child processes, go to stderr, and stdin reads as empty (MCP stdio:
    nothing but messages on stdout). Everything is put back afterwards, for the shell's sake.
    """
    saved = [os.dup(0), os.dup(1)]
    blocking = [os.get_blocking(fd) for fd in saved]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        for fd in saved:
            os.set_blocking(fd, False)
        yield saved[0], saved[1]
    finally:
        sys.stdout.flush()  # what was printed meanwhile must not be written to the client later
        for number, (fd, was_blocking) in enumerate(zip(saved, blocking, strict=True)):
            os.set_blocking(fd, was_blocking)
            os.dup2(fd, number)
            os.close(fd)
