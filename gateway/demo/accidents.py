"""Accidents for a server of the demo: what goes wrong after a write, when nobody can see it."""

import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EXIT: Final = 70  # EX_SOFTWARE of sysexits.h


class Accident(StrEnum):
    """What happens to a call whose write is committed."""

    LOSE_ANSWER = "lose-answer"  # the connection breaks in the place of the answer
    DIE = "die"  # the whole server is gone


@dataclass(slots=True)
class Accidents:
    """Waits for the next write of a tool, and happens once."""

    _planned: dict[str, Accident] = field(default_factory=dict[str, Accident])
    _losing: bool = False

    def plan(self, tool: str, accident: Accident) -> None:
        """Have an accident happen to the next write of a tool."""
        self._planned[tool] = accident

    def committed(self, tool: str) -> None:
        """Come here after each commit: if one is planned for the tool, it happens now."""
        match self._planned.pop(tool, None):
            case None:
                pass
            case Accident.LOSE_ANSWER:
                self._losing = True
            case Accident.DIE:
                os._exit(_EXIT)  # as by a power cut: nothing is tidied up, and nothing is said

    def around(self, app: ASGIApp) -> ASGIApp:
        """Wrap a server so that an answer can get lost."""

        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            is_lost = False

            async def losing(message: Message) -> None:
                nonlocal is_lost
                if message["type"] == "http.response.start":
                    is_lost, self._losing = self._losing, False
                if not (is_lost and message["type"] == "http.response.body"):
                    await send(message)  # uvicorn closes a connection that owes a body

            await app(scope, receive, losing)

        return wrapped
