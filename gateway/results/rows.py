"""Which rows and documents of a result may leave: one by one, and none that nobody could judge."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from gateway import jsontext
from gateway.results import documents, evidence
from gateway.results.evidence import Reference
from gateway.results.named import Named, after
from gateway.types.decisions import NO_ROWS, RowCount, RowFilter
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import DocumentPaths


class _Gone:
    """Stands for what does not leave."""


_GONE: Final = _Gone()
_View: TypeAlias = Callable[[JsonPointer, Json], Json]  # place and row → what a condition sees


class Sieve:
    """One result on its way through all filters of rows."""

    def __init__(self, filters: Iterable[RowFilter], paths: DocumentPaths | None = None) -> None:
        self.counted = NO_ROWS
        self.missing = False  # what a filter is about was not found
        self._paths = paths
        self._groups: dict[JsonPointer, list[RowFilter]] = {}
        for each in filters:
            self._groups.setdefault(each.path, []).append(each)

    def sift(self, value: Json) -> Json:
        """Return a value with only those rows and documents that every filter lets through."""
        for path, filters in self._groups.items():
            view, steps = self._rows_of(path)
            layer = _Layer(self, filters, view)
            sifted = layer.through(value, steps, "") if steps is not None else _GONE
            self.missing = self.missing or not layer.found
            value = None if isinstance(sifted, _Gone) else sifted
        return value

    def only(self, value: Json, schema: Json = None) -> Json:
        """Return a value with nothing but what is on the way to rows: others may be beside it.

        What stands there by a schema that people reviewed is no such thing.
        """
        ways = [steps for path in self._groups if (steps := self._rows_of(path)[1]) is not None]
        if schema is not None:
            return Named(schema).left(value, ways)
        left = _on_the_way(value, ways)
        return None if isinstance(left, _Gone) else left

    def _rows_of(self, path: JsonPointer) -> tuple[_View, tuple[str, ...] | None]:
        if path:
            return _as_it_is, jsontext.tokens(path)
        paths = self._paths
        if paths is None:
            return _as_it_is, None
        steps = jsontext.tokens(paths.path)
        # The list is what is sifted, where each of its items is a document.
        steps = steps[:-1] if steps[-1:] == ("*",) else steps
        return lambda place, each: as_row(evidence.reference(paths, place, each)), steps


def _on_the_way(value: Json, ways: Sequence[tuple[str, ...]]) -> Json | _Gone:
    if value is None or any(not steps for steps in ways):
        return value
    match value:
        case dict():
            members = {key: _on_the_way(each, after(ways, key)) for key, each in value.items()}
            return {
                key: each
                for key, each in members.items()
                if after(ways, key) and not isinstance(each, _Gone)
            }
        case list():
            items = [
                _on_the_way(each, after(ways, str(index)))
                for index, each in enumerate(value)
                if after(ways, str(index))
            ]
            return [each for each in items if not isinstance(each, _Gone)]
        case _:
            return _GONE


class _Layer:
    """The filters of one path."""

    def __init__(self, sieve: Sieve, filters: Sequence[RowFilter], view: _View) -> None:
        self.found = False
        self._sieve = sieve
        self._filters = filters
        self._view = view

    def through(self, value: Json, steps: tuple[str, ...], place: JsonPointer) -> Json | _Gone:
        if not steps:
            return self._rows(value, place)
        step, deeper = steps[0], steps[1:]
        if step == "*" and value in ([], {}):
            self.found = True  # a list without rows
        match value:
            case dict():
                members = {
                    key: self.through(each, deeper, f"{place}/{jsontext.escape(key)}")
                    if step in ("*", key)
                    else each
                    for key, each in value.items()
                }
                return {key: each for key, each in members.items() if not isinstance(each, _Gone)}
            case list():
                items = [
                    self.through(each, deeper, f"{place}/{index}")
                    if step in ("*", str(index))
                    else each
                    for index, each in enumerate(value)
                ]
                return [each for each in items if not isinstance(each, _Gone)]
            case _:
                return value

    def _rows(self, value: Json, place: JsonPointer) -> Json | _Gone:
        """Judge the rows of a list; anything else but nothing is one row itself."""
        self.found = True
        match value:
            case None:
                return None
            case list():
                return [
                    each
                    for index, each in enumerate(value)
                    if self._stays(f"{place}/{index}", each)
                ]
            case _:
                return value if self._stays(place, value) else _GONE

    def _stays(self, place: JsonPointer, row: Json) -> bool:
        verdict = judged(self._filters, self._view(place, row))
        self._sieve.counted = self._sieve.counted.plus(verdict)
        return bool(verdict.kept)


def judged(filters: Iterable[RowFilter], row: Json) -> RowCount:
    """Count one row: kept when every filter holds, removed also when one can't be evaluated."""
    for each in filters:
        holds = each.holds(row)
        if holds is not True:
            return RowCount(removed=1, failed=int(holds is None))
    return RowCount(kept=1)


def contents(
    result: JsonObject, published: JsonObject, filters: Sequence[RowFilter]
) -> tuple[JsonObject, RowCount]:
    """Return the result of `resources/read` with only those documents that filters let through."""
    entries, counted = result.get("contents"), NO_ROWS
    kept: list[Json] = []
    for entry in entries if isinstance(entries, list) else ():
        named = documents.found({"contents": [entry]}, published)
        reference = Reference(
            source=named[0].uri if named else "", version=named[0].version if named else ""
        )
        verdict = judged(filters, as_row(reference))
        counted = counted.plus(verdict)
        if verdict.kept:
            kept.append(entry)
    return ({**result, "contents": kept} if counted.removed else result), counted


def as_row(reference: Reference) -> JsonObject:
    """Return a reference as a condition sees it."""
    return {
        "source": reference.source,
        "version": reference.version,
        "chunk": reference.chunk,
    }


def _as_it_is(place: JsonPointer, row: Json) -> Json:
    del place
    return row
