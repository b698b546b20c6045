"""The data that a result of a tool carries, whichever of its two forms it has."""

import re

from gateway.errors import JsonError
from gateway.jsontext.results import parse_result
from gateway.types.json import Json, JsonObject

# What JSON begins with: of most texts in prose no reader has to say where they stop being JSON.
_FIRST = re.compile(r'[ \t\r\n]*+[{\["\-0-9tfn]')


def of_result(result: JsonObject) -> Json:
    """Return the data of an answer: structured, or the JSON of a lone text block, else None."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    match result.get("content"):
        case [{"type": "text", "text": str() as text}] if _FIRST.match(text):
            try:
                return parse_result(text.encode("utf-8", "surrogatepass"))
            except JsonError:
                return None
        case _:
            return None
