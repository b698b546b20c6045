"""What may leave the log: prefixes that a sealed file holds, up to the first event on hold."""

import logging
from dataclasses import dataclass
from datetime import datetime

from gateway.clock import Clock
from gateway.errors import LogChanged
from gateway.events import tiles
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.upkeep import HOLD_LIFTED, HOLD_SET
from gateway.store import integration
from gateway.store.changes import Change, Log, Made
from gateway.store.checkpoints import as_row
from gateway.store.derived import event_of
from gateway.store.engine import Parameters, Row, Transaction
from gateway.store.integration import StoredCheckpoint
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.events import Event
from gateway.types.json import JsonObject

_log = logging.getLogger("weighbridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What the log goes on from: events 1 to `size` are in archives."""

    size: int
    edge: tuple[bytes, ...]
    note: str
    digest: str  # of the last archive, `sha256:` and hex
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Whose events have to stay: those of a tenant, or of a run; the other one is empty."""

    tenant: str
    run: str
    reason: str
    by: str
    at: datetime

    def __str__(self) -> str:
        """Name it for people."""
        return f"run `{self.run}`" if self.run else f"tenant `{self.tenant}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What may be archived: events `first` to `last`, none when that is less; and what stops it."""

    first: int
    last: int
    stop: str


class Retention:
    """The tables of archives and holds; every change of them is an event of the log."""

    def __init__(self, log: Log, worker: Worker, clock: Clock) -> None:
        self._log = log
        self._worker = worker
        self._clock = clock

    async def sealed(self) -> Sealed | None:
        """Return the last archive; None where nothing was archived."""
        return await self._worker.read(sealed)

    async def prefix(self, before: datetime, most: int) -> Prefix:
        """Return the longest prefix in whole tiles that is older than a time and not on hold."""
        since = microseconds(before)
        await self._worker.write(mend)
        return await self._worker.read(lambda transaction: _prefix(transaction, since, most))

    async def remove(
        self, archived: StoredCheckpoint, *, first: int, digest: str, event: Event
    ) -> bool:
        """Take out events `first` on, which a sealed file holds; False when they may not go now.

        All in one transaction; the file has to be safe on its disk. Raises StoreUnavailable.
        """
        row = as_row(archived)

        def work(transaction: Transaction) -> Made[bool]:
            last = sealed(transaction)
            done = last.size if last is not None else 0
            if done >= archived.size:  # the answer to the first try was lost
                return Made(done == archived.size, keeps_events=True)
            held = _held(transaction)
            if done + 1 != first or (held and held[0] <= archived.size):
                return Made(False, keeps_events=False)
            if not transaction.fetch("checkpoint_of", {"size": archived.size}):
                transaction.execute("add_checkpoint", row)
            sealing: Parameters = {
                **{name: row[name] for name in ("size", "edge", "note", "at")},
                "digest": digest,
            }
            transaction.execute("add_archive", sealing)
            for name in ("remove_data_keys", "remove_sealed_copies"):
                transaction.execute(name, {"size": archived.size})
            transaction.execute("remove_archived", {"size": archived.size})
            return Made(True)

        return await self._log.carry(Change(work), [event])

    async def holds(self) -> list[Hold]:
        """Return who and what is on hold, the first that was set first."""
        await self._worker.write(mend)
        return await self._worker.read(all_holds)

    async def hold(self, wanted: Hold, event: Event) -> bool:
        """Have events stay; False when they do already."""
        row: Parameters = {
            "tenant": wanted.tenant,
            "run_id": wanted.run,
            "reason": wanted.reason,
            "held_by": wanted.by,
            "at": microseconds(wanted.at),
        }

        def work(transaction: Transaction) -> Made[bool]:
            is_new = transaction.execute("set_hold", row) > 0
            return Made(is_new, keeps_events=is_new)

        return await self._log.carry(Change(work), [event])

    async def lift(self, tenant: str, run: str, event: Event) -> bool:
        """Let events go again; False when they were not on hold."""

        def work(transaction: Transaction) -> Made[bool]:
            was_there = transaction.execute("lift_hold", {"tenant": tenant, "run_id": run}) > 0
            return Made(was_there, keeps_events=was_there)

        return await self._log.carry(Change(work), [event])


def sealed(transaction: Transaction) -> Sealed | None:
    """Return the last archive; None where nothing was archived. Raises LogChanged."""
    found = transaction.fetch("last_archive", {})
    return _sealed(found[0]) if found else None


def all_sealed(transaction: Transaction) -> list[Sealed]:
    """Return all archives, the smallest first. Raises LogChanged."""
    return [_sealed(row) for row in transaction.fetch("list_archives", {})]


def _sealed(row: Row) -> Sealed:
    size = row.integer("size")
    try:
        edge = Edge(size, tiles.unpack(row.text("edge")))
    except ValueError as error:
        raise LogChanged(f"the edge of the archive of {size} in the store can't be read") from error
    return Sealed(
        size=size,
        edge=edge.hashes,
        note=row.text("note"),
        digest=row.text("digest"),
        at=moment(row.integer("at")),
    )


def _prefix(transaction: Transaction, since: int, most: int) -> Prefix:
    """Say how far the log may be archived: whole tiles only, so that the tree can go on."""
    last, base = sealed(transaction), integration.last(transaction)
    first = (last.size if last is not None else 0) + 1
    covered = base.size if base is not None else 0
    newest = transaction.fetch("last_seq", {})[0].integer("seq")
    bounds = [
        (covered, "no checkpoint covers more"),
        (newest - 1, "the last event stays"),  # numbers go on from it
        (first - 1 + most, "one archive holds no more"),
    ]
    young = _number(transaction, "first_event_since", {"since": since})
    if young is not None:
        bounds.append((young - 1, f"event {young} is not that old"))
    held = _held(transaction)
    if held is not None:
        bounds.append((held[0] - 1, f"event {held[0]} is on hold, of {held[1]}"))
    end, stop = min(bounds)
    return Prefix(first=first, last=max(0, end - end % WIDTH), stop=stop)


def _held(transaction: Transaction) -> tuple[int, str] | None:
    """Return the first event that has to stay, and for whom."""
    found: list[tuple[int, str]] = []
    for hold in all_holds(transaction):
        number = (
            _number(transaction, "first_event_of_run", {"run_id": hold.run})
            if hold.run
            else _number(transaction, "first_event_of_tenant", {"tenant": hold.tenant})
        )
        if number is not None:
            found.append((number, str(hold)))
    return min(found, default=None)


def _number(transaction: Transaction, name: str, parameters: Parameters) -> int | None:
    return transaction.fetch(name, parameters)[0].integer("seq") or None


def mend(transaction: Transaction) -> None:
    """Put holds back that the log has and the table lost: a row is nobody's word.

    The event that set one is the first that it keeps, so no archive has taken it.
    """
    told: dict[tuple[str, str], Parameters] = {}
    for row in transaction.fetch("hold_events", {}):
        event = event_of(row.text("body").encode("utf-8", "replace"))
        body = event.get("body") if event is not None else None
        if event is None or not isinstance(body, dict):
            continue
        place = _text(body, "tenant"), _text(body, "run")
        if body.get("action") == HOLD_LIFTED:
            told.pop(place, None)
        elif body.get("action") == HOLD_SET and any(place):
            told.setdefault(place, _hold_of(event, body))
    known = {(each.tenant, each.run) for each in all_holds(transaction)}
    for place, row in told.items():
        if place not in known:
            _log.warning("a hold of the log was not in its table, and is back: %s", place)
            transaction.execute("set_hold", row)


def _hold_of(event: JsonObject, body: JsonObject) -> Parameters:
    return {
        "tenant": _text(body, "tenant"),
        "run_id": _text(body, "run"),
        "reason": _text(body, "reason"),
        "held_by": _text(body, "by"),
        "at": microseconds(datetime.fromisoformat(_text(event, "ts"))),
    }


def _text(found: JsonObject, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def all_holds(transaction: Transaction) -> list[Hold]:
    """Return who and what is on hold, the first that was set first."""
    return [
        Hold(
            tenant=row.text("tenant"),
            run=row.text("run_id"),
            reason=row.text("reason"),
            by=row.text("held_by"),
            at=moment(row.integer("at")),
        )
        for row in transaction.fetch("list_holds", {})
    ]
