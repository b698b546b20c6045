"""What a retrieval brought into play, as its event tells it."""

from dataclasses import replace

from gateway.events.retrievals import Document, described
from gateway.types.decisions import NO_ROWS, Decision, OutputPolicy, RowCount, RowFilter
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract, Retrieval
from tests.helpers.cases import a_contract

ROWS = RowFilter(path="/hits", where="row.ok", rule="mine", holds=lambda _: True)
FILTERED = Decision(output=OutputPolicy(keep=("/hits/*/id",), rows=(ROWS,)))


def body(
    *documents: Document,
    sources: tuple[str, ...] = (),
    rows: RowCount = NO_ROWS,
    decision: Decision | None = None,
    contract: Contract | None = None,
    asked: Json = None,
) -> JsonObject:
    return described(
        documents,
        sources,
        rows,
        decision=decision or Decision(),
        contract=contract,
        asked=lambda: asked,
    )


def test_a_document_is_told_with_version_and_part_where_it_has_one() -> None:
    told = body(Document(id="a.md", version="2", chunk="c7"), Document(id="b.md"))
    assert told["documents"] == [
        {"id": "a.md", "version": "2", "digest": "", "chunk": "c7"},
        {"id": "b.md", "version": "", "digest": ""},
    ]
    assert told["count"] == 2


def test_a_source_is_told_once_and_never_too_many_are() -> None:
    assert body(sources=("a", "b", "a"))["sources"] == ["a", "b"]
    many = body(sources=tuple(map(str, range(500))))["sources"]
    assert isinstance(many, list)
    assert len(many) == 100
    assert "sources" not in body()


def test_why_rows_were_kept_back_is_told_with_how_many() -> None:
    told = body(rows=RowCount(kept=3, removed=2, failed=1), decision=FILTERED)
    assert told["filters"] == [{"rule": "mine", "path": "/hits", "where": "row.ok"}]
    assert told["rows"] == {"kept": 3, "removed": 2, "failed": 1}
    assert told["kept"] == ["/hits/*/id"]
    assert "filters" not in body()


def test_the_query_is_told_where_the_contract_names_it() -> None:
    contract = a_contract(retrieval=Retrieval(query="/q"))
    assert body(contract=contract, asked={"q": "refunds"})["query"] == "refunds"
    assert body(contract=contract, asked={"q": {"terms": [1]}})["query"] == '{"terms":[1]}'
    assert body(contract=contract, asked={})["query"] == ""
    long = body(contract=contract, asked={"q": "x" * 5_000})["query"]
    assert isinstance(long, str)
    assert len(long) == 1_000
    assert "query" not in body(contract=replace(contract, retrieval=None), asked={"q": "x"})
