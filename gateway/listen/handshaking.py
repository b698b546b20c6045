"""The handshake era over HTTP, which is loaded when somebody first speaks it.

Its sessions are the SDK's, whose models take half a second and 20 MiB, and nobody who speaks the
stateless revision needs them.
"""

import contextlib
from collections.abc import AsyncGenerator, Awaitable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from gateway.clock import Clock
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.headers import HeaderView
from gateway.listen.manners import Manner
from gateway.listen.options import HttpOptions
from gateway.listen.replies import Asgi
from gateway.protocol import sdk
from gateway.types.calls import Principal

if TYPE_CHECKING:
    from gateway.listen.sessions import LegacySessions


class Handshaking:
    """Answers requests of the handshake era; Host, Origin and credential have been checked."""

    def __init__(self, gate: Gate, *, info: ServerInfo, options: HttpOptions, clock: Clock) -> None:
        self._gate = gate
        self._info = info
        self._options = options
        self._clock = clock
        self._loading = anyio.Lock()
        self._closing = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._sessions: LegacySessions | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve for as long as the context is open; every session ends with it."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._closing.set()

    def __call__(
        self, http: Asgi, headers: HeaderView, manner: Manner, principal: Principal
    ) -> Awaitable[None]:
        """Serve one HTTP request."""
        sessions = self._sessions
        if sessions is None:
            return self._begin(http, headers, manner, principal)
        return sessions(http, headers, manner, principal)

    async def _begin(
        self, http: Asgi, headers: HeaderView, manner: Manner, principal: Principal
    ) -> None:
        sessions = await self._load()
        await sessions(http, headers, manner, principal)

    async def negotiate(self, http: Asgi, manner: Manner, principal: Principal) -> None:
        """Serve an `initialize` under the header of a revision that nobody knows."""
        sessions = self._sessions or await self._load()
        await sessions.negotiate(http, manner, principal)

    async def close_streams(self) -> None:
        """End sessions without a request under way, so that their open streams don't hold us."""
        if self._sessions is not None:
            await self._sessions.close_streams()

    async def _load(self) -> "LegacySessions":
        """Load the sessions, once, while calls of others go on."""
        async with self._loading:
            sessions = self._sessions
            if sessions is None:
                await anyio.to_thread.run_sync(_import)
                assert self._tasks is not None  # noqa: S101 - nothing is served before `running`
                sessions = self._sessions = await self._tasks.start(self._run)
            return sessions

    async def _run(self, *, task_status: "TaskStatus[LegacySessions]") -> None:
        """Keep the sessions in a task of their own, since whoever asks for them comes and goes."""
        sessions = _import()(self._gate, info=self._info, options=self._options, clock=self._clock)
        async with sessions.running():
            task_status.started(sessions)
            await self._closing.wait()


def _import() -> "type[LegacySessions]":
    sdk.load("gateway.listen.sessions")
    from gateway.listen.sessions import LegacySessions  # noqa: PLC0415 - see above

    return LegacySessions
