"""Sealed copies of arguments: what of them is in events, and what each of them is bound to.

An event holds the digest of what is kept beside it. So the log says forever what was sealed, and
goes on saying it when the copy is gone: nothing of the tree depends on it.
"""

import hashlib
from dataclasses import replace
from typing import Final

from gateway import jsontext
from gateway.events.forms import COUNT, TEXT, about, an_object
from gateway.types.audit import SealedCopy
from gateway.types.events import Event
from gateway.types.json import Json, JsonObject

_FORMAT: Final = "weighbridge/v1/sealed"

SCHEMA: Final[JsonObject] = about(
    an_object(
        {
            "key": about(TEXT, "id of the data key"),
            "digest": about(TEXT, "over the sealed copy"),
            "bytes": about(COUNT, "of the arguments"),
            "failed": about(TEXT, "why there is none"),
        },
        frozenset({"key", "digest", "bytes", "failed"}),
    ),
    "the arguments as they were, encrypted, beside the log; it can be shredded",
)


def place(tenant: str, call: str, event: str) -> bytes:
    """Return what a copy is bound to: in any other place it does not open."""
    return jsontext.dump([_FORMAT, "copy", tenant, call, event])


def key_place(tenant: str, run: str, call: str, key: str) -> bytes:
    """Return what a data key is bound to; of a run, `call` is empty."""
    return jsontext.dump([_FORMAT, "key", tenant, run, call, key])


def digest(content: str) -> str:
    """Return what an event says of a copy."""
    return "sha256:" + hashlib.sha256(content.encode()).hexdigest()


def with_copy(event: Event, copy: SealedCopy, size: int) -> Event:
    """Return an event that has a copy of so many bytes beside it."""
    said: JsonObject = {"key": copy.key, "digest": digest(copy.content), "bytes": size}
    return replace(event, body={**event.body, "sealed": said}, sealed=copy)


def without_copy(event: Event, reason: str) -> Event:
    """Return an event that says why there is none though there should be."""
    return replace(event, body={**event.body, "sealed": {"failed": reason}})


def told(body: Json) -> tuple[str, str]:
    """Return the id of the data key and the digest that the body of an event tells, or nothing."""
    said = body.get("sealed") if isinstance(body, dict) else None
    if not isinstance(said, dict):
        return "", ""
    key, found = said.get("key"), said.get("digest")
    return (key, found) if isinstance(key, str) and isinstance(found, str) else ("", "")
