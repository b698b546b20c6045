"""What the flow asks of the store, in the flow's own words."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from gateway import ids, jsontext
from gateway.case import Origin, Traced
from gateway.clock import Clock, SystemClock
from gateway.crossing.books import Sealing, SeenValue
from gateway.crossing.usual import Usual
from gateway.events import runs
from gateway.events.redact import Redactor
from gateway.revision import Revision
from gateway.runs.origins import Asked
from gateway.store.revisions import StoredRevision
from gateway.store.sealing import NoSealer
from gateway.store.seen import Sighting, Sought
from gateway.store.store import Store
from gateway.types.actors import Actor
from gateway.types.events import Event
from gateway.types.json import Json, JsonPointer
from gateway.types.runs import Evidence, Mover, Run

_MOST_COLLECTED: Final = 10_000  # references that are known to be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Adapts one store to the steps."""

    store: Store
    clock: Clock = field(default_factory=SystemClock)
    sealer: Sealing = field(default_factory=NoSealer)
    _collected: set[tuple[str, str, str, str]] = field(
        default_factory=set[tuple[str, str, str, str]], repr=False, compare=False
    )

    def usual(self, redactor: Redactor) -> Usual:
        """Return what writes the events of most reads, as this store's log would."""
        return Usual(self.store.events.origin, redactor)

    def digest(self, tenant: str, value: Json) -> str:
        """Return a keyed digest of a value's canonical form, comparable within one tenant."""
        made = self.store.keys.keyed(tenant).digest(jsontext.canonical(value))
        return f"hmac-sha256:{made[:16].hex()}"

    def pseudonym(self, tenant: str, user: str) -> str:
        """Return what stands for a user in spans."""
        return self.store.keys.keyed(tenant).digest(user.encode("utf-8", "replace"))[:16].hex()

    async def find_origins(
        self, actor: Actor, run_id: str, asked: Mapping[JsonPointer, Asked]
    ) -> Mapping[JsonPointer, tuple[Origin, ...]]:
        """Look up where these values were given in a run, or to this actor without one.

        Raises StoreUnavailable.
        """
        return (await self.trace(actor, run_id, asked, ())).origins

    async def trace(
        self,
        actor: Actor,
        run_id: str,
        asked: Mapping[JsonPointer, Asked],
        doubted: Collection[JsonPointer],
    ) -> Traced:
        """Do the same, and for doubted values that were not given find ids that were, near them.

        Raises StoreUnavailable.
        """
        wanted = {
            pointer: Sought(value=each.value, types=each.types, at_least=each.at_least)
            for pointer, each in asked.items()
        }
        known = await self.store.seen.trace(actor.tenant, scope(actor, run_id), wanted, doubted)
        origins = {
            pointer: tuple(
                Origin(
                    type=each.type,
                    record=each.record,
                    tool=each.tool,
                    trust=each.trust,
                    is_exact=each.is_exact,
                )
                for each in sightings
            )
            for pointer, sightings in known.sightings.items()
        }
        return Traced(origins=origins, near=known.near)

    async def remember(
        self, actor: Actor, run_id: str, tool: str, found: Sequence[SeenValue]
    ) -> None:
        """Keep which identifiers were given; raises StoreUnavailable."""
        values = [
            Sighting(
                type=each.type,
                record=each.record,
                tool=tool,
                trust=each.trust,
                form=each.form,
                value=each.value,
            )
            for each in found
        ]
        await self.store.seen.remember(
            actor.tenant, scope(actor, run_id), values, lasts=_lasts(run_id)
        )

    async def is_tainted(self, actor: Actor) -> bool:
        """Say whether an actor got results that others can write, in whatever run."""
        return await self.store.seen.is_tainted(actor.tenant, scope(actor, ""))

    async def taint(self, actor: Actor, run: Run | None, call_id: str) -> None:
        """Note that a call was given a result that others can write; raises StoreUnavailable.

        It counts for the actor as well as for the run, so that no other run of his is clean.
        """
        await self.store.seen.taint(actor.tenant, scope(actor, ""))
        if run is None or run.is_tainted:
            return

        def told(before: Run, after: Run) -> list[Event]:
            now = self.clock.now()
            return [
                runs.event(
                    before,
                    after,
                    by=Mover.CALL,
                    id=ids.ulid(),
                    at=now,
                    actor=actor,
                    call=call_id,
                )
            ]

        await self.store.runs.taint(run, told)

    async def collect(self, run_id: str, evidence: Sequence[Evidence]) -> None:
        """Keep references to what was read in a run; raises StoreUnavailable.

        What is read again and again is written once.
        """
        named = {(run_id, each.source, each.version, each.chunk): each for each in evidence}
        new = {name: each for name, each in named.items() if name not in self._collected}
        if not new:
            return
        await self.store.runs.add_evidence(run_id, [*new.values()])
        if len(self._collected) >= _MOST_COLLECTED:
            self._collected.clear()
        self._collected.update(new.keys())

    async def keep_revision(self, revision: Revision, because: str) -> None:
        """Store a revision whole, before it decides anything; raises StoreUnavailable."""
        at = revision.activated_at
        if at is None:
            raise ValueError("a revision without a time can't be activated")
        await self.store.revisions.save(
            StoredRevision(id=revision.id, at=at, activated_by=because, texts=dict(revision.texts))
        )


def scope(actor: Actor, run_id: str) -> str:
    """Return whose sightings count: those of the run, or of the same user where there is none."""
    return f"run:{run_id}" if run_id else f"user:{actor.issuer}:{actor.user}"


def _lasts(run_id: str) -> timedelta:
    """Return for how long a value counts; those of a run are forgotten with it."""
    return timedelta(days=90 if run_id else 1)
