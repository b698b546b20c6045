"""Durations such as `30s` and sizes such as `1MiB`, as people write them."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES: Final = {
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "KiB": 1 << 10,
    "MB": 1000**2,
    "MiB": 1 << 20,
    "GB": 1000**3,
    "GiB": 1 << 30,
}
_AMOUNT: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([A-Za-z]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Word:
    """What the reference calls a type that Python has no name for."""

    text: str


def parse_duration(value: object) -> float:
    """Return seconds; a bare number is refused, because nobody can tell its unit."""
    if isinstance(value, str) and (found := _AMOUNT.fullmatch(value)):
        amount, unit = found.groups()
        if unit in _SECONDS:
            return float(amount) * _SECONDS[unit]
    raise PydanticCustomError(
        "duration", "is not a duration; write it with a unit, such as `250ms`, `30s`, `5m` or `1h`"
    )


def parse_size(value: object) -> int:
    """Return bytes from a whole number or from a text such as `512KiB`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            return int(value)
        found = _AMOUNT.fullmatch(value)
        if found and found[2] in _BYTES:
            return int(float(found[1]) * _BYTES[found[2]])
    raise PydanticCustomError(
        "size", "is not a size; write a number of bytes, or a unit, such as `512KiB` or `1MiB`"
    )


def format_duration(seconds: float) -> str:
    """Return the shortest form that `parse_duration` reads back as the same number."""
    for unit in ("d", "h", "m", "s"):
        if seconds and seconds % _SECONDS[unit] == 0:
            return f"{int(seconds / _SECONDS[unit])}{unit}"
    return f"{round(seconds * 1000)}ms" if seconds else "0s"


def format_size(size: int) -> str:
    """Return the shortest form that `parse_size` reads back as the same number."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % _BYTES[unit] == 0:
            return f"{size // _BYTES[unit]}{unit}"
    return str(size)


# As JSON Schemas have it, which know nothing of what is behind a validator.
_DurationText = Annotated[str, Field(pattern=r"^[0-9]{1,12}(\.[0-9]{1,6})? ?(ms|s|m|h|d)$")]
_SizeText = Annotated[
    str, Field(pattern=r"^([0-9]{1,19}|[0-9]{1,12}(\.[0-9]{1,6})? ?(B|kB|KB|KiB|MB|MiB|GB|GiB))$")
]

Duration = Annotated[
    float,
    BeforeValidator(parse_duration, json_schema_input_type=_DurationText),
    Word("duration"),
]
Size = Annotated[
    int,
    BeforeValidator(parse_size, json_schema_input_type=int | _SizeText),
    Word("size"),
]
