"""A thread with its own connection, so that the event loop never waits for the database."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeVar

from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Lock, Transaction

_WAIT_S: Final = 5.0
_T = TypeVar("_T")


class _Shared(NamedTuple):
    """A read that shares its transaction, and who waits for it."""

    work: Callable[[Transaction], Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


class Worker:
    """Runs transactions one after the other; a caller waits `wait_s` seconds at most."""

    def __init__(self, engine: Engine, *, wait_s: float = _WAIT_S) -> None:
        self._engine = engine
        self._wait_s = wait_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._guard = threading.Lock()
        self._shared: list[_Shared] = []

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

    async def read_along(self, work: Callable[[Transaction], _T]) -> _T:
        """Do as `read` does, in one transaction with all that are asked for at the same time.

        For what every call asks: in a crowd, the way to the thread and back costs more than the
        rows do.
        """
        loop = asyncio.get_running_loop()
        waiting = _Shared(work, loop, loop.create_future())
        with self._guard:
            self._shared.append(waiting)
            is_first = len(self._shared) == 1
        if is_first:
            try:
                self._thread.submit(self._read_shared)
            except RuntimeError:
                with self._guard:
                    self._shared.clear()
                raise StoreUnavailable("the store is closed") from None
        try:
            async with asyncio.timeout(self._wait_s):
                return await waiting.future
        except TimeoutError:
            raise StoreUnavailable(f"the store gave no answer in {self._wait_s:g} s") from None

    def _read_shared(self) -> None:
        with self._guard:
            waiting, self._shared = self._shared, []
        results: list[tuple[Any, Exception | None]]
        try:
            with self._engine.reading() as transaction:
                results = [(each.work(transaction), None) for each in waiting]
        except Exception:  # one of them is at fault: the others are sound
            results = [self._alone(each) for each in waiting]
        for loop in {each.loop for each in waiting}:
            pairs = [
                (each.future, *result)
                for each, result in zip(waiting, results, strict=True)
                if each.loop is loop
            ]
            with suppress(RuntimeError):  # the loop has ended, and whoever waited with it
                loop.call_soon_threadsafe(_settle, pairs)

    def _alone(self, one: _Shared) -> tuple[Any, Exception | None]:
        try:
            with self._engine.reading() as transaction:
                return one.work(transaction), None
        except Exception as error:
            return None, error

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


def _settle(results: "Sequence[tuple[asyncio.Future[Any], Any, Exception | None]]") -> None:
    for future, result, error in results:
        if future.done():  # its caller went away, or had no more time
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
