"""The identifiers that a result brings into play."""

import pytest

from gateway.results.yields import MOST, data_of, found
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Yield

SEARCH: Json = {
    "total": 2,
    "customers": [
        {"id": "c-1", "address": {"zip": "10"}, "invoices": [{"id": "i-1"}, {"id": "i-2"}]},
        {"id": "c-2", "invoices": [{"id": "i-3"}]},
    ],
}


def at(*paths: str, data: Json = SEARCH) -> list[tuple[Json, str]]:
    wanted = tuple(Yield(type=path, path=path) for path in paths)
    return [(each.value, each.record) for each in found(wanted, data)]


def test_an_item_of_a_list_is_a_record_with_all_that_is_inside() -> None:
    assert at("/customers/*/id", "/customers/*/address/zip") == [
        ("c-1", "/customers/0"),
        ("c-2", "/customers/1"),
        ("10", "/customers/0"),
    ]


def test_an_item_inside_of_an_item_is_a_record_of_its_own() -> None:
    assert at("/customers/*/invoices/*/id") == [
        ("i-1", "/customers/0/invoices/0"),
        ("i-2", "/customers/0/invoices/1"),
        ("i-3", "/customers/1/invoices/0"),
    ]


def test_without_a_list_the_whole_result_is_the_record() -> None:
    assert at("/total", "/customers/1/id") == [(2, ""), ("c-2", "")]


def test_a_key_is_never_told() -> None:
    by_mail: Json = {"ann@example.com": {"id": 1}, "sam@example.com": {"id": 2}}
    assert at("/*/id", data=by_mail) == [(1, "/0"), (2, "/1")]


@pytest.mark.parametrize(
    "data", [None, "x", {}, {"customers": {}}, {"customers": [{"id": None}, {"id": True}, 1]}]
)
def test_what_is_not_there_or_no_scalar_brings_nothing(data: Json) -> None:
    assert at("/customers/*/id", data=data) == []


def test_there_are_never_too_many() -> None:
    assert len(at("/*", "/*", data=[*range(MOST)])) == MOST


def test_data_is_structured_or_the_json_of_a_lone_text() -> None:
    text: JsonObject = {"content": [{"type": "text", "text": '{"id": 1}'}]}
    assert data_of({"structuredContent": {"id": 2}, **text}, is_task=False) == {"id": 2}
    assert data_of(text, is_task=False) == {"id": 1}
    assert data_of({"status": "completed", "result": text}, is_task=True) == {"id": 1}
    assert data_of({"result": "x"}, is_task=True) is None
