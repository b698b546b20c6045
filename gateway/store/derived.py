"""What the columns of an event have to be, told from its bytes: queries go by nothing else."""

from datetime import datetime
from typing import Final

from gateway import jsontext
from gateway.errors import JsonError
from gateway.store.engine import Row
from gateway.store.times import microseconds
from gateway.types.json import Json, JsonObject

_LONGEST: Final = 256  # characters; what is longer, or no text of every engine, is cut
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
    get, body, actor = event.get, _object(event.get("body")), _object(event.get("actor"))
    values: dict[str, Json] = {
        "id": get("id", ""),
        "kind": get("kind", ""),
        "stage": get("stage", ""),
        "tenant": get("tenant", ""),
        "run_id": get("run", ""),
        "call_id": get("call", ""),
        "trace_id": get("trace_id", ""),
        "tool": body.get("tool", ""),
        "decision": body.get("decision", ""),
        "rule": body.get("rule", ""),
        "status": body.get("status", ""),
        "actor_user": actor.get("user", ""),
    }
    told = {name: _text(value)[:_LONGEST] for name, value in values.items()}
    at = _at(get("ts"))
    if row.says({**told, "at": at}):  # as a rule: a look at each would take most of the time
        return []
    found = [name for name, value in told.items() if not same(row.text(name), value)]
    return found if row.integer("at") == at else [*found, "at"]


def same(kept: str, told: str) -> bool:
    """Whether a column has what the event tells, as far as columns hold it."""
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
