"""Policies as pages and their processes pass them on: texts, and what compiles them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.actions import revisions
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.errors import FileError
from gateway.revision import Revision, Unreviewed
from gateway.store.revisions import StoredRevision
from gateway.store.store import Store
from gateway.types.json import Json, JsonObject

_SHOWN: Final = 12  # digits of an id
_LEAST: Final = 4  # that stand for one


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Where policies are found by id: among those that were in force, or in the folder as it is."""

    store: Store
    settings: Settings

    @property
    def otherwise(self) -> Unreviewed:
        """How tools without a contract are met where a revision's id doesn't tell."""
        return Unreviewed(self.settings.contracts.unreviewed)

    async def kept(self, said: str) -> StoredRevision | None:
        """Return a revision by its id or a beginning of it that only one has."""
        digits = said.removeprefix("sha256:")
        if len(digits) < _LEAST:
            return None
        found = await self.store.revisions.beginning(f"sha256:{digits}")
        return found[0] if len(found) == 1 else None

    def folder(self) -> JsonObject:
        """Return the files of the folder as they are now; raises FileError. Reads the disk."""
        folder = self.settings.policies
        texts = revisions.read(folder)
        id = revisions.revision_id(texts, self.otherwise)
        return _order(
            id, texts.texts, self.otherwise, SystemClock().now(), prefix=f"{folder.name}/"
        )

    def of(self, found: StoredRevision) -> JsonObject:
        """Return a revision that was kept."""
        folder = revisions.folder_of(found.texts)
        unreviewed = revisions.unreviewed_of(found.id, folder) or self.otherwise
        return _order(found.id, found.texts, unreviewed, found.at, prefix=f"{short(found.id)}/")


def compiled(order: Json) -> Revision:
    """Compile what was passed on; raises FileError."""
    assert isinstance(order, dict)  # noqa: S101 - made by a shelf
    texts = order["texts"]
    assert isinstance(texts, dict)  # noqa: S101 - the same
    try:
        return revisions.compiled(
            revisions.folder_of({name: str(text) for name, text in texts.items()}),
            unreviewed=Unreviewed(str(order["unreviewed"])),
            at=datetime.fromisoformat(str(order["at"])),
            prefix=str(order["prefix"]),
        )
    except FileError as error:
        first, *others = revisions.each(error)
        if not others:
            raise first from None
        more = f"{first.message} (and {len(others)} more)"
        raise FileError(more, file=first.file, line=first.line, column=first.column) from None


def short(id: str) -> str:
    """Return so much of an id as people need to tell revisions apart."""
    return id.removeprefix("sha256:")[:_SHOWN]


def _order(
    id: str, texts: dict[str, str], unreviewed: Unreviewed, at: datetime, *, prefix: str
) -> JsonObject:
    return {
        "id": id,
        "texts": dict[str, Json](texts),
        "unreviewed": unreviewed.value,
        "at": at.isoformat(),
        "prefix": prefix,
    }
