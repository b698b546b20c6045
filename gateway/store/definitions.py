"""Definitions of tools that nobody reviewed, each once: what calls of them are judged again by."""

import logging

from gateway import jsontext
from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.store.changes import Change, Log, Made
from gateway.store.engine import Parameters, Transaction
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.json import JsonObject
from gateway.types.tools import Tool

_log = logging.getLogger("weighbridge")


class Definitions:
    """The table of definitions, by pin."""

    def __init__(self, log: Log, worker: Worker, clock: Clock) -> None:
        self._log = log
        self._worker = worker
        self._clock = clock

    def keep(self, tool: Tool) -> None:
        """Keep the definition of a tool as soon as that is possible, and wait for nothing.

        Where it can't be kept, calls of the tool are not judged again: nothing else depends on it.
        """
        row: Parameters = {
            "pin": tool.pin,
            "at": microseconds(self._clock.now()),
            "tool": tool.key,
            "body": jsontext.dump(tool.definition).decode(),
        }

        def write(transaction: Transaction) -> Made[None]:
            transaction.execute("keep_definition", row)
            return Made(None)

        try:
            self._log.promise(Change(write))
        except StoreUnavailable as error:
            _log.warning("the definition of %s was not kept: %s", tool.key, error)

    async def all(self) -> dict[str, JsonObject]:
        """Return every definition by its pin. Raises StoreUnavailable."""

        def read(transaction: Transaction) -> dict[str, JsonObject]:
            rows = transaction.fetch("list_definitions", {})
            parsed = {
                row.text("pin"): jsontext.parse_result(row.text("body").encode()) for row in rows
            }
            return {pin: each for pin, each in parsed.items() if isinstance(each, dict)}

        return await self._worker.read(read)
