"""A thread with its own connection, so that the event loop never waits for the database."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, TypeVar

from gateway.errors import StoreUnavailable
from gateway.store.engine import Engine, Lock, Transaction

WAIT_S: Final = 5.0
_T = TypeVar("_T")


class _Waiting(NamedTuple):
    """Work, and who waits for what comes of it."""

    work: Callable[..., Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


class Worker:
    """Runs transactions one after the other; a caller waits `wait_s` seconds at most."""

    def __init__(self, engine: Engine, *, wait_s: float = WAIT_S) -> None:
        self._engine = engine
        self._wait_s = wait_s
        # An executor's futures and locks would cost more than most of the transactions do.
        self._queue: SimpleQueue[_Waiting | Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None  # begins with the first work
        self._closed = False
        self._guard = threading.Lock()
        self._shared: list[_Waiting] = []

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

    def begin(self, work: Callable[[Transaction], _T]) -> "asyncio.Future[_T]":
        """Have `work` run in a transaction that only reads, while the caller does something else.

        Whoever waits for it waits as long as it takes, and cancels what he needs no more. Raises
        StoreUnavailable, at once or where it is waited for.
        """

        def run() -> _T:
            with self._engine.reading() as transaction:
                return work(transaction)

        waiting = _waiting(run)
        with self._guard:
            self._submit(waiting)
        return waiting.future

    async def read_along(self, work: Callable[[Transaction], _T]) -> _T:
        """Run `work` together with all that are asked for at the same time, and perhaps twice.

        For what every call asks: in a crowd, the way to the thread and back costs more than the
        rows do. Each statement sees the newest state there is. Raises StoreUnavailable.
        """
        waiting = _waiting(work)
        with self._guard:
            if not self._shared:  # those after the first come along with it
                self._submit(self._read_shared)
            self._shared.append(waiting)
        return await self._told(waiting)

    def _read_shared(self) -> None:
        with self._guard:
            waiting, self._shared = self._shared, []
        results: list[tuple[Any, Exception | None]]
        try:
            with self._engine.looking() as transaction:
                results = [(each.work(transaction), None) for each in waiting]
        except Exception:  # one of them is at fault, or the connection was: the others are sound
            results = [self._alone(each) for each in waiting]
        for loop in {each.loop for each in waiting}:
            pairs = [
                (each.future, *result)
                for each, result in zip(waiting, results, strict=True)
                if each.loop is loop
            ]
            _tell(loop, pairs)

    def _alone(self, one: _Waiting) -> tuple[Any, Exception | None]:
        try:
            with self._engine.reading() as transaction:
                return one.work(transaction), None
        except Exception as error:
            return None, error

    async def _run(self, run: Callable[[], _T]) -> _T:
        waiting = _waiting(run)
        with self._guard:
            self._submit(waiting)
        return await self._told(waiting)

    def _submit(self, work: _Waiting | Callable[[], None]) -> None:
        """Have the thread do it in its turn; raises StoreUnavailable. Under the guard."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._worked, name="store", daemon=True)
            self._thread.start()
        self._queue.put(work)

    async def _told(self, waiting: _Waiting) -> Any:
        timer = waiting.loop.call_later(self._wait_s, self._expire, waiting.future)
        try:
            return await waiting.future
        finally:
            timer.cancel()

    def _expire(self, future: "asyncio.Future[Any]") -> None:
        if not future.done():
            said = f"the store gave no answer in {self._wait_s:g} s"
            future.set_exception(StoreUnavailable(said))

    def _worked(self) -> None:
        while (work := self._queue.get()) is not None:
            if isinstance(work, _Waiting):
                _work(work)
            else:
                work()

    def close(self) -> None:
        """End after the transaction under way; what waits is told that the store is closed."""
        with self._guard:
            self._closed = True
            left = [*self._shared, *self._left()]
            self._shared = []
        for each in left:
            _tell(each.loop, [(each.future, None, StoreUnavailable("the store is closed"))])
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
        self._engine.close()

    def _left(self) -> list[_Waiting]:
        found: list[_Waiting] = []
        with suppress(Empty):
            while True:
                each = self._queue.get_nowait()
                if isinstance(each, _Waiting):
                    found.append(each)
        return found


def _waiting(work: Callable[..., Any]) -> _Waiting:
    loop = asyncio.get_running_loop()
    return _Waiting(work, loop, loop.create_future())


def _work(one: _Waiting) -> None:
    if one.future.done():  # its caller went away, or had no more time: nothing has begun yet
        return
    result, fault = None, None
    try:
        result = one.work()
    except BaseException as error:  # whatever it is, it is its caller's: the thread goes on
        fault = error
    _tell(one.loop, [(one.future, result, fault)])


_Told = Sequence[tuple["asyncio.Future[Any]", Any, BaseException | None]]


def _tell(loop: asyncio.AbstractEventLoop, results: _Told) -> None:
    with suppress(RuntimeError):  # the loop has ended, and whoever waited with it
        loop.call_soon_threadsafe(_settle, results)


def _settle(results: _Told) -> None:
    for future, result, error in results:
        if future.done():  # its caller went away, or had no more time
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
