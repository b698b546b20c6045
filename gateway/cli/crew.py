"""Several workers, and the parent that watches over them (`serve --workers`).

The parent has no event loop and no threads: it waits for signals and for ends of workers, and
whatever it forks is as fresh as a process of its own.
"""

import gc
import logging
import mmap
import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.clock import Clock
from gateway.types.workers import Worker

_log = logging.getLogger("weighbridge")
MOST: Final = 64
_STABLE_S: Final = 10.0  # whoever lived that long is started again at once
_FIRST_S: Final = 0.5  # wait before the second attempt in a row; doubled for each further one
_LONGEST_S: Final = 30.0
_QUEUE_S: Final = 1.0  # so long new connections may wait for a worker that starts anew
_TOLD: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enlisted:
    """What a worker gets from its parent; `lifeline` can be read once the parent is gone."""

    worker: Worker
    lifeline: int
    tell_ready: Callable[[], None]
    missing: Callable[[], tuple[str, ...]]  # which workers don't serve right now, in words


@dataclass(slots=True, kw_only=True)
class _Place:
    """One worker's place: who has it, and since when; times on the monotonic clock."""

    number: int
    pid: int = 0  # 0: nobody
    since: float = 0.0
    failures: int = 0  # in a row
    due: float | None = None  # when the next one is to start


class Crew:
    """Starts workers, starts those anew that end, and ends with all of them."""

    def __init__(
        self,
        size: int,
        *,
        clock: Clock,
        on_ready: Callable[[], None],
        listeners: Sequence[socket.socket] = (),
        shared: Sequence[socket.socket] = (),
    ) -> None:
        """Watch over `size` workers.

        `listeners` are their own sockets, where each has one, `shared` any others; `on_ready` is
        called in the parent once all workers serve.
        """
        self._size = size
        self._clock = clock
        self._on_ready = on_ready
        self._listeners = listeners
        self._shared = shared
        self._places = [_Place(number=number + 1) for number in range(size)]
        self._up = mmap.mmap(-1, size)  # shared with the workers: 1 for each that serves
        self._lifeline = os.pipe()
        self._ready = os.pipe()
        self._woken = os.pipe()
        self._stopped_by: list[int] = []
        self._code = 0
        self._is_complete = False  # all have served at the same time

    def work(self) -> Enlisted:
        """Return in each worker; in the parent raises SystemExit once all have ended."""
        for end in (*self._woken, self._ready[0]):
            os.set_blocking(end, False)
        for number in _TOLD:
            signal.signal(number, _heard)
        signal.set_wakeup_fd(self._woken[1], warn_on_full_buffer=False)
        gc.collect()
        gc.freeze()  # or the collector of each worker would copy all pages that it looks at
        now = self._clock.monotonic()
        for place in self._places:
            place.due = now
        while True:
            enlisted = self._start_due()
            if enlisted is not None:
                return enlisted
            if self._stopped_by and not any(place.pid for place in self._places):
                self._end()
            self._wait()

    def _start_due(self) -> Enlisted | None:
        now = self._clock.monotonic()
        for place in self._places:
            if place.due is not None and place.due <= now and not self._stopped_by:
                place.due, place.since = None, now
                place.pid = os.fork()
                if not place.pid:
                    return self._enlisted(place.number)
        return None

    def _enlisted(self, number: int) -> Enlisted:
        """Become a worker: of the parent's, only what a worker needs is left."""
        signal.set_wakeup_fd(-1)
        for each in _TOLD:
            signal.signal(each, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is somebody who takes it
        os.setpgid(0, 0)  # Ctrl-C reaches the parent alone, which passes it on
        for end in (*self._woken, self._lifeline[1], self._ready[0]):
            os.close(end)
        for place, listener in zip(self._places, self._listeners, strict=False):
            if place.number != number:
                listener.close()
        return Enlisted(
            worker=Worker(number=number, of=self._size),
            lifeline=self._lifeline[0],
            tell_ready=lambda: _told(self._ready[1], number),
            missing=self._missing,
        )

    def _missing(self) -> tuple[str, ...]:
        return tuple(
            f"worker {number + 1} of {self._size} does not serve right now"
            for number in range(self._size)
            if not self._up[number]
        )

    def _wait(self) -> None:
        """Wait for whatever comes first, and see to it."""
        dues = [place.due for place in self._places if place.due is not None]
        left = max(0.0, min(dues) - self._clock.monotonic()) if dues else None
        ready, _, _ = select.select([self._woken[0], self._ready[0]], [], [], left)
        if self._woken[0] in ready:
            for number in os.read(self._woken[0], 4096):
                self._signalled(number)
        self._reap()
        if self._ready[0] in ready:
            for number in os.read(self._ready[0], 4096):
                self._serves(number)

    def _signalled(self, number: int) -> None:
        if number == signal.SIGCHLD:
            return
        if number != signal.SIGHUP:
            if not self._stopped_by:
                self._close()
            self._stopped_by.append(number)
        self._forward(number)

    def _forward(self, number: int) -> None:
        for place in self._places:
            if place.pid:
                os.kill(place.pid, number)  # not reaped, so it is still this one's

    def _serves(self, number: int) -> None:
        self._up[number - 1] = 1
        if not self._is_complete and all(self._up[:]):
            self._is_complete = True
            self._on_ready()

    def _reap(self) -> None:
        for place in self._places:
            if not place.pid:
                continue
            pid, status = os.waitpid(place.pid, os.WNOHANG)
            if pid:
                place.pid = 0
                self._ended(place, pid, os.waitstatus_to_exitcode(status))

    def _ended(self, place: _Place, pid: int, code: int) -> None:
        served = bool(self._up[place.number - 1])
        self._up[place.number - 1] = 0
        if self._stopped_by:
            self._code = self._code or (code if code >= 0 else 1)
            return
        who = f"worker {place.number} of {self._size} (pid {pid}) {_how(code)}"
        if not self._is_complete and not served:
            # It said why, and another attempt would say the same.
            _log.error("%s before it served; all workers end", who)
            self._code = code if code > 0 else 1
            self._stopped_by.append(signal.SIGTERM)
            self._close()
            self._forward(signal.SIGTERM)
            return
        now = self._clock.monotonic()
        place.failures = 1 if now - place.since >= _STABLE_S else place.failures + 1
        wait = delay(place.failures)
        place.due = now + wait
        _log.error("%s; it starts anew%s", who, f" in {wait:g} s" if wait else "")
        if wait > _QUEUE_S and self._listeners:
            _leave(self._listeners[place.number - 1])

    def _close(self) -> None:
        """Take no more connections: nobody would come for those that wait in a queue."""
        for listener in (*self._listeners, *self._shared):
            _leave(listener)

    def _end(self) -> None:
        signal.set_wakeup_fd(-1)
        if len(self._stopped_by) > 1:  # as a single process would end: by the signal itself
            number = self._stopped_by[-1]
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        raise SystemExit(self._code)


def delay(failures: int) -> float:
    """Return the seconds before a worker starts anew that has ended so many times in a row."""
    return 0.0 if failures <= 1 else min(_LONGEST_S, _FIRST_S * 2 ** min(failures - 2, 16))


def _how(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def _leave(listener: socket.socket) -> None:
    """Have a socket listen no more; its worker lets it listen again."""
    try:
        listener.shutdown(socket.SHUT_RDWR)
    except OSError as error:  # it did not listen
        _log.debug("a socket did not listen: %s", error)


def _told(pipe: int, number: int) -> None:
    os.write(pipe, bytes([number]))


def _heard(number: int, frame: object) -> None:
    """Do nothing: the byte in the pipe is what the parent waits for."""
    del number, frame
