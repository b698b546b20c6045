"""The report of a replay as JSON, from which the same report is made again.

It goes from one process to another. Both may be of different versions, as where a gateway was
upgraded under its feet: what the reading one does not know is a ValueError, never half a report.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from gateway import jsontext
from gateway.errors import JsonError
from gateway.replay.report import Report
from gateway.types.json import Json


def written(report: Report) -> bytes:
    """Return a report as JSON."""
    return jsontext.dump(_json(report))


def read(data: bytes) -> Report:
    """Return the report that was written; raises ValueError for anything else."""
    try:
        found = _made(Report, jsontext.parse_result(data))
    except (JsonError, TypeError, ValueError) as error:
        raise ValueError("no report of this version") from error
    assert isinstance(found, Report)  # noqa: S101 - as was asked for
    return found


def _json(value: Any) -> Json:
    match value:
        case Enum():
            return _json(value.value)
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(name): _json(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of any values
        case tuple() | list():
            return [_json(each) for each in value]  # pyright: ignore[reportUnknownVariableType] - of any values
        case frozenset():
            return [_json(each) for each in sorted(value)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of texts
        case _:
            return {each.name: _json(getattr(value, each.name)) for each in fields(value)}


def _made(kind: Any, told: Json) -> Any:
    """Return a value of a type, as annotations of fields name it; raises TypeError, ValueError."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if told is None and type(None) in arguments:
            return None
        (inner,) = (each for each in arguments if each is not type(None))
        return _made(inner, told)
    if isinstance(told, list) and origin is tuple:
        kinds = [arguments[0]] * len(told) if arguments[-1] is ... else [*arguments]
        return tuple(_made(of, each) for of, each in zip(kinds, told, strict=True))
    if isinstance(told, list) and origin is frozenset:
        return frozenset(_made(arguments[0], each) for each in told)
    if isinstance(told, dict) and origin is Mapping:
        return {name: _made(arguments[1], each) for name, each in told.items()}
    if isinstance(told, dict) and is_dataclass(kind):
        hints = get_type_hints(kind)
        if told.keys() != {each.name for each in fields(kind)}:
            raise ValueError(f"other fields than those of {kind}")
        return kind(**{name: _made(hints[name], each) for name, each in told.items()})  # pyright: ignore[reportCallIssue, reportUnknownVariableType] - a class, not a value
    return _plain(kind, told)


def _plain(kind: Any, told: Json) -> Any:
    if isinstance(told, str) and kind is datetime:
        return datetime.fromisoformat(told)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(told)
    if kind is float and isinstance(told, int | float | Decimal) and not isinstance(told, bool):
        return float(told)
    if kind in (str, int, bool) and type(told) is kind:
        return told
    raise TypeError(f"no {kind}")
