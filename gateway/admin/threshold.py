"""The admin listener before anybody has come: its pages are loaded when one is first asked for.

They bring templates, replays and logins with them, a fifth of what a gateway imports, and most
calls of agents need no person.
"""

from collections.abc import Callable

import anyio
import anyio.to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

Build = Callable[[], ASGIApp]


class Threshold:
    """An application that is built for its first request; `load` gives what builds it."""

    def __init__(self, load: Callable[[], Build]) -> None:
        self._load = load
        self._loading = anyio.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or tell that all has started."""
        if scope["type"] == "lifespan":  # of the listener; nothing in here runs by itself
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        app = self._app or await self._built()
        await app(scope, receive, send)

    async def _built(self) -> ASGIApp:
        """Build the application, once, while calls of agents go on."""
        async with self._loading:
            app = self._app
            if app is None:
                build = await anyio.to_thread.run_sync(self._load)
                app = self._app = build()
            return app
