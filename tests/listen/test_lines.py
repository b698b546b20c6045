"""Lines over real pipes."""

import contextlib
import os
from collections.abc import Generator

import anyio
import pytest

from gateway.listen.lines import LineReader, LineTooLong, write_all
from tests.listen.house import LIMIT_S


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    source, sink = os.pipe()
    os.set_blocking(source, False)
    os.set_blocking(sink, False)
    yield source, sink
    for fd in (source, sink):
        with contextlib.suppress(OSError):  # some tests close one themselves
            os.close(fd)


async def test_lines_come_whole_however_they_are_cut(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    reader = LineReader(source, max_bytes=100)
    got: list[bytes | None] = []

    async def read() -> None:
        while not got or got[-1] is not None:
            got.append(await reader.read())

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            for part in (b"on", b"e\ntwo\n\nthr", b"ee", b"\nlast"):
                os.write(sink, part)
                await anyio.lowlevel.checkpoint()
            os.close(sink)
    assert got == [b"one", b"two", b"", b"three", b"last", None]


async def test_a_line_over_the_cap_is_skipped_and_the_next_is_read(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    reader = LineReader(source, max_bytes=4)
    os.write(sink, b"1234\n12345\nok\n123456")
    with anyio.fail_after(LIMIT_S):
        assert await reader.read() == b"1234"
        with pytest.raises(LineTooLong):
            await reader.read()
        assert await reader.read() == b"ok"
        os.write(sink, b"789" * 1000)
        os.close(sink)
        with pytest.raises(LineTooLong):
            await reader.read()
        assert await reader.read() is None


async def test_a_full_pipe_is_waited_for(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    reader = LineReader(source, max_bytes=1 << 21)
    text = b"x" * (1 << 20)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write_all, sink, text + b"\n")
        with anyio.fail_after(LIMIT_S):
            assert await reader.read() == text


async def test_a_regular_file_is_read_to_its_end(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "in")
    with open(path, "wb") as file:
        file.write(b"a\nb\n")
    fd = os.open(path, os.O_RDONLY)
    try:
        reader = LineReader(fd, max_bytes=10)
        assert [await reader.read() for _ in range(3)] == [b"a", b"b", None]
    finally:
        os.close(fd)
