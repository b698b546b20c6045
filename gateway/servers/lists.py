"""One list of one server, kept fresh: what it published last, and when to ask again."""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TypeAlias

import anyio
import anyio.to_thread

from gateway.servers import listing
from gateway.servers.backoff import Backoff
from gateway.servers.connection import ConnectFault, Connection, Mask, Spoken
from gateway.servers.entry import Entry
from gateway.servers.listing import SORTS, Answering, Offer
from gateway.types.json import Json
from gateway.types.tools import Listed

_log = logging.getLogger("gateway.servers")
_RELIST_GAP_S = 1.0  # a server that changes all the time is listed no more often


Able: TypeAlias = Callable[[], AbstractAsyncContextManager[Answering | None]]


class KeptList:
    """Stays as it was through an outage, and through a list that fails.

    Each list follows its own changes: one that fails, or hangs, holds up no other. `able` opens a
    way by which a server shows what it shows only to clients that it may ask, if there are any.
    """

    def __init__(
        self, what: Listed, entry: Entry, mask: Mask, on_change: Callable[[Listed], None]
    ) -> None:
        self.what = what
        self.offers: tuple[Offer, ...] = ()
        self.fault = ""  # why it could not be listed last
        self.listed = False  # at least once, since the start
        self.able: Able = nullcontext
        self.tried = asyncio.Event()  # listed once, or failed once
        self._entry = entry
        self._mask = mask
        self._on_change = on_change
        self._due = asyncio.Event()
        self._listed_at = 0.0
        self._shown_to_able: list[Json] = []

    def changed(self) -> None:
        """Ask again, soon: the server says that something changed."""
        self._due.set()

    async def follow(self, connection: Connection, spoken: Spoken) -> None:
        """List, and list again after changes and failures; runs until cancelled."""
        if not listing.is_offered(self.what, spoken.capabilities):
            self.fault = ""
            self._take(())
            return
        loop, backoff = asyncio.get_running_loop(), Backoff(self._entry.timeouts, random.random)
        while True:
            self._due.clear()
            pause = await self._list(connection, backoff)
            with anyio.move_on_after(pause) as waited:
                await self._due.wait()
            if not waited.cancelled_caught:  # many notes, one list
                settle = self._entry.timeouts.settle_s
                await anyio.sleep(max(settle, self._listed_at + _RELIST_GAP_S - loop.time()))

    async def _list(self, connection: Connection, backoff: Backoff) -> float | None:
        """List once; return the pause before the next try when that failed."""
        deadline = asyncio.get_running_loop().time() + self._entry.timeouts.list_s
        try:
            entries = await listing.fetch(connection, self._entry, self.what, deadline=deadline)
        except ConnectFault as fault:
            if connection.lost is None:
                self._failed(fault)
            return backoff.next_s(slow=fault.slow)
        entries += await self._only_for_able(entries, deadline)
        known = {offer.pin: offer for offer in self.offers if offer.pin}
        found = await anyio.to_thread.run_sync(
            lambda: listing.vet(self.what, entries, known, mirrors=self._entry.is_http)
        )
        for text in found.faults:
            _log.warning("server %s: %s", self._entry.name, text)
        self.fault = ""
        backoff.reset()
        self._listed_at = asyncio.get_running_loop().time()
        self._take(found.offers)
        return None

    async def _only_for_able(self, shown: list[Json], deadline: float) -> list[Json]:
        """Return the entries that clients see only when they can be asked; stay, on failure."""
        async with self.able() as way:
            if way is None:
                self._shown_to_able = []
                return []
            try:
                found = await listing.fetch(way, self._entry, self.what, deadline=deadline)
            except ConnectFault as fault:
                _log.info("server %s: %s", self._entry.name, self._mask(fault.message))
                return self._shown_to_able
        names = {self._name(entry) for entry in shown}
        self._shown_to_able = [entry for entry in found if self._name(entry) not in names]
        return self._shown_to_able

    def _name(self, entry: Json) -> str:
        name = entry.get(SORTS[self.what].key) if isinstance(entry, dict) else None
        return name if isinstance(name, str) else ""

    def _take(self, offers: tuple[Offer, ...]) -> None:
        changed, self.offers = offers != self.offers, offers
        self.listed = True
        self.tried.set()
        if changed:
            self._on_change(self.what)

    def _failed(self, fault: ConnectFault) -> None:
        text = self._mask(fault.message)
        if text != self.fault:
            _log.warning(
                "server %s: its %s can't be listed: %s",
                self._entry.name,
                SORTS[self.what].plural,
                text,
            )
        self.fault = text
        self.tried.set()
