"""Runs: found by what calls say of themselves, and changed from one version to the next.

Whatever changes a run is committed under the events lock, with the events that tell of it. Counters
only grow, and are no such change.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from gateway.clock import Clock
from gateway.errors import StoreUnavailable, WeighbridgeError
from gateway.store import keys, run_attempts
from gateway.store.approval_rows import approval_of
from gateway.store.changes import Change, Log, Made
from gateway.store.decisions import Once
from gateway.store.engine import Lock, Parameters, Transaction
from gateway.store.keys import TenantKeys
from gateway.store.prompt import PromptReads
from gateway.store.rows import clean
from gateway.store.run_attempts import KeyUsed
from gateway.store.run_changes import Told, change, collect, forget, is_as_counted
from gateway.store.run_contents import Contents
from gateway.store.run_filters import RunFilter, conditions
from gateway.store.run_rows import (
    around,
    as_read,
    bare,
    counted,
    evidence_of,
    evidence_row,
    placed,
)
from gateway.store.run_touches import Touched
from gateway.store.times import microseconds
from gateway.store.worker import Worker
from gateway.types.approvals import Approval
from gateway.types.calls import Principal
from gateway.types.events import Event
from gateway.types.runs import Attempt, Bound, Evidence, Phase, Place, Run
from gateway.types.values import replaced

_T = TypeVar("_T")
_AT_ONCE: Final = 200  # runs that one sweep looks at
_MOST_DIGESTS: Final = 4_096  # that are kept in memory
_MOST_EVIDENCE: Final = 1_000  # references that are shown of one run
MOST_OPEN: Final = 1_000  # runs of one owner that go on at once: a service may act for many people

Started: TypeAlias = Callable[[Run], Sequence[Event]]
"""The events of a new run, one at least."""


class TooManyRuns(WeighbridgeError):
    """As many runs of one owner go on as may; one line that says so."""


class Runs:
    """The tables of runs. Every method that waits raises StoreUnavailable."""

    def __init__(
        self,
        log: Log,
        worker: Worker,
        prompt: PromptReads,
        tenant_keys: TenantKeys,
        clock: Clock,
    ) -> None:
        self._log = log
        self._worker = worker
        self._prompt = prompt
        self._keys = tenant_keys
        self._clock = clock
        self._touched = Touched()
        self._contents = Contents(tenant_keys.run_contents)
        # Callers and conversations come again and again, and each digest costs as much as a row.
        self._digest = lru_cache(maxsize=_MOST_DIGESTS)(self._digested)

    def owner(self, principal: Principal) -> str:
        """Return the digest that stands for a whole principal."""
        return self._digest(principal.tenant, "principal", *principal.owner)

    def owner_of(self, tenant: str, user: str) -> str:
        """Return the digest that stands for all principals of a user, with `is_of_user`."""
        return self._digest(tenant, "user", user)

    async def bound(
        self, principal: Principal, places: Sequence[Place], *, with_counts: bool = False
    ) -> Sequence[Bound]:
        """Return the runs of a principal that places lead to, as their rows say now.

        All that name a run by its id, or else the first that any other place leads to, in order.
        Runs of anybody else are not found. What guards count is there `with_counts`, and wherever
        a run has yet to begin.
        """
        tenant = principal.tenant
        owners: Parameters = {
            "tenant": clean(tenant),
            "owner": self.owner(principal),
            "of_user": self.owner_of(tenant, principal.user),
        }
        named = [place for place in places if place.kind.is_explicit]
        values = [] if named else [(each.kind, self._value(tenant, each)) for each in places]

        def read(transaction: Transaction) -> list[Bound]:
            if named:
                return [
                    Bound(run=as_read(transaction, run, with_counts), kind=place.kind)
                    for place in named
                    if (run := self._got(transaction, place.value)) is not None
                    and run.tenant == owners["tenant"]
                    and run.owner in (owners["owner"], owners["of_user"])
                ]
            for kind, vhash in values:
                found = transaction.fetch("bound_run", {**owners, "kind": kind, "vhash": vhash})
                if found:
                    run = as_read(transaction, self._contents.run(found[0]), with_counts)
                    return [Bound(run=run, kind=kind)]
            return []

        if not places:
            return []
        # Calls of one principal come several at a time, and mostly in one run.
        alike = (*owners.values(), tuple(named) or tuple(values), with_counts)
        return await self._prompt.read(read, alike=alike)

    async def get(self, run_id: str) -> Run | None:
        """Return one run, with its counts."""

        def read(transaction: Transaction) -> Run | None:
            run = self._got(transaction, run_id)
            return counted(transaction, placed(transaction, run)) if run is not None else None

        return await self._worker.read(read)

    async def find(self, wanted: RunFilter) -> list[Run]:
        """Return runs that match, newest first, without their counts."""
        where, parameters = conditions(wanted)
        return await self._read("list_runs", parameters, where=where)

    async def counts(self, tenant: str = "") -> dict[Phase, int]:
        """Return how many runs there are of each phase, of one tenant or of all."""
        where, parameters = conditions(RunFilter(tenant=tenant))

        def read(transaction: Transaction) -> dict[Phase, int]:
            rows = transaction.fetch("count_runs", parameters, where=where)
            return {Phase(row.text("phase")): row.integer("many") for row in rows}

        return await self._worker.read(read)

    async def start(
        self,
        run: Run,
        places: Sequence[Place],
        told: Started,
        *,
        joins: bool = False,
        beside: Sequence[Place] = (),
        attempt: Attempt | None = None,
    ) -> Run:
        """Keep a new run and have values lead to it, whatever they led to before.

        With `joins`, the first of them and of what is `beside` them that leads to a run gives that
        run instead, unless it is completed: of calls that begin one at once, all get the same. So
        does an `attempt` that has led to a run before, whatever became of that. Raises
        `KeyUsed` where it asked for something else then, and `TooManyRuns` where as many of its
        owner go on as may.
        """
        of_user = self.owner_of(run.tenant, run.user)
        bindings = [self._binding(run, place) for place in places]
        looked = [*bindings, *(self._binding(run, place) for place in beside)]
        now, row = microseconds(self._clock.now()), self._contents.row(run)
        tried = run_attempts.rows(run, attempt, self._digest, now)

        def work(transaction: Transaction) -> Made[Run | TooManyRuns | KeyUsed]:
            if (met := run_attempts.met(transaction, tried)) is not None:
                return Made(met)
            for named in looked if joins else ():
                found = transaction.fetch("bound_run", {**named, "of_user": of_user})
                if not found:
                    continue
                before = self._contents.run(found[0])
                if before.phase is not Phase.COMPLETED:
                    return Made(before)
                break
            going = transaction.fetch("count_open_runs", {"owner": run.owner})[0].integer("many")
            if going >= MOST_OPEN:
                return Made(TooManyRuns(f"{MOST_OPEN} runs of this owner go on already"))
            transaction.execute("add_run", row)
            for named in (*bindings, *tried):
                transaction.execute("bind_run", named)
            return Made(run, told=told(run))

        return await self._made(work)

    async def change(self, before: Run, after: Run, told: Told) -> Run | None:
        """Move a run from the version it was read in; None when it is another one by now.

        Returns it as it is then. Counters, tags and bindings of `after` are not part of a change.
        """

        def work(transaction: Transaction) -> Made[Run | None]:
            return self._changed(transaction, before, after, told)

        return await self._change(work)

    async def move(self, before: Run, after: Run, told: Told) -> Run | None:
        """Change a run whose guards were judged by counts: None where those are others by now."""

        def work(transaction: Transaction) -> Made[Run | None]:
            if not is_as_counted(transaction, before):
                return Made(None)
            return self._changed(transaction, before, after, told)

        return await self._change(work)

    async def bind(self, run: Run, place: Place) -> None:
        """From now on, have a value lead to a run."""
        named = self._binding(run, place)
        await self._worker.write(
            lambda transaction: transaction.execute("bind_run", named), lock=Lock.EVENTS
        )

    async def taint(self, run: Run, told: Told) -> bool:
        """Note that a result which others can write was returned in it; False when that is known.

        It counts for the runs around it as well, which are told what it has found. A new version of
        each: what was judged before that is judged anew.
        """

        def work(transaction: Transaction) -> Made[bool]:
            events: list[Event] = []
            for each in around(transaction, run):
                if transaction.execute("taint_run", {"run_id": each.run_id}) == 1:
                    after = replaced(each, is_tainted=True, version=each.version + 1)
                    events += told(each, after)
            return Made(bool(events), told=events)

        return await self._change(work)

    async def add_evidence(self, run_id: str, items: Sequence[Evidence]) -> None:
        """Collect references, each once, as long as there is room for them."""
        rows = [evidence_row(run_id, item) for item in items]

        def write(transaction: Transaction) -> None:
            run = bare(transaction, run_id)
            if run is not None:
                collect(transaction, run, rows)

        if rows:
            await self._worker.write(write, lock=Lock.EVENTS, durable=False)

    async def told_of(
        self,
        run: Run,
        told: Told,
        *,
        items: Sequence[Evidence] = (),
        tokens: int = 0,
        attempt: Attempt | None = None,
    ) -> Run:
        """Add what a host tells of, references or tokens, with its event and no new version.

        An `attempt` that was made before adds nothing; raises KeyUsed where it told otherwise.
        """
        rows = [evidence_row(run.run_id, item) for item in items]
        now = microseconds(self._clock.now())
        tried = run_attempts.rows(run, attempt, self._digest, now, to="turn")
        spent: Parameters = {"run_id": run.run_id, "active_at": now, "calls": 0, "tokens": tokens}

        def work(transaction: Transaction) -> Made[Run | TooManyRuns | KeyUsed]:
            before = self._got(transaction, run.run_id) or run
            met = run_attempts.met(transaction, tried)
            if met is not None:
                return Made(met if isinstance(met, KeyUsed) else counted(transaction, before))
            for named in tried:
                transaction.execute("bind_run", named)
            collect(transaction, before, rows)
            transaction.execute("touch_run", spent)
            after = counted(transaction, self._got(transaction, run.run_id) or before)
            return Made(after, told=told(before, after))

        return await self._made(work)

    async def evidence(self, run_id: str, *, limit: int = _MOST_EVIDENCE) -> list[Evidence]:
        """Return the references that were collected in a run, in their order."""
        named: Parameters = {"run_id": clean(run_id), "limit": limit}

        def read(transaction: Transaction) -> list[Evidence]:
            return [evidence_of(row) for row in transaction.fetch("evidence_of", named)]

        return await self._worker.read(read)

    def touched(self, run_id: str, at: datetime, *, calls: int = 1, tokens: int = 0) -> None:
        """Note that a call was made in a run, or tokens were used for it; `flush` writes it."""
        self._touched.note(run_id, microseconds(at), calls=calls, tokens=tokens)

    async def flush(self) -> None:
        """Write what was noted; kept for the next time when that fails."""
        noted = self._touched.taken()
        rows = noted.rows()

        def write(transaction: Transaction) -> None:
            transaction.execute_many("touch_run", rows)

        if not rows:
            return
        try:
            await self._worker.write(write, lock=Lock.EVENTS, durable=False)
        except StoreUnavailable:
            self._touched.take_back(noted)
            raise

    async def idle(self, now: int | None = None) -> list[Run]:
        """Return runs without a call for too long, and those whose wall time is over."""
        at = microseconds(self._clock.now()) if now is None else now
        return await self._read("idle_runs", {"now": at, "limit": _AT_ONCE})

    async def to_cancel(self) -> list[Approval]:
        """Return requests for approval of runs that were stopped, which nobody waits for."""

        def read(transaction: Transaction) -> list[Approval]:
            rows = transaction.fetch("approvals_of_stopped_runs", {"limit": _AT_ONCE})
            return [approval_of(row) for row in rows]

        return await self._worker.read(read)

    async def forget(self, run: Run) -> None:
        """Let go of a run, what led to it, its references, its limits, and the values in it.

        Not of one that has changed since it was read: somebody goes on with it.
        """

        def write(transaction: Transaction) -> None:
            now = bare(transaction, run.run_id)
            if now is None or now.version == run.version:
                forget(transaction, run)

        await self._worker.write(write, lock=Lock.EVENTS, durable=False)

    async def ended(self, before: int) -> list[Run]:
        """Return runs that ended before a time, the longest ago first."""
        return await self._read("ended_runs", {"before": before, "limit": _AT_ONCE})

    async def lapsed(self, before: int) -> list[Run]:
        """Return paused and blocked runs that nothing was done in since before a time."""
        return await self._read("lapsed_runs", {"before": before, "limit": _AT_ONCE})

    def _changed(
        self, transaction: Transaction, before: Run, after: Run, told: Told
    ) -> Made[Run | None]:
        made = change(transaction, before, after, told)
        if made.value is not None and after.fields != before.fields:
            fields = self._contents.fields(replaced(after, run_id=before.run_id))
            transaction.execute("set_run_fields", {"run_id": before.run_id, "fields": fields})
        return made

    def _got(self, transaction: Transaction, run_id: str) -> Run | None:
        """Return a run with what it is for and has collected; raises `VaultBroken`."""
        rows = transaction.fetch("get_run", {"run_id": clean(run_id)})
        return self._contents.run(rows[0]) if rows else None

    async def _change(self, work: Callable[[Transaction], Made[_T]]) -> _T:
        return await self._log.carry(Change(Once(work)))

    async def _made(self, work: Callable[[Transaction], Made[Run | TooManyRuns | KeyUsed]]) -> Run:
        found = await self._change(work)
        if isinstance(found, Run):
            return found
        raise found

    async def _read(self, name: str, parameters: Parameters, *, where: str = "") -> list[Run]:
        def read(transaction: Transaction) -> list[Run]:
            return [
                self._contents.listed(row)
                for row in transaction.fetch(name, parameters, where=where)
            ]

        return await self._worker.read(read)

    def _binding(self, run: Run, place: Place) -> Parameters:
        return {
            "tenant": clean(run.tenant),
            "owner": run.owner,
            "kind": str(place.kind),
            "vhash": self._value(run.tenant, place),
            "run_id": run.run_id,
            "bound_at": microseconds(self._clock.now()),
        }

    def _value(self, tenant: str, place: Place) -> str:
        return self._digest(tenant, str(place.kind), place.value)

    def _digested(self, tenant: str, *parts: str) -> str:
        return keys.digest(self._keys.runs(tenant), "\0".join(parts))
