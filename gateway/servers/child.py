"""A child process: exact writes to its stdin, its stdout as it comes, its end for certain."""

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable
from typing import cast

import anyio

from gateway.servers.connection import ConnectFault
from gateway.servers.entry import Entry, Timeouts
from gateway.servers.environment import Launch

_LAST_WORDS_S = 0.25  # after the exit, output that is still in the pipes is waited for
_EXIT_AFTER_EOF_S = 0.5  # after the end of stdout, the exit code is waited for
_POLL_S = 0.02


class Outgoing:
    """One message on its way into a pipe; `sent` counts the bytes that have left."""

    __slots__ = ("data", "sent")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sent = 0

    @property
    def has_left(self) -> bool:
        """Whether all of it is in the pipe: a part without its end can't be acted upon."""
        return self.sent == len(self.data)


class PipeWriter:
    """Writes whole messages in order without blocking, and knows what has left."""

    def __init__(self, fd: int, on_broken: Callable[[], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._queue: deque[Outgoing] = deque()
        self._waiting = False
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> Outgoing:
        """Send a message, or queue it behind the ones before it."""
        outgoing = Outgoing(data)
        if self._fd >= 0:
            self._queue.append(outgoing)
            if not self._waiting:
                self._flush()
        return outgoing

    def withdraw(self, outgoing: Outgoing) -> bool:
        """Take a message back; False when some of it has left already."""
        if outgoing.sent:
            return False
        with contextlib.suppress(ValueError):  # a broken pipe has dropped it before
            self._queue.remove(outgoing)
        return True

    def close(self) -> None:
        """Close the pipe: the other side reads the end of its input."""
        if self._fd < 0:
            return
        self._listen(False)
        os.close(self._fd)
        self._fd = -1
        self._queue.clear()

    def _flush(self) -> None:
        while self._queue:
            first = self._queue[0]
            try:
                first.sent += os.write(self._fd, memoryview(first.data)[first.sent :])
            except BlockingIOError:
                self._listen(True)
                return
            except OSError:  # the reader is gone
                self.close()
                self._on_broken()
                return
            if first.has_left:
                self._queue.popleft()
        self._listen(False)

    def _listen(self, wanted: bool) -> None:
        if wanted and not self._waiting:
            self._loop.add_writer(self._fd, self._flush)
        elif self._waiting and not wanted:
            self._loop.remove_writer(self._fd)
        self._waiting = wanted


class Child(asyncio.SubprocessProtocol):
    """A running command in a session of its own.

    `on_output` gets stdout as it comes; `on_gone` is called once, when nothing more will come.
    """

    def __init__(
        self, *, on_output: Callable[[bytes], None], on_gone: Callable[[], None], tail_bytes: int
    ) -> None:
        self._on_output = on_output
        self._on_gone: Callable[[], None] | None = on_gone
        self._tail_bytes = tail_bytes
        self._tail = b""
        self._open = {1, 2}
        self._exited = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self.stdin: PipeWriter | None = None

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._transport.get_pid() if self._transport else 0

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs."""
        return self._transport.get_returncode() if self._transport else None

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr, unmasked, and longer than the cap.

        Whoever shows it masks first and cuts then: a secret at the very start may be half gone.
        """
        return self._tail.decode("utf-8", "replace")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; asyncio calls this."""
        self._transport = cast("asyncio.SubprocessTransport", transport)  # by subprocess_exec

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Hand stdout on, and keep the end of stderr; asyncio calls this."""
        if fd == 1:
            self._on_output(data)
        else:
            self._tail = (self._tail + data)[-2 * self._tail_bytes :]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note that a pipe ended; asyncio calls this."""
        self._open.discard(fd)
        if not self._open and self._exited.is_set():
            self._gone()
        elif fd == 1:
            self._loop.call_later(_EXIT_AFTER_EOF_S, self._gone)

    def process_exited(self) -> None:
        """Note the exit; asyncio calls this."""
        self._exited.set()
        if self._open:  # a grandchild may hold the pipes open for ever
            self._loop.call_later(_LAST_WORDS_S, self._gone)
        else:
            self._gone()

    def pipe_broken(self) -> None:
        """Note that nobody reads stdin any more: the process is as good as gone."""
        self._loop.call_later(_EXIT_AFTER_EOF_S, self._gone)

    def _gone(self) -> None:
        if self._on_gone is not None:
            on_gone, self._on_gone = self._on_gone, None
            on_gone()

    async def stop(self, timeouts: Timeouts) -> bool:
        """End the process and its whole group; True when that took SIGKILL.

        The order is that of MCP 2025-11-25, basic/lifecycle, shutdown: close stdin, wait,
        SIGTERM, wait, SIGKILL.
        """
        self._on_gone = None
        if self.stdin is not None:
            self.stdin.close()
        forced = False
        if not await self._exits_within(timeouts.stop_eof_s):
            self._signal(signal.SIGTERM)
            if not await self._exits_within(timeouts.stop_term_s):
                forced = True
                self._signal(signal.SIGKILL)
                await self._exits_within(timeouts.stop_term_s)
        forced |= await self._end_group(timeouts.stop_term_s)
        if self._transport is not None:
            self._transport.close()
        return forced

    async def _exits_within(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    async def _end_group(self, patience_s: float) -> bool:
        """End what the leader left behind in its group.

        The group's id stays taken while it has members, so it can't have become another's.
        """
        if not self._signal(signal.SIGTERM):
            return False
        with anyio.move_on_after(patience_s):
            while self._signal(0):  # noqa: ASYNC110 - the system tells the end of a group to nobody
                await anyio.sleep(_POLL_S)
            return False
        self._signal(signal.SIGKILL)
        return True

    def _signal(self, number: int) -> bool:
        """Signal the group; False when it has no members left."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS: EPERM for a group of zombies
            return False
        return True


async def spawn(
    entry: Entry,
    launch: Launch,
    *,
    on_output: Callable[[bytes], None],
    on_gone: Callable[[], None],
) -> Child:
    """Start the command without a shell; raises ConnectFault when the system refuses it."""
    reader, writer = os.pipe()  # our own, as asyncio's transport can't tell how much has left
    try:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(on_output=on_output, on_gone=on_gone, tail_bytes=entry.caps.stderr_bytes),
            *launch.argv,
            stdin=reader,
            env=dict(launch.env),
            cwd=launch.cwd,
            start_new_session=True,
            close_fds=True,
        )
    except (OSError, ValueError) as error:
        os.close(writer)
        raise ConnectFault(
            f"the command `{entry.command}` of `{entry.name}` can't be started: {error}", slow=True
        ) from error
    except BaseException:
        os.close(writer)
        raise
    finally:
        os.close(reader)
    child.stdin = PipeWriter(writer, child.pipe_broken)
    return child
