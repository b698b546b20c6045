"""What the flow asks of the store, in the flow's own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway import jsontext
from gateway.case import Origin
from gateway.crossing.books import SeenValue
from gateway.revision import Revision
from gateway.store.revisions import StoredRevision
from gateway.store.seen import Sighting
from gateway.store.store import Store
from gateway.types.actors import Actor
from gateway.types.json import Json, JsonPointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Adapts one store to the steps."""

    store: Store

    def digest(self, tenant: str, value: Json) -> str:
        """Return a keyed digest of a value's canonical form, comparable within one tenant."""
        made = self.store.keys.keyed(tenant).digest(jsontext.canonical(value))
        return f"hmac-sha256:{made[:16].hex()}"

    def pseudonym(self, tenant: str, user: str) -> str:
        """Return what stands for a user in spans."""
        return self.store.keys.keyed(tenant).digest(user.encode("utf-8", "replace"))[:16].hex()

    async def find_origins(
        self, actor: Actor, wanted: Mapping[JsonPointer, tuple[Json, tuple[str, ...]]]
    ) -> dict[JsonPointer, tuple[Origin, ...]]:
        """Look up where this actor was given these values; raises StoreUnavailable."""
        found = await self.store.seen.find(
            actor.tenant, _scope(actor), {pointer: value for pointer, (value, _) in wanted.items()}
        )
        return {
            pointer: tuple(
                Origin(type=each.type, record=each.record, tool=each.tool) for each in sightings
            )
            for pointer, sightings in found.items()
        }

    async def remember(self, actor: Actor, tool: str, found: Sequence[SeenValue]) -> None:
        """Keep which identifiers this actor was given; raises StoreUnavailable."""
        values = [
            Sighting(type=each.type, record=each.record, tool=tool, value=each.value)
            for each in found
        ]
        await self.store.seen.remember(actor.tenant, _scope(actor), values)

    async def keep_revision(self, revision: Revision, because: str) -> None:
        """Store a revision whole, before it decides anything; raises StoreUnavailable."""
        at = revision.activated_at
        if at is None:
            raise ValueError("a revision without a time can't be activated")
        await self.store.revisions.save(
            StoredRevision(id=revision.id, at=at, activated_by=because, texts=dict(revision.texts))
        )


def _scope(actor: Actor) -> str:
    """Until a call belongs to a run, what counts as seen is what the same user was given."""
    return f"user:{actor.issuer}:{actor.user}"
