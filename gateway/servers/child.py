"""A child process: exact writes to its stdin, its stdout as it comes, its end for certain."""

import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable

import anyio

from gateway.servers import groups
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

    @property
    def waiting(self) -> int:
        """How many messages are not yet in the pipe."""
        return len(self._queue)

    def write(self, data: bytes) -> Outgoing:
        """Send a message, or queue it behind the ones before it."""
        outgoing = Outgoing(data)
        if self._fd >= 0:
            self._queue.append(outgoing)
            if not self._waiting:  # else some are before it
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
            data = memoryview(first.data)[first.sent :] if first.sent else first.data
            try:
                first.sent += os.write(self._fd, data)
            except BlockingIOError:
                self._listen(True)
                return
            except OSError:  # the reader is gone
                self.close()
                self._on_broken()
                return
            if first.has_left:
                self._queue.popleft()
        if self._waiting:
            self._listen(False)

    def _listen(self, wanted: bool) -> None:
        if wanted and not self._waiting:
            self._loop.add_writer(self._fd, self._flush)
        elif self._waiting and not wanted:
            self._loop.remove_writer(self._fd)
        self._waiting = wanted


class Child:
    """A running command in a session of its own.

    `on_output` gets stdout as it comes; `on_gone` is called once, when nothing more will come.
    Event loops differ in what their own subprocesses inherit, so the process is made without.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: int,
        *,
        on_output: Callable[[bytes], None],
        on_gone: Callable[[], None],
        tail_bytes: int,
    ) -> None:
        self.stdin = PipeWriter(stdin, self._pipe_broken)
        self._process = process
        self._on_output = on_output
        self._on_gone: Callable[[], None] | None = on_gone
        self._tail_bytes = tail_bytes
        self._tail = b""
        self._outputs: list[asyncio.BaseTransport] = []
        self._unread = 2  # stdout and stderr that haven't ended
        self._exited = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        groups.began(process.pid)
        # One thread a server, not a call: a portable way to be told of an exit.
        threading.Thread(target=self._reap, name=f"reap {process.pid}", daemon=True).start()

    async def read(self, stdout: int, stderr: int) -> None:
        """Take over the reading ends of its pipes."""
        for descriptor, take, ended in (
            (stdout, self._take_output, self._output_ended),
            (stderr, self._take_stderr, self._pipe_ended),
        ):
            pipe = os.fdopen(descriptor, "rb", buffering=0)
            reader = functools.partial(_Reader, take, ended)
            transport, _ = await self._loop.connect_read_pipe(reader, pipe)
            self._outputs.append(transport)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs."""
        return self._process.returncode

    @property
    def end(self) -> str:
        """How it ended, in words; what still runs has closed its output."""
        code = self._process.returncode
        if code is None:
            return "closed its output"
        return f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr, unmasked, and longer than the cap.

        Whoever shows it masks first and cuts then: a secret at the very start may be half gone.
        """
        return self._tail.decode("utf-8", "replace")

    def _take_output(self, data: bytes) -> None:
        self._on_output(data)

    def _take_stderr(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-2 * self._tail_bytes :]

    def _output_ended(self) -> None:
        self._loop.call_later(_EXIT_AFTER_EOF_S, self._gone)
        self._pipe_ended()

    def _pipe_ended(self) -> None:
        self._unread -= 1
        if not self._unread and self._exited.is_set():
            self._gone()

    def _pipe_broken(self) -> None:
        """Note that nobody reads stdin any more: the process is as good as gone."""
        self._loop.call_later(_EXIT_AFTER_EOF_S, self._gone)

    def _reap(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop has ended before the process
            self._loop.call_soon_threadsafe(self._process_exited)

    def _process_exited(self) -> None:
        self._exited.set()
        if self._unread:  # a grandchild may hold the pipes open for ever
            self._loop.call_later(_LAST_WORDS_S, self._gone)
        else:
            self._gone()

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
        self.stdin.close()
        forced = False
        if not await self._exits_within(timeouts.stop_eof_s):
            self._signal(signal.SIGTERM)
            if not await self._exits_within(timeouts.stop_term_s):
                forced = True
                self._signal(signal.SIGKILL)
                await self._exits_within(timeouts.stop_term_s)
        forced |= await self._end_group(timeouts.stop_term_s)
        groups.ended(self.pid)
        for output in self._outputs:
            output.close()
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


class _Reader(asyncio.Protocol):
    """Hands on what comes out of one pipe, and that it has ended."""

    def __init__(self, take: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._take = take
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        """Hand data on; the loop calls this."""
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the end; the loop calls this."""
        self._ended()


async def spawn(
    entry: Entry,
    launch: Launch,
    *,
    on_output: Callable[[bytes], None],
    on_gone: Callable[[], None],
) -> Child:
    """Start the command without a shell; raises ConnectFault when the system refuses it.

    Nothing but the three pipes is inherited. Not to be cancelled half-way: a process that nobody
    knows of would never be ended.
    """
    # Our own pipe for stdin, as no transport can tell how much of a message has left.
    (stdin_of_child, stdin), (stdout, stdout_of_child), (stderr, stderr_of_child) = (
        os.pipe(),
        os.pipe(),
        os.pipe(),
    )
    try:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - returns after exec; operator's command
            launch.argv,
            stdin=stdin_of_child,
            stdout=stdout_of_child,
            stderr=stderr_of_child,
            env=launch.env,
            cwd=launch.cwd,
            start_new_session=True,
            close_fds=True,
        )
    except (OSError, ValueError) as error:
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        raise ConnectFault(
            f"the command `{entry.shown_command}` of `{entry.name}` can't be started: "
            + (getattr(error, "strerror", "") or "its arguments can't be passed"),
            slow=True,
        ) from error
    finally:
        for descriptor in (stdin_of_child, stdout_of_child, stderr_of_child):
            os.close(descriptor)
    child = Child(
        process, stdin, on_output=on_output, on_gone=on_gone, tail_bytes=entry.caps.stderr_bytes
    )
    with anyio.CancelScope(shield=True):
        await child.read(stdout, stderr)
    return child
