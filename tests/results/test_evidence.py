"""The documents that a read brings."""

import pytest

from gateway.results.evidence import MOST, Reference, references
from gateway.types.json import Json
from gateway.types.tools import DocumentPaths

PATHS = DocumentPaths(path="/hits/*", source="/meta/doc", version="/v", chunk="/n")


def test_a_document_is_named_by_source_version_and_chunk() -> None:
    hits: Json = {"hits": [{"meta": {"doc": "a.md"}, "v": 2, "n": "c7", "text": "long text"}]}
    assert references(PATHS, hits) == [Reference(source="a.md", version="2", chunk="c7")]


def test_a_document_without_a_source_is_named_by_its_place() -> None:
    assert references(PATHS, {"hits": [{"v": None}, {"v": True}]}) == [
        Reference(source="/hits/0"),
        Reference(source="/hits/1"),
    ]


def test_one_document_is_named_once() -> None:
    hit: Json = {"meta": {"doc": "a.md"}}
    assert len(references(PATHS, {"hits": [hit, hit]})) == 1


@pytest.mark.parametrize("data", [None, {}, {"hits": "x"}, {"hits": []}])
def test_no_documents_are_no_references(data: Json) -> None:
    assert references(PATHS, data) == []


def test_there_are_never_too_many_nor_too_long() -> None:
    many: Json = {"hits": [{"n": number} for number in range(MOST + 5)]}
    assert len(references(PATHS, many)) == MOST
    (one,) = references(PATHS, {"hits": [{"n": "x" * 5_000}]})
    assert len(one.chunk) == 2_000


def test_a_result_can_be_one_document_itself() -> None:
    whole = DocumentPaths(path="", source="/id", version="/v")
    record: Json = {"id": "c-1", "v": 3, "name": "Mara"}
    assert references(whole, record) == [Reference(source="c-1", version="3")]
    empty: list[Json] = [None, {}, [], {"id": None}]
    for nothing in empty:
        assert references(whole, nothing) == []
