"""Values as YAML that people go on editing: maps in lines, lists of plain values in one."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from gateway.types.json import Json
from gateway.yamltext.scalars import resolve

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./~$-][A-Za-z0-9_./@+=~$-]*", re.ASCII)


def block(value: Mapping[str, Json], indent: int = 0) -> str:
    """Return a map in lines, which our strict loader reads back as the same value."""
    return "".join(f"{' ' * indent}{line}\n" for line in _lines(value))


def _lines(value: Mapping[str, Json]) -> Iterator[str]:
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield f"{scalar(key)}:"
            yield from (f"  {line}" for line in _lines(item))
        else:
            yield f"{scalar(key)}: {flow(item)}"


def flow(value: Json) -> str:
    """Return a value in one line."""
    match value:
        case dict():
            inside = ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items())
            return f"{{{inside}}}"
        case list():
            return f"[{', '.join(map(flow, value))}]"
        case str():
            return scalar(value)
        case _:
            return json.dumps(value)


def scalar(text: str) -> str:
    """Return a text as YAML: as it is where every reader takes it for that text, else quoted."""
    if _PLAIN.fullmatch(text) and not text.startswith("-") and not _reads_otherwise(text):
        return text
    # A text of JSON is one of YAML; what nobody sees is escaped, and in pairs only in JSON.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in quoted)


def _reads_otherwise(text: str) -> bool:
    try:
        is_other = resolve(text) != text
    except ValueError:
        return True
    return is_other or text.lower() in {"yes", "no", "on", "off", "y", "n"}
