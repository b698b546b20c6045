"""Every revision that was ever in force, whole: decisions name theirs."""

from dataclasses import dataclass
from datetime import datetime

from gateway import jsontext
from gateway.store.engine import Row, Transaction
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRevision:
    """A revision as it is kept: the texts of its files, by name."""

    id: str
    at: datetime  # of its last activation, UTC
    activated_by: str
    texts: dict[str, str]


class Revisions:
    """Keeps revisions and gives them back."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def save(self, revision: StoredRevision) -> None:
        """Keep a revision; durable on return. Its id stands for its texts, which never change."""
        texts: Json = dict(revision.texts)
        await self._worker.write(
            lambda transaction: transaction.execute(
                "save_revision",
                {
                    "id": revision.id,
                    "at": microseconds(revision.at),
                    "activated_by": revision.activated_by,
                    "texts": jsontext.dump(texts).decode(),
                },
            )
        )

    async def get(self, id: str) -> StoredRevision | None:
        """Return one revision, or None."""
        found = await self._fetch("get_revision", {"id": id})
        return found[0] if found else None

    async def latest(self, limit: int = 20) -> list[StoredRevision]:
        """Return the revisions that were activated last, newest first."""
        return await self._fetch("list_revisions", {"limit": limit})

    async def _fetch(self, name: str, parameters: dict[str, str | int]) -> list[StoredRevision]:
        def read(transaction: Transaction) -> list[StoredRevision]:
            return [_revision(row) for row in transaction.fetch(name, {**parameters})]

        return await self._worker.read(read)


def _revision(row: Row) -> StoredRevision:
    texts = jsontext.parse_result(row.text("texts").encode())
    pairs = texts.items() if isinstance(texts, dict) else ()
    return StoredRevision(
        id=row.text("id"),
        at=moment(row.integer("at")),
        activated_by=row.text("activated_by"),
        texts={name: text for name, text in pairs if isinstance(text, str)},
    )
