"""The digest that ties a contract to the definition that a person reviewed."""

from collections.abc import Mapping

from gateway import jsontext
from gateway.types.json import Json, JsonObject

# What a model or a host acts by; icons, `_meta` and the like may change freely.
PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


def pinned(definition: Mapping[str, Json]) -> JsonObject:
    """Return the part of a definition that the pin covers; null is the same as absent."""
    return {key: definition[key] for key in PINNED if definition.get(key) is not None}


def pin(definition: Mapping[str, Json]) -> str:
    """Return `sha256:` and 64 hex digits over the canonical form (RFC 8785) of the pinned part."""
    return jsontext.digest(pinned(definition))
