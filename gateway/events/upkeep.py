"""Events about the log itself: keys that take over, what left it, and what has to stay."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gateway.events.envelope import timestamp
from gateway.events.forms import COUNT, TEXT, about, an_action
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import JsonObject

ROTATED: Final = "checkpoint_key_rotated"
ARCHIVED: Final = "log_archived"
HOLD_SET: Final = "log_hold_set"
HOLD_LIFTED: Final = "log_hold_lifted"
_TEXT: Final = 1_000

_BY: Final[JsonObject] = {
    "by": about(TEXT, "who is said to have done it"),
    "account": about(TEXT, "the user of the machine whose command it was"),
}
_READ: Final = an_action(
    "log_read",
    {
        "how": about(TEXT, "the command or the page, such as `export`"),
        "by": about(TEXT, "who is said to have asked, or who was logged in; empty: nobody says"),
        "account": _BY["account"],
        "asked": about({"type": "object"}, "what was asked for, by the names of the options"),
        "events": about(COUNT, "how many were given out, where that is known"),
    },
)
ACTIONS: Final[tuple[JsonObject, ...]] = (
    {**_READ, "required": ["action", "how", "by", "account"]},
    an_action(
        ROTATED,
        {
            "from": about(TEXT, "the public key that signed so far"),
            "to": about(TEXT, "the one that signs from now on; the next checkpoint has both"),
            **_BY,
        },
    ),
    an_action(
        ARCHIVED,
        {
            "first": about(COUNT, "number of the first event that left the log"),
            "last": COUNT,
            "root": about(TEXT, "of the log's tree up to `last`, in hex"),
            "file": about(TEXT, "where the sealed archive was written, as it was named"),
            "digest": about(TEXT, "of the archive"),
            **_BY,
        },
    ),
    an_action(HOLD_SET, {"tenant": TEXT, "run": TEXT, "reason": TEXT, **_BY}),
    an_action(HOLD_LIFTED, {"tenant": TEXT, "run": TEXT, **_BY}),
    an_action(
        "log_shredded",
        {
            "tenant": about(TEXT, "whose sealed copies were destroyed"),
            "run": about(TEXT, "only those of this run"),
            "call": about(TEXT, "only those of this call"),
            "before": about(TEXT, "only older ones"),
            "copies": about(COUNT, "sealed arguments that nobody can read any more"),
            "keys": about(COUNT, "data keys that are gone with them"),
            "operations": about(COUNT, "settled ones that let go of arguments and answer as well"),
            "requests": about(COUNT, "closed ones that let go of what people were shown"),
            "reason": TEXT,
            **_BY,
        },
        frozenset({"operations", "requests"}),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What left the log, as an event or the store says: all up to `last`, where the root was so."""

    last: int
    root: str  # hex
    digest: str  # of the file


def key_rotated(*, id: str, at: datetime, old: str, new: str, by: str, account: str) -> Event:
    """Say that another key signs checkpoints from now on; both are public."""
    body: JsonObject = {"from": old, "to": new, "by": by[:_TEXT], "account": account}
    return _event(ROTATED, id=id, at=at, body=body)


def archived(
    *,
    id: str,
    at: datetime,
    first: int,
    last: int,
    root: str,
    file: str,
    digest: str,
    by: str,
    account: str,
) -> Event:
    """Say that events left the log, into which sealed file."""
    body: JsonObject = {
        "first": first,
        "last": last,
        "root": root,
        "file": file[:_TEXT],
        "digest": digest,
        "by": by[:_TEXT],
        "account": account,
    }
    return _event(ARCHIVED, id=id, at=at, body=body)


def hold_set(
    *, id: str, at: datetime, tenant: str, run: str, reason: str, by: str, account: str
) -> Event:
    """Say that the events of a tenant or a run have to stay."""
    body: JsonObject = {"tenant": tenant, "run": run, "reason": reason[:_TEXT]}
    return replace(
        _event(HOLD_SET, id=id, at=at, body={**body, "by": by[:_TEXT], "account": account}),
        tenant=tenant,
        run=run,
    )


def hold_lifted(*, id: str, at: datetime, tenant: str, run: str, by: str, account: str) -> Event:
    """Say that they may go again."""
    body: JsonObject = {"tenant": tenant, "run": run, "by": by[:_TEXT], "account": account}
    event = _event(HOLD_LIFTED, id=id, at=at, body=body)
    return replace(event, tenant=tenant, run=run)


def shredded(
    *,
    id: str,
    at: datetime,
    tenant: str,
    run: str,
    call: str,
    before: datetime | None,
    copies: int,
    keys: int,
    operations: int = 0,
    requests: int = 0,
    reason: str,
    by: str,
    account: str,
) -> Event:
    """Say that sealed copies were destroyed: whose, how many, and who wanted it."""
    body: JsonObject = {
        "tenant": tenant,
        "run": run,
        "call": call,
        "before": "" if before is None else timestamp(before),
        "copies": copies,
        "keys": keys,
        "operations": operations,
        "requests": requests,
        "reason": reason[:_TEXT],
        "by": by[:_TEXT],
        "account": account,
    }
    event = _event("log_shredded", id=id, at=at, body=body)
    return replace(event, tenant=tenant, run=run, call=call)


def new_key(event: JsonObject) -> str:
    """Return the public key that takes over by an event as it is kept; empty for other events."""
    to = _body(event, ROTATED).get("to")
    return to if isinstance(to, str) else ""


def left(event: JsonObject) -> Left | None:
    """Return what left the log by an event as it is kept; None for other events."""
    body = _body(event, ARCHIVED)
    last, root, digest = body.get("last"), body.get("root"), body.get("digest")
    if isinstance(last, int) and isinstance(root, str) and isinstance(digest, str):
        return Left(last=last, root=root, digest=digest)
    return None


def _body(event: JsonObject, action: str) -> JsonObject:
    """Return the body of an event of the gateway itself; an empty one for any other event."""
    body = event.get("body")
    if event.get("kind") != EventKind.ADMIN.value or not isinstance(body, dict):
        return {}
    return body if body.get("action") == action else {}


def _event(action: str, *, id: str, at: datetime, body: JsonObject) -> Event:
    return Event(
        id=id, at=at, kind=EventKind.ADMIN, stage=Stage.RECORDED, body={"action": action, **body}
    )
