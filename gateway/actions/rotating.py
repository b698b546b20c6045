"""Has another key take over: an event names it, and both keys sign one checkpoint over that."""

from collections.abc import Sequence

from gateway.errors import LogChanged
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Signer
from gateway.store.integration import StoredCheckpoint
from gateway.store.store import Store
from gateway.types.events import Event


async def common_checkpoint(
    store: Store, signers: Sequence[Signer], events: Sequence[Event]
) -> StoredCheckpoint:
    """Write one of the events, which name the new key, and a checkpoint over it that all sign.

    A gateway may be first with a checkpoint of its own; then the next event is written. Raises
    StoreUnavailable and LogChanged.
    """
    origin = signers[0].name

    def sign(size: int, root: bytes) -> str:
        return Checkpoint(origin=origin, size=size, root=root).signed(signers)

    for event in events:
        store.events.append([event], durable=True)
        await store.events.kept()
        made: StoredCheckpoint | None = None
        while (step := await store.checkpoints.make(sign)) is not None:
            made = step
        standing = await store.checkpoints.standing()
        if made is not None and standing.last == made:
            return made
    raise LogChanged("a gateway was first with each checkpoint; try again")
