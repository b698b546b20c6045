"""The input schema as callers see it: without the argument that the gateway fills in itself."""

from gateway import jsontext
from gateway.types.guarantees import Injection, InjectPlace
from gateway.types.json import Json, JsonObject


def asked(schema: JsonObject, injection: Injection | None) -> JsonObject:
    """Return a schema that doesn't ask for the server's key; the same one if it doesn't anyway.

    Only what `properties` name is left out, level by level; whatever else a schema says of the
    place stays, and a key that a caller sends there is overwritten.
    """
    if injection is None or injection.place is not InjectPlace.ARGUMENT:
        return schema
    shown = _without(schema, jsontext.tokens(injection.name))
    return shown if isinstance(shown, dict) else schema


def _without(schema: Json, rest: tuple[str, ...]) -> Json:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or not rest:
        return schema
    token, deeper = rest[0], rest[1:]
    if deeper:
        if token not in properties:
            return schema
        changed = {**properties, token: _without(properties[token], deeper)}
        return {**schema, "properties": changed}
    shown: JsonObject = {
        **schema,
        "properties": {name: each for name, each in properties.items() if name != token},
    }
    required = schema.get("required")
    if isinstance(required, list):
        shown["required"] = [name for name in required if name != token]
    return shown
