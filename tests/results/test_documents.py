"""Documents of a read resource."""

from gateway.results import documents
from gateway.types.json import JsonObject


def test_documents_are_named_with_uri_content_and_version() -> None:
    result: JsonObject = {
        "contents": [
            {"uri": "a:1", "text": "t", "_meta": {"version": "7"}},
            {"uri": "a:2", "blob": "QQ==", "annotations": {"lastModified": "2026-11-01"}},
            {"uri": "a:3", "text": "t"},
            "no document",
        ]
    }
    published: JsonObject = {"annotations": {"lastModified": "2026-10-01"}, "_meta": {"version": 3}}
    assert [
        (each.uri, each.content, each.version) for each in documents.found(result, published)
    ] == [
        ("a:1", "t", "7"),
        ("a:2", "QQ==", "2026-11-01"),
        ("a:3", "t", "2026-10-01"),
    ]


def test_a_result_of_another_form_has_none() -> None:
    assert documents.found({"content": []}, {}) == []
