"""One sentence about a call: the contract's words, with values of the call in them.

A value is put in so that it can't pass for words of the contract: what is more than a number or a
plain name stands in quotes, which nothing inside can end, and long values are cut.
"""

import re
from typing import Final

from gateway import jsontext
from gateway.approvals.masking import is_masked
from gateway.jsontext.references import Reference, parse
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Effect

_BARE: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._@:+/#-]{0,62}[A-Za-z0-9])?")
_LONGEST: Final = 160  # characters of a value
_MOST_NAMES: Final = 6
_CLOSING: Final = str.maketrans({"“": "'", "”": "'"})


def filled(template: str, arguments: JsonObject, masked: frozenset[JsonPointer]) -> str:
    """Return a template with the values that its references name; raises BadReference."""
    return "".join(
        part if isinstance(part, str) else _value(part, arguments, masked)
        for part in parse(template)
    )


def plain(tool: str, effect: Effect, arguments: JsonObject) -> str:
    """Return the gateway's own words about a call whose contract has none."""
    names = list(arguments)
    if not names:
        return f"Call {tool} ({effect}) without arguments"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"Call {tool} ({effect}) with {', '.join(map(_text, names[:_MOST_NAMES]))}{more}"


def _value(reference: Reference, arguments: JsonObject, masked: frozenset[JsonPointer]) -> str:
    pointer = "".join(f"/{jsontext.escape(str(step))}" for step in reference.steps)
    if is_masked(pointer, masked):
        return "(hidden)"
    try:
        value = jsontext.get(arguments, pointer)
    except KeyError:
        return "(none)"
    return _text(value) if isinstance(value, str) else _json(value)


def _text(value: str) -> str:
    return value if _BARE.fullmatch(value) else _quoted(value)


def _json(value: Json) -> str:
    written = jsontext.dump(value).decode()
    return _quoted(written) if isinstance(value, dict | list) else written[:_LONGEST]


def _quoted(text: str) -> str:
    cut = text[:_LONGEST].translate(_CLOSING)
    return f"“{cut}…”" if len(text) > _LONGEST else f"“{cut}”"
