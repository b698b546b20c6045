"""Every revision that was ever in force, whole: decisions name theirs."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway import jsontext
from gateway.store.engine import Lock, Parameters, Row, Transaction
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.json import Json

START: Final = "start"  # why a revision was activated: its gateway has begun
_SIGN_OF_LIFE: Final = timedelta(seconds=10)  # gateways write what `status` shows every 2 s


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
        """Keep a revision and put it in force; durable on return.

        Its id stands for its texts, which never change. A gateway that starts with a revision that
        was replaced already, while others go on, has files that nobody has brought up to date: the
        one in force stays.
        """
        texts: Json = dict(revision.texts)
        now = microseconds(revision.at)
        row: Parameters = {
            "id": revision.id,
            "activated_by": revision.activated_by,
            "texts": jsontext.dump(texts).decode(),
        }

        def write(transaction: Transaction) -> None:
            newest = transaction.fetch("newest_revision", {})
            is_replaced = bool(newest) and newest[0].text("id") != revision.id
            at = max(now, newest[0].integer("at") + 1) if is_replaced else now
            is_late = is_replaced and revision.activated_by == START and _others(transaction, now)
            known = is_late and transaction.fetch("get_revision", {"id": revision.id})
            transaction.execute("keep_revision" if known else "save_revision", {**row, "at": at})

        await self._worker.write(write, lock=Lock.EVENTS)

    async def get(self, id: str) -> StoredRevision | None:
        """Return one revision, or None."""
        found = await self._fetch("get_revision", {"id": id})
        return found[0] if found else None

    async def beginning(self, with_: str) -> list[StoredRevision]:
        """Return the revisions whose ids begin with a text, newest first.

        Of other texts than `sha256:` and hexadecimal digits there are none.
        """
        if re.fullmatch(r"sha256:[0-9a-f]*", with_) is None:
            return []
        return await self._fetch("revisions_like", {"pattern": with_ + "%"})

    async def latest(self, limit: int = 20) -> list[StoredRevision]:
        """Return the revisions that were activated last, newest first."""
        return await self._fetch("list_revisions", {"limit": limit})

    async def _fetch(self, name: str, parameters: dict[str, str | int]) -> list[StoredRevision]:
        def read(transaction: Transaction) -> list[StoredRevision]:
            return [_revision(row) for row in transaction.fetch(name, {**parameters})]

        return await self._worker.read(read)


def _others(transaction: Transaction, now: int) -> bool:
    """Whether gateways go on that had begun before this one."""
    since = now - round(_SIGN_OF_LIFE.total_seconds() * 1e6)
    return transaction.fetch("living_instances", {"since": since})[0].integer("many") > 0


def _revision(row: Row) -> StoredRevision:
    texts = jsontext.parse_result(row.text("texts").encode())
    pairs = texts.items() if isinstance(texts, dict) else ()
    return StoredRevision(
        id=row.text("id"),
        at=moment(row.integer("at")),
        activated_by=row.text("activated_by"),
        texts={name: text for name, text in pairs if isinstance(text, str)},
    )
