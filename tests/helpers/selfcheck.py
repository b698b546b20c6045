"""What gateways wrote is judged again under the revisions of then: all of it has to be the same."""

from dataclasses import dataclass, field
from pathlib import Path

from gateway.actions import revisions
from gateway.errors import FilesError
from gateway.events.envelope import Origin
from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.types import Compared
from gateway.revision import Revision
from gateway.store.store import Store

_WRITER = Origin(instance="selfcheck", version="0")


@dataclass(kw_only=True)
class Found:
    """How many calls there were, and which of them are not the same."""

    calls: int = 0
    unknown: int = 0  # calls of which not all is in the log
    unkept: int = 0  # whose revision, or the definition of whose tool, is not kept
    other: list[Compared] = field(default_factory=list[Compared])

    @property
    def told(self) -> str:
        """What is not the same, for whoever looks for the cause."""
        return "\n".join(
            f"{each.recorded.call} {each.recorded.tool}\n  then {each.recorded.judged}\n"
            f"  again {each.after} lacks {each.missing}"
            for each in self.other[:5]
        )


async def checked(store: Store) -> Found:
    """Judge all calls of a store again."""
    found, definitions = Found(), await store.definitions.all()

    async def past(id: str) -> Revision | None:
        kept = await store.revisions.get(id)
        if kept is None:
            return None
        folder = revisions.folder_of(kept.texts)
        unreviewed = revisions.unreviewed_of(id, folder)
        try:
            assert unreviewed is not None
            return revisions.compiled(folder, unreviewed=unreviewed, at=kept.at)
        except FilesError:
            return None

    replays: dict[str, Replay] = {}
    async for call in history.calls(store.events, Span()):
        if call.revision not in replays:
            law = await past(call.revision)
            if law is None:
                found.unkept += 1
                continue
            replays[call.revision] = Replay(candidate=law, past=past, definitions=definitions)
        compared = await replays[call.revision].compared(call)
        found.calls += 1
        found.unknown += bool(call.unknown)
        if compared.missing and compared.missing[0].place.startswith("definition of"):
            found.unkept += 1
        elif not compared.is_faithful:
            found.other.append(compared)
    return found


async def checked_folder(folder: Path, name: str = "store.db") -> Found:
    """Judge all calls again that a gateway kept in a folder."""
    store = Store.open(f"sqlite:///{folder}/{name}", origin=_WRITER, create=False)
    try:
        return await checked(store)
    finally:
        store.close()
