"""The data that a result of a tool carries, whichever of its two forms it has."""

from gateway.errors import JsonError
from gateway.jsontext.results import parse_result
from gateway.types.json import Json, JsonObject


def of_result(result: JsonObject) -> Json:
    """Return the data of an answer: structured, or the JSON of a lone text block, else None."""
    structured = result.get("structuredContent")
    if structured is not None:
        return structured
    match result.get("content"):
        case [{"type": "text", "text": str() as text}]:
            try:
                return parse_result(text.encode("utf-8", "surrogatepass"))
            except JsonError:
                return None
        case _:
            return None
