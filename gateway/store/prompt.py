"""Small reads of what every call asks, where the database is a file: at once, on its own thread.

In a crowd, those that are asked for in one turn of the event loop share a transaction. Who is alone
has none, as it has none where the database is a server: each statement reads what is newest.

A row or two by their key cost some ten microseconds, and the way to another thread and back many
times that. A reader of a write-ahead log waits for no writer, and whatever is committed by anybody,
in this process or in another, is in the next read.
"""

import asyncio
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Transaction
from gateway.store.worker import Worker

_SLOW_S: Final = 0.05  # for a read that took so long the event loop stood still
_REST_S: Final = 1.0  # of a disk that was slow
_LEFT: Final = object()  # to the worker
_T = TypeVar("_T")
_Asked: TypeAlias = tuple[Callable[[Transaction], Any], asyncio.Future[Any], Hashable | None]


class PromptReads:
    """Reads on the caller's thread, by a connection that waits for nobody; else by a worker.

    The worker has its turn wherever that is not to be had: without an `engine`, on other threads
    than the first that asks, for a while after the disk was slow, and when anything fails, so that
    waiting for a lock, a bound on that, and words for a fault are the worker's in any case.
    """

    def __init__(self, worker: Worker, engine: Engine | None, clock: Clock) -> None:
        self._worker = worker
        self._engine = engine
        self._clock = clock
        self._thread = 0
        self._rests_until = 0.0
        self._asked: list[_Asked] = []
        self._in_turn = 0  # how many were asked for in this turn of the loop
        self._is_crowd = False  # whether several were in the last one that had any

    async def read(
        self,
        work: Callable[[Transaction], _T],
        *,
        is_small: bool = True,
        alike: Hashable | None = None,
    ) -> _T:
        """Run `work`, which only reads, and may be run twice.

        Whoever asks in the same turn for what is `alike` may get the very same value, which nobody
        may change. What is not small goes to the worker. Raises StoreUnavailable.
        """
        if is_small and self._engine is not None and self._may_read():
            loop = asyncio.get_running_loop()
            self._in_turn += 1
            if self._in_turn == 1:
                loop.call_soon(self._end_turn)
            future: asyncio.Future[Any] = loop.create_future()
            asked = (work, future, alike)
            if self._in_turn == 1 and not self._is_crowd:
                self._answer([asked])  # whoever is alone waits for nobody
            else:
                self._asked.append(asked)
            found = await future
            if found is not _LEFT:
                return found
        return await self._worker.read_along(work)

    def _end_turn(self) -> None:
        self._is_crowd, self._in_turn = self._in_turn > 1, 0
        asked, self._asked = self._asked, []
        if asked:
            self._answer(asked)

    def _answer(self, asked: Sequence[_Asked]) -> None:
        began = self._clock.monotonic()
        try:
            engine = self._engine
            if engine is not None:  # else it was closed meanwhile
                is_alone = len(asked) == 1
                with engine.looking() if is_alone else engine.reading() as transaction:
                    known: dict[Hashable, Any] = {}  # of one transaction, so that it is one answer
                    for work, future, alike in asked:
                        if future.done():  # its caller went away
                            continue
                        if alike is None:
                            future.set_result(_done(work, transaction))
                            continue
                        if alike not in known:
                            known[alike] = _done(work, transaction)
                        future.set_result(known[alike])
        except StoreUnavailable:
            self._rests_until = began + _REST_S
        for _, future, _ in asked:
            if not future.done():
                future.set_result(_LEFT)
        self._judge(began)

    def close(self) -> None:
        """Let go of the connection; what is read after that goes to the worker."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _may_read(self) -> bool:
        here = threading.get_ident()
        if not self._thread:
            self._thread = here
        return self._thread == here and (
            not self._rests_until or self._clock.monotonic() >= self._rests_until
        )

    def _judge(self, began: float) -> None:
        now = self._clock.monotonic()
        if now - began > _SLOW_S:
            self._rests_until = now + _REST_S


def _done(work: Callable[[Transaction], Any], transaction: Transaction) -> Any:
    """Return what comes of it; a fault is the worker's to find again, and to put into words."""
    try:
        return work(transaction)
    except Exception:
        return _LEFT
