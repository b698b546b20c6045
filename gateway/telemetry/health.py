"""How the export of one signal fares: numbers for `status` and `doctor`, one line for the log."""

import logging
from dataclasses import dataclass
from typing import Final

from gateway.clock import Clock

_LOG: Final = logging.getLogger(__name__)
_SILENCED: Final = {"opentelemetry": logging.CRITICAL + 1, "urllib3": logging.WARNING}
_QUIET_S: Final = 600.0  # at most one line in this time, however often export fails


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalState:
    """What an operator needs to know about one signal; holds no header, path or credential."""

    signal: str
    exporter: str  # otlp, console or none
    endpoint: str  # `host:port`, empty without OTLP
    exported: int  # calls whose spans arrived, or exports of the metrics
    dropped: int  # calls that found no room or could not be delivered
    waiting: int  # calls in the queue
    last_error: str  # a class such as `HTTP 503` or `ConnectionError`; empty after a success


class Health:
    """Counts what arrives and what does not; only exporting threads call its methods."""

    def __init__(self, signal: str, host: str, clock: Clock) -> None:
        self.signal = signal
        self.host = host
        self.exported = 0
        self.lost = 0
        self.last_error = ""
        self._clock = clock
        self._said_at: float | None = None
        self._said_broken = False

    def delivered(self, count: int) -> None:
        """Note that so many calls (or exports) arrived."""
        self.exported += count
        self.last_error = ""
        if self._said_broken:
            self._said_broken = False
            _LOG.info("%s arrive at `%s` again", self.signal, self.host)

    def failed(self, error: str, *, lost: int) -> None:
        """Note a failed export by its class and tell people once in a while."""
        self.lost += lost
        self.last_error = error
        now = self._clock.monotonic()
        if self._said_at is not None and now - self._said_at < _QUIET_S:
            return
        self._said_at = now
        self._said_broken = True
        _LOG.warning(
            "%s do not arrive at `%s` (%s); calls go on without them, see `weighbridge doctor`",
            self.signal,
            self.host,
            error,
        )


def silence_sdk() -> None:
    """Keep the loggers of the SDK and of its HTTP client out of our log, from now on.

    They log every retry, some with the endpoint as it was given; `Health` says it once instead.
    """
    for name, level in _SILENCED.items():
        logging.getLogger(name).setLevel(level)
