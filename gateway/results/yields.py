"""The identifiers that a result brings into play, each with the record that it stands in."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from gateway import jsontext
from gateway.jsontext import answers
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Yield

MOST: Final = 20_000  # of one result: more would be a way to fill the store


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One value of a declared type; `record` is empty where the whole result is the record."""

    declared: Yield
    value: Json
    record: str


def found(wanted: tuple[Yield, ...], data: Json) -> list[Found]:
    """Return the values at the declared paths of a result's data, 20,000 at most.

    A record is what the last `*` of a path stands for, with all that is inside of it. Of a key of
    an object only its number is told, since keys may be values as well.
    """
    values: list[Found] = []
    for declared in wanted:
        path = jsontext.tokens(declared.path)
        last = len(path) - 1 - path[::-1].index("*") if "*" in path else -1
        for record, value in _walk(data, path, last, ""):
            if len(values) == MOST:
                return values
            values.append(Found(declared=declared, value=value, record=record))
    return values


def _walk(value: Json, path: tuple[str, ...], last: int, record: str) -> Iterator[tuple[str, Json]]:
    if not path:
        if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool):
            yield record, value
        return
    token, deeper = path[0], path[1:]
    inside = f"{record}/{jsontext.escape(token)}" if last >= 0 else record
    match value:
        case dict() if token == "*":  # noqa: S105 - a wildcard
            for number, member in enumerate(value.values()):
                yield from _walk(member, deeper, last - 1, f"{record}/{number}")
        case list() if token == "*":  # noqa: S105 - a wildcard
            for number, member in enumerate(value):
                yield from _walk(member, deeper, last - 1, f"{record}/{number}")
        case dict() if token in value:
            yield from _walk(value[token], deeper, last - 1, inside)
        case list() if token.isascii() and token.isdigit() and int(token) < len(value):
            yield from _walk(value[int(token)], deeper, last - 1, inside)
        case _:
            return


def data_of(result: JsonObject, *, is_task: bool) -> Json:
    """Return the data of a result, or of the one inside of a finished task."""
    inner = result.get("result") if is_task else result
    return answers.of_result(inner) if isinstance(inner, dict) else None
