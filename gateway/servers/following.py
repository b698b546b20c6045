"""Who is told how tasks of a stateless server are getting on (extension for tasks, 2026-07-28)."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from gateway.types.json import Json, JsonObject
from gateway.types.relay import Told

_ACKNOWLEDGED_S: Final = 2.0  # a server that has said nothing by then tells nothing of a task


class Following:
    """The tasks of one server that are followed, by its own ids. `listen` asks the server."""

    def __init__(self, listen: Callable[[], None]) -> None:
        self._listen = listen
        self._told: dict[str, list[Told]] = {}
        self._begun: dict[str, asyncio.Event] = {}  # whether the server tells of a task

    @property
    def ids(self) -> tuple[str, ...]:
        """The tasks that are followed."""
        return tuple(self._told)

    async def add(self, task: str, told: Told, deadline: float) -> Callable[[], None] | None:
        """Follow a task; returns the way out, or None when the server does not tell of it.

        `told` gets what the server tells: the task as it is. Without a `status`, it has to be asked
        for: news may have been missed.
        """
        begun = self._begun.setdefault(task, asyncio.Event())
        held = self._told.setdefault(task, [])
        held.append(told)
        leave = partial(self._remove, task, told)
        if len(held) == 1:
            self._listen()
        latest = min(deadline, asyncio.get_running_loop().time() + _ACKNOWLEDGED_S)
        try:
            async with asyncio.timeout_at(latest):
                await begun.wait()
        except TimeoutError:
            leave()
            return None
        except asyncio.CancelledError:
            leave()
            raise
        return leave

    def acknowledged(self, params: Json) -> None:
        """Note of which tasks the server has begun to tell."""
        honoured = params.get("notifications") if isinstance(params, dict) else None
        tasks = honoured.get("taskIds") if isinstance(honoured, dict) else None
        for task in tasks if isinstance(tasks, list) else ():
            if isinstance(task, str) and task in self._begun:
                self._begun[task].set()

    def changed(self, params: Json) -> None:
        """Hand on what the server says of a task; one that nobody follows means nothing."""
        task = params.get("taskId") if isinstance(params, dict) else None
        if isinstance(params, dict) and isinstance(task, str):
            for tell in tuple(self._told.get(task, ())):
                tell(params)

    def missed(self) -> None:
        """Have every task asked for: nobody listened for a while."""
        for task in self.ids:
            told: JsonObject = {"taskId": task}
            self.changed(told)

    def _remove(self, task: str, told: Told) -> None:
        held = self._told.get(task, [])
        if told in held:
            held.remove(told)
        if not held and task in self._told:
            del self._told[task], self._begun[task]
            self._listen()
