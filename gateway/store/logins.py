"""Logins of people at the admin listener: one-time links, and sessions of browsers.

What a link or a cookie holds is known to its owner alone: the store keeps SHA-256 digests of 256
random bits, so that nobody who reads the database gets in. A link also says, by a tag under the
store's key, that it was made for this store: guesses cost no query, and so need not be counted.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway import jsontext
from gateway.clock import Clock
from gateway.store.engine import Row, Transaction
from gateway.store.rows import clean
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.json import Json

_BYTES: Final = 32
_TAG_BYTES: Final = 12
_TAG: Final = _TAG_BYTES * 4 // 3  # characters
_LONGEST_SECRET: Final = 64  # of what is looked up at all
_SEEN_EVERY: Final = timedelta(minutes=1)  # a page a second is no reason to write each second
_FORGOTTEN: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Whom a one-time link lets in."""

    tenant: str
    user: str
    ends_at: datetime  # UTC
    account: str  # of the machine, that made it; empty in links of before


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A login, with the roles as they were when it began."""

    person: Approver
    created_at: datetime  # UTC, as the others
    seen_at: datetime
    ends_at: datetime


class Logins:
    """Makes links and sessions, and knows them again; all raise StoreUnavailable."""

    def __init__(self, worker: Worker, clock: Clock, key: bytes) -> None:
        self._worker = worker
        self._key = key
        self._clock = clock

    async def new_link(self, *, tenant: str, user: str, account: str, lasts_s: float) -> str:
        """Keep a one-time link and return its secret, which nobody can find out later.

        `account` is that of the machine whose command it was.
        """
        random, now = secrets.token_urlsafe(_BYTES), self._clock.now()
        secret = random + self._tag(random)

        def write(transaction: Transaction) -> None:
            transaction.execute("forget_links", {"before": microseconds(now - _FORGOTTEN)})
            transaction.execute(
                "new_link",
                {
                    "link": _digest(secret),
                    "tenant": clean(tenant),
                    "account": clean(user),
                    "made_by": clean(account),
                    "created_at": microseconds(now),
                    "ends_at": microseconds(now + timedelta(seconds=lasts_s)),
                },
            )

        await self._worker.write(write)
        return secret

    async def look_at_link(self, secret: str) -> Link | None:
        """Return whom a link lets in, None for one that is used, over or unknown."""
        if not self._may_be_link(secret):
            return None
        wanted = {"link": _digest(secret), "now": microseconds(self._clock.now())}

        def read(transaction: Transaction) -> Link | None:
            return _link(transaction.fetch("open_link", wanted))

        return await self._worker.read(read)

    async def use_link(self, secret: str) -> Link | None:
        """Use a link up and return whom it lets in; of all who try, one gets it."""
        if not self._may_be_link(secret):
            return None
        wanted = {"link": _digest(secret), "now": microseconds(self._clock.now())}

        def write(transaction: Transaction) -> Link | None:
            found = transaction.fetch("open_link", wanted)
            return _link(found) if transaction.execute("use_link", wanted) else None

        return await self._worker.write(write)

    def _may_be_link(self, secret: str) -> bool:
        """Whether a text was made as a link under our key; the store knows whether it still is."""
        if len(secret) > _LONGEST_SECRET:
            return False
        tag = self._tag(secret[:-_TAG]).encode()
        return hmac.compare_digest(tag, secret[-_TAG:].encode("utf-8", "replace"))

    def _tag(self, random: str) -> str:
        made = hmac.digest(self._key, b"link:" + random.encode("utf-8", "replace"), hashlib.sha256)
        return base64.urlsafe_b64encode(made[:_TAG_BYTES]).decode()

    async def begin(self, person: Approver, *, lasts_s: float) -> str:
        """Keep a login and return the secret for the person's browser."""
        secret, now = secrets.token_urlsafe(_BYTES), self._clock.now()
        roles: Json = [*sorted(clean(role) for role in person.roles)]

        def write(transaction: Transaction) -> None:
            transaction.execute("forget_sessions", {"now": microseconds(now)})
            transaction.execute(
                "new_session",
                {
                    "session": _digest(secret),
                    "tenant": clean(person.tenant),
                    "account": clean(person.user),
                    "issuer": clean(person.issuer),
                    "roles": jsontext.dump(roles).decode(),
                    "assurance": person.assurance.value,
                    "now": microseconds(now),
                    "ends_at": microseconds(now + timedelta(seconds=lasts_s)),
                },
            )

        await self._worker.write(write)
        return secret

    async def find(self, secret: str, *, idle_s: float) -> Session | None:
        """Return the login that a browser's secret stands for, and note that it is used."""
        if len(secret) > _LONGEST_SECRET:
            return None
        now = self._clock.now()
        wanted = {
            "session": _digest(secret),
            "now": microseconds(now),
            "idle_since": microseconds(now - timedelta(seconds=idle_s)),
        }

        def read(transaction: Transaction) -> Session | None:
            rows = transaction.fetch("get_session", wanted)
            return _session(rows[0]) if rows else None

        found = await self._worker.read(read)
        if found is not None and now - found.seen_at >= _SEEN_EVERY:
            seen = {"session": wanted["session"], "now": wanted["now"]}
            await self._worker.write(
                lambda transaction: transaction.execute("saw_session", seen), durable=False
            )
        return found

    async def end(self, secret: str) -> bool:
        """End a login; False when there is none."""
        if len(secret) > _LONGEST_SECRET:
            return False
        wanted = {"session": _digest(secret)}
        return bool(
            await self._worker.write(lambda transaction: transaction.execute("end_session", wanted))
        )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _link(rows: list[Row]) -> Link | None:
    if not rows:
        return None
    (row,) = rows
    return Link(
        tenant=row.text("tenant"),
        user=row.text("account"),
        ends_at=moment(row.integer("ends_at")),
        account=row.text("made_by"),
    )


def _session(row: Row) -> Session:
    roles = jsontext.parse_result(row.text("roles").encode())
    person = Approver(
        tenant=row.text("tenant"),
        user=row.text("account"),
        roles=frozenset(each for each in roles if isinstance(each, str))
        if isinstance(roles, list)
        else frozenset(),
        assurance=Assurance(row.text("assurance")),
        channel=Channel.PAGE,
        issuer=row.text("issuer"),
    )
    return Session(
        person=person,
        created_at=moment(row.integer("created_at")),
        seen_at=moment(row.integer("seen_at")),
        ends_at=moment(row.integer("ends_at")),
    )
