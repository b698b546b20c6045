"""What pydantic finds, in words for people: what the value has to be, and nothing of our types."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic_core import ErrorDetails

from gateway.types.json import Json
from gateway.yamltext.document import Path

# Faults of type, by what is asked for; several alternatives are told as one.
_ASKED: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "path_type": "a path",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number that is finite",
    "bool_type": "`true` or `false`",
    "bool_parsing": "`true` or `false`",
    "tuple_type": "a list, such as `[a, b]`",
    "list_type": "a list, such as `[a, b]`",
    "frozen_set_type": "a list, such as `[a, b]`",
    "dict_type": "a map of keys",
    "model_type": "a map of keys",
}
_TIME: Final = "has to be a time with its offset, such as `2026-11-30T09:00:00Z`"
_LONGEST_WORD: Final = 40  # longer inputs are no misspelt words
_DURATION: Final = re.compile(r"[0-9.]+ ?(ms|s|m|h|d)")
_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One fault: where in the file, and what the value there has to be; its kind is pydantic's."""

    path: Path
    kind: str
    message: str
    missing: str = ""  # the key, where one is missing
    expected: tuple[str, ...] = ()  # words, where one of several is asked for
    entered: str = ""  # the word that stands there instead


def found(details: Iterable[ErrorDetails], value: Json) -> Iterator[Found]:
    """Yield what is worth telling, each place once; `value` is that of the file."""
    all_ = [(path_in(value, each["loc"]), each) for each in details if not _is_echo(each)]
    paths = [path for path, _ in all_]
    told: set[Path] = set()
    for path, each in all_:
        if each["type"] not in _ASKED:
            yield _one(path, each, _at(value, path))
        elif path not in told and not any(_is_below(other, path) for other in paths):
            told.add(path)
            asked = [
                _ASKED[one["type"]] for at, one in all_ if at == path and one["type"] in _ASKED
            ]
            message = f"has to be {_or(list(dict.fromkeys(asked)))}"
            yield Found(path=path, kind=each["type"], message=message)


def path_in(value: Json, location: tuple[int | str, ...]) -> Path:
    """Keep the part of a location that is in the file; pydantic adds names of its own to it."""
    path: list[str | int] = []
    for step in location:
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                continue
        path.append(step)
    return tuple(path)


def _is_echo(details: ErrorDetails) -> bool:
    """Whether a list counts as too short because items of it are wrong, which is told anyway."""
    entered: object = details["input"]
    if details["type"] != "too_short" or not isinstance(entered, list | tuple | dict):
        return False
    size = len(cast("Sequence[object]", entered))
    return size >= int(details.get("ctx", {}).get("min_length", 0))


def _is_below(path: Path, other: Path) -> bool:
    return len(path) > len(other) and path[: len(other)] == other


def _one(path: Path, details: ErrorDetails, written: Json) -> Found:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "missing":
        return Found(path=path, kind=kind, message="", missing=str(details["loc"][-1]))
    words = _words(context)
    entered: object = details["input"]
    is_word = isinstance(entered, str) and len(entered) <= _LONGEST_WORD
    return Found(
        path=path,
        kind=kind,
        message=_said(kind, details["msg"], context, words, written),
        expected=words,
        entered=str(entered) if words and is_word else "",
    )


def _words(context: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words of which one is expected, as they stand in a file."""
    expected = str(context.get("expected", "")).replace(" or ", ", ").replace("'", "")
    return tuple("true" if each == "True" else each for each in expected.split(", ") if each)


def _said(
    kind: str, message: str, context: Mapping[str, Any], words: Sequence[str], written: Json
) -> str:
    if words:
        return f"should be {_or([f'`{each}`' for each in words])}"
    match kind:
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            return f"has to be {_bound(kind, context, written)}"
        case "string_too_short":
            return "is empty; write something, or leave the key out"
        case "string_too_long":
            return f"is longer than {context['max_length']} characters; shorten it"
        case "too_short":
            return "is empty; write at least one, or leave the key out"
        case "too_long":
            return f"has more than {context['max_length']}; leave some out"
        case "string_pattern_mismatch":
            return f"has to match `{context['pattern']}`"
        case _ if kind.startswith(("datetime", "timezone", "date_")):
            return _TIME
        case _:
            text = message.removeprefix("Value error, ").removeprefix("Input ")
            return text[:1].lower() + text[1:]


def _bound(kind: str, context: Mapping[str, Any], written: Json) -> str:
    words = {
        "greater_than": ("gt", "more than"),
        "greater_than_equal": ("ge", "at least"),
        "less_than": ("lt", "less than"),
        "less_than_equal": ("le", "at most"),
    }
    key, said = words[kind]
    return f"{said} `{_amount(context[key], written)}`"


def _amount(bound: float, written: Json) -> str:
    """Write a bound in the form that the value has: a time is told as a time."""
    if isinstance(written, str) and _DURATION.fullmatch(written):
        for size, unit in _UNITS:
            if bound >= size and bound % size == 0:
                return f"{bound / size:g}{unit}"
        return f"{bound * 1000:g}ms" if bound else "0s"
    return f"{bound:g}" if abs(bound) < 100_000 else str(int(bound))


def _at(value: Json, path: Path) -> Json:
    for step in path:
        match value, step:
            case dict(), str():
                value = value[step]
            case list(), int():
                value = value[step]
            case _:
                return None
    return value


def _or(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
