"""The published definitions of OCSF, as JSON Schema: what an event of a class has to be."""

from functools import cache
from typing import Any, Final

import jsonschema_rs
import ocsf_json_schema

VERSION: Final = "1.8.0"


@cache
def _published() -> Any:
    package: Any = ocsf_json_schema  # which ships no types
    return package.OcsfJsonSchemaEmbedded(package.get_ocsf_schema(VERSION))


@cache
def schema(class_uid: int, profiles: tuple[str, ...]) -> dict[str, Any]:
    """Return what OCSF publishes of a class, with some profiles, in one document."""
    published = _published()
    name: str = published.lookup_class_name_from_uid(class_uid)
    found: dict[str, Any] = published.get_class_schema(name, [*profiles])
    return found


@cache
def _validator(class_uid: int, profiles: tuple[str, ...]) -> Any:
    return jsonschema_rs.validator_for(schema(class_uid, profiles))


def check(event: dict[str, Any]) -> None:
    """Fail for an event that is not what OCSF publishes of its class, with its profiles."""
    profiles = tuple(event["metadata"].get("profiles", ()))
    _validator(event["class_uid"], profiles).validate(event)
