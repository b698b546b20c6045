"""The envelope: an event as the JSON that is kept, written once."""

import hashlib
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.types.actors import Actor
from gateway.types.events import ENVELOPE_VERSION, Event
from gateway.types.json import Json, JsonObject
from gateway.types.remembered import by_identity

MAX_ARGUMENTS: Final = 16 << 10  # bytes of one value inside a body
MAX_EVENT: Final = 256 << 10  # bytes of a whole event
_HEAD: Final = 1_000  # characters of a cut value that are kept
_KEPT: Final = ("tool", "decision", "rule", "status", "sealed")  # of a body that is too large
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The gateway process that writes events."""

    instance: str
    version: str


def to_bytes(event: Event, origin: Origin) -> bytes:
    """Write an event as it is kept for good; nothing that happens later changes these bytes."""
    body = event.body
    written = _dump(to_json(event, origin))
    if len(written) > MAX_EVENT:
        kept = {key: body[key] for key in _KEPT if key in body}
        written = _dump({**to_json(event, origin), "body": {**kept, **cut(_dump(body))}})
    return written


def to_json(event: Event, origin: Origin) -> JsonObject:
    """Return the envelope with its body; empty fields are left out, `seq` is added on reading."""
    # Field by field: every call has several events, and a loop takes half as long again.
    envelope: JsonObject = {
        "v": ENVELOPE_VERSION,
        "id": event.id,
        "ts": timestamp(event.at),
        "kind": str(event.kind),
        "stage": str(event.stage),
        "tenant": event.tenant,
    }
    if event.run:
        envelope["run"] = event.run
    if event.phase:
        envelope["phase"] = event.phase
    if event.call:
        envelope["call"] = event.call
    if event.parent:
        envelope["parent"] = event.parent
    if event.trace_id:
        envelope["trace_id"] = event.trace_id
    if event.span_id:
        envelope["span_id"] = event.span_id
    if event.actor is not None:
        envelope["actor"] = _actor(event.actor)
    envelope["gateway"] = {"instance": origin.instance, "version": origin.version}
    if event.erased:
        envelope["erased"] = list(event.erased)
    if event.masked:
        envelope["masked"] = list(event.masked)
    envelope["body"] = event.body
    return envelope


def timestamp(at: datetime) -> str:
    """Return a time as in `2026-11-29T09:00:00.000000Z`."""
    return timestamp_of((at - _EPOCH) // _MICROSECOND)


def timestamp_of(us: int) -> str:
    """Return the same of a time in microseconds since 1970."""
    second, rest = divmod(us, 1_000_000)
    return f"{_second(second)}.{rest:06}Z"


@lru_cache(maxsize=16)
def _second(since_1970: int) -> str:
    """Write a second; formatting is slow, and many events share one."""
    return (_EPOCH + timedelta(seconds=since_1970)).isoformat()[:19]


def capped(value: Json, limit: int = MAX_ARGUMENTS) -> Json:
    """Return a value of a body, or its digest and head when it has more bytes than `limit`."""
    written = _dump(value)
    return value if len(written) <= limit else cut(written)


def size(value: Json) -> int:
    """Return how many bytes a value takes in an event."""
    return len(_dump(value))


def cut(written: bytes) -> JsonObject:
    """Return what is kept of a value that is too large: digest, size in bytes, first characters."""
    return {
        "$cut": {
            "digest": "sha256:" + hashlib.sha256(written).hexdigest(),
            "bytes": len(written),
            "head": written[:_HEAD].decode("utf-8", "ignore"),
        }
    }


@by_identity(1024)
def _actor(actor: Actor) -> JsonObject:
    return {
        "user": actor.user,
        "client": actor.client,
        "auth_method": actor.method,
        "issuer": actor.issuer,
        "roles": list[Json](sorted(actor.roles)),
        "scopes": list[Json](sorted(actor.scopes)),
    }


def _dump(value: Json) -> bytes:
    try:
        return jsontext.dump(value)
    except JsonError:  # a half surrogate pair from outside must not keep an event out of the log
        return jsontext.dump(_encodable(value))


def _encodable(value: Json) -> Json:
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case dict():
            return {_SURROGATE.sub("\ufffd", key): _encodable(item) for key, item in value.items()}
        case list():
            return [_encodable(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value
