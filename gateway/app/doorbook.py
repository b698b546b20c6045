"""Keeps book of requests that were turned away: events that tell all and are never a flood."""

import asyncio
import ipaddress
import logging
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from gateway import ids
from gateway.clock import Clock
from gateway.crossing.books import Journal
from gateway.errors import StoreUnavailable
from gateway.events import admin
from gateway.types.refused import TurnedAway, TurnedAwayFor

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
_KEPT: Final = 20  # different peers, methods and details of one event

_log = logging.getLogger("weighbridge")

Key: TypeAlias = tuple[TurnedAwayFor, str, str]  # reason, transport, class of peer


@dataclass(slots=True)
class _Entry:
    """What has been turned away for one reason since the last event about it."""

    pause_s: float
    count: int = 0
    since: datetime | None = None
    peers: dict[str, None] = field(default_factory=dict[str, None])
    methods: dict[str, None] = field(default_factory=dict[str, None])
    details: dict[str, None] = field(default_factory=dict[str, None])
    timer: asyncio.TimerHandle | None = None


class DoorBook:
    """Writes the first request of a kind at once, and counts of what follows.

    A kind is a reason, a transport and a class of peer (loopback, private, public), so that their
    number is bounded by this program and not by those who knock. After an event the next of its
    kind waits a second, then twice as long each time for as long as such requests keep coming.
    """

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._entries: dict[Key, _Entry] = {}

    def note(self, what: TurnedAway) -> None:
        """Take a request into the book; never waits, and never raises for a log that is away."""
        key = (what.reason, what.transport, peer_class(what.peer))
        entry = self._entries.get(key)
        is_first = entry is None
        if entry is None:
            entry = self._entries[key] = _Entry(FIRST_PAUSE_S)
        entry.count += 1
        entry.since = entry.since or self._clock.now()
        for texts, text in (
            (entry.peers, what.peer),
            (entry.methods, what.method),
            (entry.details, what.detail),
        ):
            if text and len(texts) < _KEPT:
                texts[text] = None
        if is_first:
            self._write(key, entry)
            self._wait(key, entry)

    def close(self) -> None:
        """Write what is left; called once, before the log is closed."""
        for key, entry in self._entries.items():
            if entry.timer is not None:
                entry.timer.cancel()
            if entry.count:
                self._write(key, entry)
        self._entries.clear()

    def _wait(self, key: Key, entry: _Entry) -> None:
        loop = asyncio.get_running_loop()
        entry.timer = loop.call_later(entry.pause_s, self._due, key, entry)

    def _due(self, key: Key, entry: _Entry) -> None:
        if not entry.count:
            del self._entries[key]
            return
        self._write(key, entry)
        entry.pause_s = min(2 * entry.pause_s, LONGEST_PAUSE_S)
        self._wait(key, entry)

    def _write(self, key: Key, entry: _Entry) -> None:
        reason, transport, _ = key
        now = self._clock.now()
        build = admin.request_refused
        if reason.is_about_credential:
            build = partial(admin.auth_rejected, details=list(entry.details))
        event = build(
            id=ids.ulid(),
            at=now,
            reason=reason.value,
            count=entry.count,
            since=entry.since or now,
            peers=list(entry.peers),
            transport=transport,
            methods=list(entry.methods),
        )
        try:
            self._journal.append([event])
        except StoreUnavailable as error:  # they stay counted, and the next event tells of them
            _log.error("refused requests could not be recorded: %s", error)
            return
        entry.count, entry.since = 0, None
        for texts in (entry.peers, entry.methods, entry.details):
            texts.clear()


def peer_class(peer: str) -> str:
    """Return where a peer is, roughly: `loopback`, `private`, `public`, or nothing."""
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return ""
    if address.is_loopback:
        return "loopback"
    return "private" if address.is_private else "public"
