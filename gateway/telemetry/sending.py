"""Requests to a collector: one connection that is kept, retries within one deadline.

What is tried again, and how often, is what OTLP/HTTP says and the SDK's own exporter does. That
one takes spans and encodes them itself, so it can't be given bytes.
"""

import gzip
import random
import threading
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import requests

from gateway import __version__
from gateway.clock import Clock
from gateway.telemetry.environment import Destination

_COMPRESSED: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": partial(gzip.compress, compresslevel=6),
    "deflate": zlib.compress,
}
_AGAIN: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_JITTER: Final = (0.8, 1.2)
_TRIES: Final = 6
_MAX_BYTES: Final = 64 * 1024 * 1024  # before compression; what no collector takes


class NotingSession(requests.Session):
    """Remembers why the last request failed, as a class: the SDK tells nobody but its log."""

    last_error = ""

    def send(self, request: requests.PreparedRequest, **kwargs: object) -> requests.Response:
        """Send, and note the outcome."""
        try:
            response = super().send(request, **kwargs)
        except Exception as error:
            self.last_error = type(error).__name__
            raise
        arrived = response.status_code < HTTPStatus.MULTIPLE_CHOICES  # a redirect is no arrival
        self.last_error = "" if arrived else f"HTTP {response.status_code}"
        return response


class Sender:
    """Posts bodies to one destination; used by one thread, but for `abort`."""

    def __init__(
        self, destination: Destination, clock: Clock, *, first_pause_s: float = 1.0
    ) -> None:
        self._destination = destination
        self._clock = clock
        self._first_pause_s = first_pause_s  # doubled each time
        self._compressed = _COMPRESSED.get(destination.compression)
        self._stopped = threading.Event()
        self._session = NotingSession()
        self._session.cert = _certificate(destination)
        self._prepared: tuple[requests.PreparedRequest, Mapping[str, Any]] | None = None
        self._headers = {
            "content-type": "application/x-protobuf",
            "user-agent": f"weighbridge/{__version__}",
            **({"content-encoding": destination.compression} if self._compressed else {}),
            **{key.lower(): value for key, value in destination.headers.items()},
        }

    def send(self, body: bytes) -> str:
        """Send a body, again if need be; return the class of what failed, or nothing."""
        if len(body) > _MAX_BYTES:
            return "request too large"
        if self._compressed is not None:
            body = self._compressed(body)
        until = self._clock.monotonic() + self._destination.timeout_s
        pause_s = self._first_pause_s
        for _ in range(_TRIES):
            asked_s = self._post(body, until)
            if asked_s is None:
                break
            wait_s = asked_s or pause_s * random.uniform(*_JITTER)  # noqa: S311 - spreads retries
            if wait_s > until - self._clock.monotonic() or self._stopped.wait(wait_s):
                break
            pause_s *= 2
        return self._session.last_error

    def abort(self) -> None:
        """End the retries under way, and the connection; called from another thread."""
        self._stopped.set()
        self._session.close()

    close = abort

    def _post(self, body: bytes, until: float) -> float | None:
        """Post once; return None when that was all, else how long it was asked to wait, or 0."""
        try:
            answer = self._posted(body, until)
        except OSError as error:  # what requests raises, or a certificate that is not there
            self._session.last_error = type(error).__name__  # also where nothing was sent
            passing = isinstance(error, requests.ConnectionError | requests.Timeout)
            return 0.0 if passing else None
        return self._asked_s(answer) if answer.status_code in _AGAIN else None

    def _posted(self, body: bytes, until: float) -> requests.Response:
        try:
            return self._once(body, until)
        except requests.ConnectionError:
            # Most likely the kept connection, which the other side has closed in the meantime.
            if self._stopped.is_set() or self._clock.monotonic() >= until:
                raise
            return self._once(body, until)

    def _once(self, body: bytes, until: float) -> requests.Response:
        if self._prepared is None:
            self._prepared = self._prepare()
        prepared, way = self._prepared
        request = prepared.copy()
        request.body = body
        request.headers["content-length"] = str(len(body))
        wait_s = max(0.001, until - self._clock.monotonic())
        return self._session.send(request, timeout=wait_s, allow_redirects=False, **way)

    def _prepare(self) -> tuple[requests.PreparedRequest, Mapping[str, Any]]:
        """Return what all requests share, and the way there: half of what a request takes.

        That is time of the interpreter, in which a call waits. Proxies and certificates are those
        of the environment at the first request.
        """
        asked = requests.Request("POST", self._destination.endpoint, headers=self._headers)
        prepared = self._session.prepare_request(asked)
        # As the session's own it would give way to `REQUESTS_CA_BUNDLE`.
        verify = self._destination.certificate
        way = self._session.merge_environment_settings(prepared.url or "", {}, None, verify, None)
        return prepared, way

    def _asked_s(self, answer: requests.Response) -> float:
        """Return the seconds that `Retry-After` asks for, as a number or a date; 0 without one."""
        text = answer.headers.get("retry-after", "").strip()
        if text.isdecimal():
            return float(text)
        try:
            until = parsedate_to_datetime(text)
        except ValueError:
            return 0.0
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - self._clock.now()).total_seconds())


def _certificate(destination: Destination) -> str | tuple[str, str] | None:
    if destination.client_certificate and destination.client_key:
        return destination.client_certificate, destination.client_key
    return destination.client_certificate
