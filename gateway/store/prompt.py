"""Small reads of what every call asks, where the database is a file: at once, on its own thread.

A row or two by their key cost some ten microseconds, and the way to another thread and back many
times that. A reader of a write-ahead log waits for no writer, and whatever is committed by anybody,
in this process or in another, is in the next read.
"""

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Transaction
from gateway.store.worker import Worker

_SLOW_S: Final = 0.05  # for a read that took so long the event loop stood still
_REST_S: Final = 1.0  # of a disk that was slow
_T = TypeVar("_T")


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

    async def read(self, work: Callable[[Transaction], _T], *, is_small: bool = True) -> _T:
        """Run `work`, which may be run twice, in a transaction that only reads.

        One that is not small goes to the worker. Raises StoreUnavailable.
        """
        if is_small and self._engine is not None and self._may_read():
            began = self._clock.monotonic()
            try:
                with self._engine.reading() as transaction:
                    return work(transaction)
            except StoreUnavailable:
                self._rests_until = began + _REST_S
            finally:
                self._judge(began)
        return await self._worker.read_along(work)

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
