"""Keys of calls of one principal in one conversation, unless told otherwise."""

from typing import Any

from gateway import jsontext
from gateway.operations.keys import (
    derive,
)
from gateway.types.guarantees import Idempotency
from gateway.types.json import JsonObject
from gateway.types.operations import IntentKey


def key(arguments: JsonObject, idempotency: Idempotency | None = None, **other: Any) -> IntentKey:
    """Return the key of a call with these arguments."""
    call: dict[str, Any] = {
        "tenant": "t1",
        "principal": ("issuer", "A"),
        "server": "desk",
        "tool": "desk.put_item",
        "caller_key": None,
        "transport_id": None,
        "digest": jsontext.digest,
        **other,
    }
    return derive(arguments=arguments, idempotency=idempotency or Idempotency(), **call)
