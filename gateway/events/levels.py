"""What an event keeps of arguments by the level of its call: their values, or only their shape.

Names stay, and so does what the redactor put in place of values; where more values would have to be
named than a replay can look into, the whole counts as one.
"""

from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.events import concealed, markers
from gateway.events.forms import about, one_of
from gateway.events.redact import Redacted
from gateway.types.audit import Level
from gateway.types.guarantees import WrittenObject
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Sensitivity
from gateway.types.values import replaced

KIND: Final = "level"
"""Of a marker: the value was left out since its call is kept at the level `metadata`."""
_MOST: Final = 64
SCHEMA: Final = about(
    one_of(Level),
    "how much events of this call keep of arguments and results, where not `request`; at "
    "`metadata` there is `{$redacted: level, type, len}` in place of each value",
)
_MOST_HIDDEN: Final = 256  # values: each of them is looked for in each text
_OF_SERVERS: Final = ("$result", "$old")  # references to what a server said
_EVERYTHING: Final = {"": Sensitivity.SECRET}


def kept(arguments: Redacted, level: Level) -> Redacted:
    """Return redacted arguments as events of a level have them."""
    if level is not Level.METADATA:
        return arguments
    erased: list[JsonPointer] = []
    value = _bare(arguments.value, "", erased)
    places = erased if len(erased) <= _MOST else [""]
    return replaced(arguments, value=value, erased=(*arguments.erased, *places))


def hidden(
    arguments: JsonObject, known: concealed.Concealed, level: Level
) -> concealed.Concealed | None:
    """Return what must not turn up elsewhere in events of a call: at `metadata`, any argument.

    None where they are too many to look for each: then no text and no value may be kept that could
    have one.
    """
    if level is not Level.METADATA:
        return known
    if _count(arguments, _MOST_HIDDEN) == 0:
        return None
    return {**concealed.values(arguments, _EVERYTHING), **known}


def _count(value: Json, room: int) -> int:
    """Return how much room is left by the values inside of a value; 0 is none."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        room = _count(each, room) if isinstance(each, dict | list) else room - 1
        if room <= 0:
            return 0
    return room


def without_results(body: JsonObject, named: WrittenObject | None) -> JsonObject:
    """Return the body of a side effect that says how many fields changed, and not to what.

    `named` is how its contract names the object: an id that a server gave is left out.
    """
    listed, left = body.get("changes"), body.get("changes_left_off")
    count = len(listed) if isinstance(listed, list) else 0
    count += left if isinstance(left, int) else 0
    bare: JsonObject = {**body, "changes": []}
    if named is not None and any(each in named.id for each in _OF_SERVERS):
        bare["object"] = {"type": named.type, "id": ""}
    return {**bare, "changes_left_off": count} if count else bare


def _bare(value: Json, pointer: JsonPointer, erased: list[JsonPointer]) -> Json:
    """Return the shape of a value, and note the places whose values are gone."""
    if markers.is_marker(value):
        return value
    match value:
        case dict() if value:
            return {
                key: _bare(member, f"{pointer}/{jsontext.escape(key)}", erased)
                for key, member in value.items()
            }
        case list() if value:
            return [_bare(item, f"{pointer}/{at}", erased) for at, item in enumerate(value)]
        case dict() | list():
            return value
        case _:
            erased.append(pointer)
            return _marker(value)


def _marker(value: str | float | Decimal | None) -> JsonObject:
    told: JsonObject = {markers.KEY: KIND, "type": _type(value)}
    return {**told, "len": len(value)} if isinstance(value, str) else told


def _type(value: str | float | Decimal | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case _:
            return "number"
