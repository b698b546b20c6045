"""What the sections of a contract file are made of: pointers, times, names, words."""

import re
from typing import Annotated, Final, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from gateway.jsontext import tokens
from gateway.types.guarantees import OF_RUN
from gateway.types.json import Json, JsonObject

_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)", re.ASCII)
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))
_TOOL: Final = re.compile(r"[^.\s]+\.\S+")


class Section(BaseModel):
    """A map with known keys and exact types; any other key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def window_text(seconds: float) -> str:
    """Write a window as a file has it: a time, or `run`."""
    return "run" if seconds == OF_RUN else duration_text(seconds)


def duration_text(seconds: float) -> str:
    """Write a time as a file has it, in the largest unit that keeps it whole."""
    for size, unit in _SIZES:
        if seconds and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{round(seconds * 1000)}ms" if seconds < 1_000_000 else f"{seconds:.3f}s"


def said(**members: Json) -> JsonObject:
    """Return the members of a section that say something: what is empty or false is left out."""
    return {key: value for key, value in members.items() if value not in (None, "", [], {}, False)}


def as_json(args: dict[str, JsonValue]) -> JsonObject:
    """Return what a model read; the file's loader lets nothing in that isn't JSON of ours."""
    return cast("JsonObject", args)  # the same values under another name


def _spot(value: str) -> str:
    try:
        tokens(value)
    except ValueError as error:
        raise PydanticCustomError("pointer", "{why}", {"why": f"value {error}"}) from None
    return value


def _pattern(value: str) -> str:
    if not _spot(value):
        raise PydanticCustomError("pointer", "has to name a field, such as `/customer_id`")
    return value


def _one_field(value: str) -> str:
    if "*" in tokens(value):
        raise PydanticCustomError("pointer", "has to name one field, so without `*`")
    return value


def _duration(value: object) -> object:
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise PydanticCustomError("duration", "should be a time with its unit, such as `30s`")
    if found[2] == "ms":
        return float(found[1]) / 1000  # exact where a thousandth as a factor isn't
    return float(found[1]) * _SECONDS[found[2]]


def _window(value: object) -> object:
    return OF_RUN if value == "run" else _duration(value)


def _tool(value: str) -> str:
    if not _TOOL.fullmatch(value):
        raise PydanticCustomError("tool", "should name a tool as `server.name`")
    return value


# A pointer begins so; what else it may hold takes more than a pattern.
_Begins: Final = WithJsonSchema({"type": "string", "pattern": "^/"})
Spot = Annotated[str, AfterValidator(_spot)]  # the same, or empty for all of it
Pointer = Annotated[str, AfterValidator(_pattern), _Begins]  # with `*` for any key or index
OneField = Annotated[Pointer, AfterValidator(_one_field)]
_TIME: Final = r"[0-9]{1,9}(\.[0-9]{1,3})?(ms|s|m|h|d)"
_DurationText = Annotated[str, Field(pattern=f"^{_TIME}$")]
_WindowText = Annotated[str, Field(pattern=f"^({_TIME}|run)$")]
Duration = Annotated[float, BeforeValidator(_duration, json_schema_input_type=_DurationText)]
Window = Annotated[float, BeforeValidator(_window, json_schema_input_type=_WindowText)]
ToolName = Annotated[
    str, AfterValidator(_tool), WithJsonSchema({"type": "string", "pattern": r"^[^.\s]+\.\S+$"})
]
Words = Annotated[str, Field(min_length=1, max_length=2000)]
