"""A thread with its own connection, so that the event loop never waits for the database."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Lock, Transaction

_WAIT_S: Final = 5.0
_T = TypeVar("_T")


class Worker:
    """Runs transactions one after the other; a caller waits `wait_s` seconds at most."""

    def __init__(self, engine: Engine, *, wait_s: float = _WAIT_S) -> None:
        self._engine = engine
        self._wait_s = wait_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")

    async def write(
        self, work: Callable[[Transaction], _T], *, lock: Lock | None = None, durable: bool = True
    ) -> _T:
        """Run `work` in a transaction that is committed on return.

        Raises StoreUnavailable. If that is because the time was up, the transaction may still be
        committed later.
        """

        def run() -> _T:
            with self._engine.transaction(lock=lock, durable=durable) as transaction:
                return work(transaction)

        return await self._run(run)

    async def read(self, work: Callable[[Transaction], _T]) -> _T:
        """Run `work` in a transaction that only reads. Raises StoreUnavailable."""

        def run() -> _T:
            with self._engine.reading() as transaction:
                return work(transaction)

        return await self._run(run)

    async def _run(self, run: Callable[[], _T]) -> _T:
        try:
            future = self._thread.submit(run)
        except RuntimeError:
            raise StoreUnavailable("the store is closed") from None
        try:
            async with asyncio.timeout(self._wait_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise StoreUnavailable(f"the store gave no answer in {self._wait_s:g} s") from None

    def close(self) -> None:
        """End after the transaction under way; what waits is dropped."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._engine.close()
