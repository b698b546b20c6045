"""Events about people at the admin listener: who got a link, came in, and left."""

from collections.abc import Iterable
from datetime import datetime

from gateway.types.approvals import Approver
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject


def link_made(
    *, id: str, at: datetime, tenant: str, user: str, account: str, until: datetime
) -> Event:
    """Say that a one-time link was printed, by which user of the machine; never the link."""
    body: JsonObject = {"user": user, "account": account, "until": until.isoformat()}
    return _event("login_link_made", id=id, at=at, tenant=tenant, body=body)


def logged_in(*, id: str, at: datetime, person: Approver, peer: str) -> Event:
    """Say that somebody came in; `os:` as its issuer means by a one-time link."""
    body: JsonObject = {
        "user": person.user,
        "roles": _sorted(person.roles),
        "issuer": person.issuer,
        "assurance": person.assurance.value,
        "peer": peer,
    }
    return _event("logged_in", id=id, at=at, tenant=person.tenant, body=body)


def logged_out(*, id: str, at: datetime, person: Approver) -> Event:
    """Say that somebody ended a login."""
    return _event("logged_out", id=id, at=at, tenant=person.tenant, body={"user": person.user})


def _sorted(texts: Iterable[str]) -> list[Json]:
    return [*sorted(texts)]


def _event(action: str, *, id: str, at: datetime, tenant: str, body: JsonObject) -> Event:
    return Event(
        id=id,
        at=at,
        kind=EventKind.ADMIN,
        stage=Stage.RECORDED,
        tenant=tenant,
        body={"action": action, **body},
    )
