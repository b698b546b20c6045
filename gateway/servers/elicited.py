"""Whom a server sent to a URL: they alone hear when what was to be done there is done.

In MCP 2025-11-25 a server says so with the id that it gave the elicitation, at any time, also long
after the call. One connection is asked for one caller only, so an id is looked up on its own.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.servers.connection import Start
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Delivery, Rejected
from gateway.types.relay import URL_REQUIRED, Ear

COMPLETED: Final = "notifications/elicitation/complete"
MOST_OPEN: Final = 32  # of one connection; the oldest is forgotten when there are more

_ELICIT: Final = "elicitation/create"
_LONGEST_ID: Final = 256  # characters


class Elicited:
    """The elicitations of one connection that may still be said to be done; each is told once."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._open: dict[str, Ear] = {}

    def asked(self, message: JsonObject, ear: Ear) -> None:
        """Note a question before it is put: its end may be told before its answer is."""
        if message.get("method") == _ELICIT:
            self._note(message.get("params"), ear)

    def unasked(self, message: JsonObject) -> None:
        """Forget a question that nobody was asked, or nobody answered."""
        self._open.pop(_id_in(message.get("params")), None)

    def ended(self, delivery: Delivery, ear: Ear) -> None:
        """Note the URLs that a server wants visited before it does what it was called for."""
        if isinstance(delivery, Rejected) and delivery.code == URL_REQUIRED:
            wanted = delivery.data.get("elicitations") if isinstance(delivery.data, dict) else None
            for each in wanted if isinstance(wanted, list) else ():
                self._note(each, ear)

    def completed(self, params: Json) -> None:
        """Tell whoever was sent there; an id that nobody was given means nothing."""
        name = _id_in(params)
        ear = self._open.pop(name, None)
        if ear is not None:
            self._start(_telling(ear, name))

    def _note(self, params: Json, ear: Ear) -> None:
        name = _id_in(params)
        if name:
            self._open.pop(name, None)
            self._open[name] = ear
        if len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]


def _id_in(params: Json) -> str:
    found = params.get("elicitationId") if isinstance(params, dict) else None
    return found if isinstance(found, str) and len(found) <= _LONGEST_ID else ""


def _telling(ear: Ear, name: str) -> Callable[[], Awaitable[None]]:
    return lambda: ear.completed(name)
