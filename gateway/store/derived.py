"""What the columns of an event have to be, told from its bytes: queries go by nothing else."""

from datetime import datetime
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.store.engine import Row
from gateway.store.times import microseconds
from gateway.types.json import Json, JsonObject

_LONGEST: Final = 256  # characters; what is longer, or no text of every engine, is cut
_ENVELOPE: Final = (
    *(("id", "id"), ("kind", "kind"), ("stage", "stage"), ("tenant", "tenant")),
    *(("run", "run_id"), ("call", "call_id"), ("trace_id", "trace_id")),
)
_BODY: Final = ("tool", "decision", "rule", "status")
_SIGNS: Final = {0: "?", 0xFFFD: "?"}  # what a column has in place of what it can't hold


def event_of(body: bytes) -> JsonObject | None:
    """Read the bytes of an event; None for anything but an object."""
    try:
        found = jsontext.parse_result(body)
    except JsonError:
        return None
    return found if isinstance(found, dict) else None


def differing(row: Row, event: JsonObject) -> list[str]:
    """Return which columns of a row say something else than the event."""
    found = [
        column for name, column in _ENVELOPE if not _same(row.text(column), _text(event.get(name)))
    ]
    body, actor = _object(event.get("body")), _object(event.get("actor"))
    found += [name for name in _BODY if not _same(row.text(name), _text(body.get(name)))]
    if not _same(row.text("actor_user"), _text(actor.get("user"))):
        found.append("actor_user")
    if row.integer("at") != _at(event.get("ts")):
        found.append("at")
    return found


def _same(kept: str, told: str) -> bool:
    if kept == told:
        return True
    return kept.translate(_SIGNS) == told[:_LONGEST].translate(_SIGNS)


def _at(value: Json) -> int | None:
    try:
        return microseconds(datetime.fromisoformat(_text(value)))
    except (ValueError, TypeError, OverflowError):
        return None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
