"""The rows of sealed copies: kept with their events, looked up, and destroyed."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.store import erasing, seals
from gateway.store.changes import Change, Log, Made
from gateway.store.engine import Parameters, Transaction, Value
from gateway.store.erasing import Erased, Left
from gateway.store.retention import Hold, all_holds, mend
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.event_rows import EventRow
from gateway.types.events import Event
from gateway.types.json import Json
from gateway.types.values import replaced, value

STEP: Final = 2_000  # copies that are destroyed in one transaction: writers wait for it
_EVER: Final = (1 << 63) - 1


@value
class Copy:
    """A copy as it is kept; of a shredded one nothing is left but since when."""

    content: str
    wrapped: str
    shredded: datetime | None = None


@value
class Scope:
    """Whose copies are meant: of one run, one call, or one tenant; `before` itself is left out."""

    run: str = ""
    call: str = ""
    tenant: str = ""
    before: datetime | None = None
    spares_held: bool = False  # of a tenant: what is on hold stays, and stops nothing


@value
class Shredded:
    """What was destroyed: copies, and the data keys that no other copy needs."""

    copies: int
    keys: int
    tenant: str = ""
    held: Hold | None = None  # that kept it from being done
    operations: int = 0  # settled ones, whose own arguments and answers are gone as well
    requests: int = 0  # closed ones, of which it is gone what people were shown
    open: tuple[str, ...] = ()  # operations that keep theirs until they are settled

    @property
    def is_any(self) -> bool:
        """Whether anything was destroyed."""
        return self.copies + self.operations + self.requests > 0


Telling = Callable[[str, Shredded], Event]


class SealedCopies:
    """What is sealed beside the log; every shredding is an event of it."""

    def __init__(self, log: Log, worker: Worker, clock: Clock) -> None:
        self._log = log
        self._worker = worker
        self._clock = clock
        self.problem: Callable[[], str] = str
        """Says why this process can't seal now, where it has tried; an empty text if it can."""

    async def beside(self, events: Iterable[str]) -> dict[str, Copy]:
        """Return the copies beside events, by their ids. Raises StoreUnavailable."""
        wanted: Parameters = {"events": _listed(events)}
        if wanted["events"] == "[]":
            return {}

        def read(transaction: Transaction) -> dict[str, Copy]:
            return {
                row.text("event_id"): Copy(
                    content=row.text("content"),
                    wrapped=row.text("wrapped"),
                    shredded=_moment(row.integer("shredded_at")),
                )
                for row in transaction.fetch("copies_of_events", wanted)
            }

        return await self._worker.read(read)

    async def destroyed(self, keys: Iterable[str]) -> dict[str, datetime]:
        """Return since when data keys are destroyed, those of them that are."""
        wanted: Parameters = {"keys": _listed(keys)}
        found = await self._worker.read(lambda it: it.fetch("keys_shredded", wanted))
        times = {row.text("key_id"): _moment(row.integer("shredded_at")) for row in found}
        return {key: at for key, at in times.items() if at is not None}

    async def newest_key(self) -> str | None:
        """Return a data key as it is kept, wrapped; None where nothing was ever sealed."""
        found = await self._worker.read(lambda it: it.fetch("a_data_key", {}))
        return found[0].text("wrapped") if found else None

    async def expired(self, before: datetime) -> AsyncIterator[str]:
        """Yield the tenants of copies that are older than a time and not on hold."""
        await self._worker.write(mend)
        last = ""
        while True:
            wanted: Parameters = {"before": microseconds(before), "last": last}
            found = await self._worker.read(partial(_next_tenant, wanted=wanted))
            if found is None:
                return
            yield (last := found)

    async def shred(self, scope: Scope, telling: Telling, *, most: int = STEP) -> Shredded:
        """Destroy copies and their keys, unless a hold says that they stay; so many at a time.

        `telling` makes the event of each step; where nothing was left there is none. Raises
        StoreUnavailable: then what was done so far is done and told, and the same again goes on.
        """
        await self._worker.write(mend)
        await self._worker.write(partial(seals.mend, found=await self._led_astray(scope)))
        done = Shredded(copies=0, keys=0)
        while True:
            step = await self.step(scope, telling, id=ids.ulid(), most=most)
            done = _both(done, step)
            if step.copies < most:
                break
        if done.held is not None:
            return done
        left = await self._left(scope)
        for at in range(0, len(left.calls), most):
            calls = left.calls[at : at + most]
            done = _both(done, await self.step(scope, telling, id=ids.ulid(), calls=calls))
        return replaced(done, open=(await self._left(scope)).open)

    async def step(
        self,
        scope: Scope,
        telling: Telling,
        *,
        id: str,
        most: int = STEP,
        calls: Sequence[str] = (),
    ) -> Shredded:
        """Destroy some of them, in one transaction with the event that says so, which has the id.

        With each goes what settled operations and closed requests keep of its call; of `calls` as
        well, whose copies are destroyed already. Raises StoreUnavailable.
        """
        now = microseconds(self._clock.now())
        erased = Erased()  # by the first try, when its commit got no answer

        def work(transaction: Transaction) -> Made[Shredded]:
            nonlocal erased
            where, parameters = _matching(scope)
            live = f"{where} AND shredded_at = 0"
            held = None if scope.spares_held else _held(transaction, live, parameters)
            if held is not None:
                return Made(Shredded(copies=0, keys=0, held=held), keeps_events=False)
            tenant = _tenant(transaction, where, parameters)
            done: dict[str, Value] = {**parameters, "now": now, "shred": id, "most": most}
            name = "shred_old_copies" if scope.spares_held else _STATEMENTS[_named(scope)]
            transaction.execute(name, done)
            transaction.execute("shred_keys", {"now": now, "shred": id})
            (row,) = transaction.fetch("shredded", {"shred": id})
            gone = erasing.erase(transaction, [*erasing.just_shredded(transaction, id), *calls])
            erased = gone if gone.operations + gone.requests else erased
            found = Shredded(
                copies=row.integer("copies"),
                keys=row.integer("keys"),
                tenant=tenant,
                operations=erased.operations,
                requests=erased.requests,
            )
            return Made(found, told=[telling(id, found)] if found.is_any else [])

        return await self._log.carry(Change(work))

    async def _left(self, scope: Scope) -> Left:
        before = _EVER if scope.before is None else microseconds(scope.before)
        return await self._worker.read(
            partial(
                erasing.left, run=scope.run, call=scope.call, tenant=scope.tenant, before=before
            )
        )

    async def _led_astray(self, scope: Scope) -> list[str]:
        """Return the events whose copies say of themselves what the log does not."""
        named = _named(scope)
        wanted: Parameters = {named: scope.run or scope.call or scope.tenant}
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = partial(seals.differing, named=named, wanted=wanted, after=after)
            more, after = await self._worker.read(page)
            found += more
        return found


def keep(transaction: Transaction, rows: Iterable[EventRow]) -> list[str]:
    """Keep the copies of new events with them; return keys that were destroyed meanwhile.

    A copy under a key like that would never be opened again, and is not kept.
    """
    unkept: list[str] = []
    known: set[str] = set()
    for row in rows:
        sealed = row.sealed
        if sealed is None:
            continue
        named: dict[str, Value] = {"tenant": row.tenant, "run_id": row.run_id, "at": row.at}
        if sealed.key not in known:
            call = "" if row.run_id else row.call_id
            key = {"key_id": sealed.key, "call_id": call, "wrapped": sealed.wrapped}
            transaction.execute("keep_data_key", {**named, **key})
            known.add(sealed.key)
        copy: dict[str, Value] = {
            **named,
            "event_id": row.id,
            "key_id": sealed.key,
            "call_id": row.call_id,
            "content": sealed.content,
        }
        if not transaction.execute("keep_sealed_copy", copy):
            unkept.append(sealed.key)
    return unkept


def _both(one: Shredded, other: Shredded) -> Shredded:
    return Shredded(
        copies=one.copies + other.copies,
        keys=one.keys + other.keys,
        tenant=other.tenant or one.tenant,
        held=other.held,
        operations=one.operations + other.operations,
        requests=one.requests + other.requests,
    )


_STATEMENTS: Final = {
    "run_id": "shred_copies_of_run",
    "call_id": "shred_copies_of_call",
    "tenant": "shred_copies_of_tenant",
}


def _next_tenant(transaction: Transaction, *, wanted: Parameters) -> str | None:
    found = transaction.fetch("next_tenant_of_old_copies", wanted)
    return found[0].text("tenant") if found else None


def _named(scope: Scope) -> str:
    return "run_id" if scope.run else "call_id" if scope.call else "tenant"


def _matching(scope: Scope) -> tuple[str, dict[str, Value]]:
    """Return the condition in SQL, made of constant parts only, and its parameters."""
    name = _named(scope)
    before = _EVER if scope.before is None else microseconds(scope.before)
    parameters: dict[str, Value] = {name: scope.run or scope.call or scope.tenant, "before": before}
    return f"WHERE {name} = :{name} AND {name} <> '' AND at < :before", parameters


def _held(transaction: Transaction, where: str, parameters: dict[str, Value]) -> Hold | None:
    """Return the first hold that one of the copies is under."""
    for hold in all_holds(transaction):
        which = "run_id = :held" if hold.run else "tenant = :held"
        held: dict[str, Value] = {**parameters, "held": hold.run or hold.tenant}
        if transaction.fetch("sealed_within", held, where=f"{where} AND {which}"):
            return hold
    return None


def _tenant(transaction: Transaction, where: str, parameters: dict[str, Value]) -> str:
    found = transaction.fetch("sealed_within", parameters, where=where)
    return found[0].text("tenant") if found else ""


def _listed(texts: Iterable[str]) -> str:
    listed: list[Json] = list(texts)
    return jsontext.dump(listed).decode()


def _moment(kept: int) -> datetime | None:
    return moment(kept) if kept else None
