"""Rows and documents of a result, judged one by one."""

from collections.abc import Callable

import pytest

from gateway.results.rows import Sieve, contents
from gateway.types.decisions import RowCount, RowFilter
from gateway.types.json import Json, JsonObject
from gateway.types.tools import DocumentPaths


def ours(row: Json) -> bool | None:
    """Hold for rows of acme; a row that says nothing can't be judged."""
    if not isinstance(row, dict) or "tenant" not in row:
        return None
    return row["tenant"] == "acme"


def a_filter(path: str, holds: Callable[[Json], bool | None] = ours) -> RowFilter:
    return RowFilter(path=path, where="w", rule="r", holds=holds)


def row(number: int, tenant: str | None = "acme") -> JsonObject:
    return {"id": number} if tenant is None else {"id": number, "tenant": tenant}


def test_only_rows_that_hold_are_left_and_each_is_counted() -> None:
    sieve = Sieve([a_filter("/rows")])
    value: Json = {"rows": [row(1), row(2, "globex"), row(3, None), row(4)], "next": "x"}
    assert sieve.sift(value) == {"rows": [row(1), row(4)], "next": "x"}
    assert sieve.counted == RowCount(kept=2, removed=2, failed=1)
    assert not sieve.missing


PLACES: list[tuple[str, Json, Json]] = [
    (
        "/groups/*/rows",
        {"groups": [{"rows": [row(1)]}, {"rows": [row(2, "x")]}]},
        {"groups": [{"rows": [row(1)]}, {"rows": []}]},
    ),
    ("/by/*", {"by": {"a": row(1), "b": row(2, "x")}}, {"by": {"a": row(1)}}),
    ("/one", {"one": row(1, "x"), "n": 1}, {"n": 1}),
    ("/one", {"one": row(1)}, {"one": row(1)}),
    ("/one", {"one": "text"}, {}),
    ("/rows/1", {"rows": [row(1, "x"), row(2, "x")]}, {"rows": [row(1, "x")]}),
    ("/rows", {"rows": None}, {"rows": None}),
    ("/groups/*/rows", {"groups": []}, {"groups": []}),
]


@pytest.mark.parametrize(("path", "value", "left"), PLACES)
def test_rows_are_found_where_a_path_leads(path: str, value: Json, left: Json) -> None:
    sieve = Sieve([a_filter(path)])
    assert sieve.sift(value) == left
    assert not sieve.missing


ELSEWHERE: list[Json] = [{}, {"items": [row(1, "x")]}, [row(1, "x")], None, "x"]


@pytest.mark.parametrize("value", ELSEWHERE)
def test_rows_that_are_nowhere_are_missing(value: Json) -> None:
    sieve = Sieve([a_filter("/rows")])
    sieve.sift(value)
    assert sieve.missing


def test_a_row_has_to_satisfy_every_filter_and_counts_once() -> None:
    odd = a_filter("/rows", lambda each: isinstance(each, dict) and each["id"] in (1, 3))
    sieve = Sieve([a_filter("/rows"), odd])
    assert sieve.sift({"rows": [row(1), row(2), row(3, "x")]}) == {"rows": [row(1)]}
    assert sieve.counted == RowCount(kept=1, removed=2)


HITS: Json = {"hits": [{"doc": "a", "v": "1", "t": "x"}, {"doc": "b", "v": "2", "t": "y"}]}


def second(document: Json) -> bool:
    return isinstance(document, dict) and document["version"] == "2"


@pytest.mark.parametrize("path", ["/hits/*", "/hits"])
def test_documents_are_judged_by_their_references(path: str) -> None:
    sieve = Sieve([a_filter("", second)], DocumentPaths(path=path, source="/doc", version="/v"))
    assert sieve.sift(HITS) == {"hits": [{"doc": "b", "v": "2", "t": "y"}]}
    assert sieve.counted == RowCount(kept=1, removed=1)


def test_a_result_that_is_one_document_leaves_whole_or_not_at_all() -> None:
    whole = DocumentPaths(path="", source="/doc", version="/v")
    cases: list[tuple[str, Json]] = [("2", {"doc": "b", "v": "2"}), ("1", None)]
    for version, left in cases:
        sieve = Sieve([a_filter("", second)], whole)
        assert sieve.sift({"doc": "b", "v": version}) == left
        assert not sieve.missing
        assert sieve.only(left) == left


def test_where_nobody_says_where_documents_are_they_are_missing() -> None:
    sieve = Sieve([a_filter("", second)])
    sieve.sift(HITS)
    assert sieve.missing


def test_documents_of_a_resource_are_judged_by_what_their_server_says() -> None:
    entries: list[Json] = [
        {"uri": "n://1", "text": "a", "_meta": {"version": "2"}},
        {"uri": "n://2", "text": "b"},
        "nothing",
    ]
    published: JsonObject = {"_meta": {"version": "1"}}
    left, counted = contents({"contents": entries}, published, [a_filter("", second)])
    assert left["contents"] == entries[:1]
    assert counted == RowCount(kept=1, removed=2)
    same: JsonObject = {"contents": entries[:1]}
    assert contents(same, published, [a_filter("", second)])[0] is same


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        (["/orders"], {"orders": [{"id": 1}]}),
        (["/pages/*/rows"], {"pages": [{"rows": [2]}, {}]}),
        (["/orders", "/pages/0/rows"], {"orders": [{"id": 1}], "pages": [{"rows": [2]}]}),
        (["/none/*"], {"none": None}),
        (["/total/*"], {}),
    ],
)
def test_what_is_beside_the_way_to_rows_is_left_out_where_nobody_knows_what_it_is(
    paths: list[str], left: Json
) -> None:
    value: Json = {
        "orders": [{"id": 1}],
        "related": [{"id": 3}],
        "pages": [{"rows": [2], "more": [4]}, {"more": [5]}],
        "none": None,
        "total": 6,
    }
    filters = [RowFilter(path=path, where="w", rule="r", holds=lambda row: True) for path in paths]
    assert Sieve(filters).only(value) == left
