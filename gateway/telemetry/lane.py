"""A bounded queue with one thread behind it: the hot path appends, the thread does the work."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)


class Sink(Protocol[Item_contra]):
    """What the thread feeds; made by the thread, so that a slow import delays nobody."""

    def deliver(self, items: Sequence[Item_contra]) -> None:
        """Take a batch; may block as long as the sink's own timeout."""
        ...

    def flush(self) -> None:
        """Send what the sink itself still holds."""
        ...

    def close(self) -> None:
        """Release everything, after the last delivery."""
        ...

    def abort(self) -> None:
        """End a delivery that is under way; called from another thread."""
        ...


class Lane(Generic[Item]):
    """Puts never block and never fail; what has no room displaces the oldest, and is counted."""

    def __init__(
        self,
        name: str,
        open_sink: Callable[[], Sink[Item]],
        *,
        capacity: int,
        batch: int,
        delay_s: float,
        warm_up_s: float,
        failed: Callable[[Exception, int], None],
    ) -> None:
        self.dropped = 0  # written by `put` only
        self._open_sink = open_sink
        self._queue: deque[Item] = deque(maxlen=capacity)
        self._capacity = capacity
        self._batch = batch
        self._delay_s = delay_s
        self._warm_up_s = warm_up_s
        self._failed = failed
        self._sink: Sink[Item] | None = None
        self._wake = threading.Event()
        self._done = threading.Condition()
        self._asked = self._answered = 0  # flushes, guarded by `_done`
        self._closing = self._aborted = False
        self._ended = False  # guarded by `_done`
        self._thread = threading.Thread(target=self._run, name=f"telemetry-{name}", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Return how many items are in the queue."""
        return len(self._queue)

    def put(self, item: Item) -> None:
        """Append an item; the callers of one lane share one thread (the event loop's)."""
        waiting = len(self._queue)
        if self._ended or waiting >= self._capacity:
            self.dropped += 1
            if self._ended:
                return
        self._queue.append(item)
        if waiting + 1 >= self._batch and not self._wake.is_set():
            self._wake.set()

    def ask_flush(self) -> int:
        """Ask for everything put so far to be delivered; returns the ticket to wait with."""
        with self._done:
            self._asked += 1
            self._wake.set()
            return self._asked

    def await_flush(self, ticket: int, timeout_s: float) -> bool:
        """Wait until what was asked for is delivered or lost; False when time ran out."""
        with self._done:
            return self._done.wait_for(lambda: self._answered >= ticket or self._ended, timeout_s)

    def stop(self) -> None:
        """Ask the thread to deliver what there is and end; returns at once."""
        self._closing = True
        self._wake.set()

    def abort(self) -> None:
        """Break off a delivery that is still under way, retries first of all."""
        self._aborted = True
        if self._sink is not None:
            self._sink.abort()

    def wait(self, timeout_s: float) -> bool:
        """Wait for the thread to end; False when it has not.

        A thread that hangs in a socket is left behind; it is a daemon and ends with the process.
        """
        self._thread.join(max(0.0, timeout_s))
        return not self._thread.is_alive()

    def _run(self) -> None:
        self._wake.wait(self._warm_up_s)
        try:
            self._sink = self._open_sink()
        except Exception as error:  # a missing package, an unreadable certificate
            self._end(error)
            return
        while True:
            self._wake.wait(self._delay_s)
            self._wake.clear()
            closing, asked = self._closing, self._asked
            self._drain(self._sink)
            if asked > self._answered and not closing:
                self._guarded(self._sink.flush)
            with self._done:
                self._answered = asked
                self._done.notify_all()
            if closing:
                self._guarded(self._sink.close)
                self._end(None)
                return

    def _drain(self, sink: Sink[Item]) -> None:
        while self._queue and not self._aborted:
            count = min(self._batch, len(self._queue))
            items = [self._queue.popleft() for _ in range(count)]
            try:
                sink.deliver(items)
            except Exception as error:  # one bad batch must not end the thread
                self._failed(error, count)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._failed(error, 0)

    def _end(self, error: Exception | None) -> None:
        lost = len(self._queue)
        self._queue.clear()
        if error is not None or lost:
            self._failed(error or TimeoutError(), lost)
        with self._done:
            self._ended = True
            self._done.notify_all()
