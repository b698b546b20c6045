"""Lines over real pipes."""

import contextlib
import os
from collections.abc import Generator

import anyio
import pytest

from gateway.listen.lines import LineReader, LineTooLong, LineWriter, write_all
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


async def test_what_waits_for_a_slow_reader_has_a_bound_and_keeps_its_order(
    pipe: tuple[int, int],
) -> None:
    source, sink = pipe
    writer, reader = LineWriter(sink), LineReader(source, max_bytes=2_000)
    many, accepted = 1_000, 0  # of a kilobyte each

    async def write() -> None:
        nonlocal accepted
        for number in range(many):
            # Some would rather be written at once: they must not overtake what waits.
            await writer.write(b"%d " % number + b"x" * 1_000, at_once=number % 7 == 0)
            accepted += 1

    heard: list[bytes | None] = []
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.run)
            tasks.start_soon(write)
            before = -1
            while before != accepted:
                before = accepted
                for _ in range(20):
                    await anyio.lowlevel.checkpoint()
            assert 256 < accepted < 512
            heard = [await reader.read() for _ in range(many)]
            await writer.drained()
            tasks.cancel_scope.cancel()
    assert [int((line or b"").split()[0]) for line in heard] == [*range(many)]


async def test_a_line_that_is_half_written_is_ended_before_another_begins(
    pipe: tuple[int, int],
) -> None:
    source, sink = pipe
    writer, reader = LineWriter(sink), LineReader(source, max_bytes=1 << 20)
    lines = [b"a" * 300_000, b"b" * 300_000, b"c"]  # none of the first two fits into the pipe
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.run)
            for line in lines:
                tasks.start_soon(lambda line=line: writer.write(line, at_once=True))
            assert [await reader.read() for _ in lines] == lines
            tasks.cancel_scope.cancel()


async def test_that_nobody_reads_is_told_to_whoever_writes_what_is_left(
    pipe: tuple[int, int],
) -> None:
    source, sink = pipe
    os.close(source)
    for at_once in (True, False):
        writer = LineWriter(sink)
        with anyio.fail_after(LIMIT_S):
            await writer.write(b"x", at_once=at_once)
            with pytest.raises(BrokenPipeError):
                await writer.run()
