"""The published definitions of OCSF, as JSON Schema: what an event of a class has to be."""

from functools import cache
from typing import Any, Final

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
