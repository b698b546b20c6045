"""Values on their way into OCSF."""

from typing import Any

import pytest

from gateway.events import ocsf_classes
from gateway.events.mapping import mapped
from gateway.events.ocsf_classes import API, COMMON, ENTITY, LOGIN


@pytest.mark.parametrize(
    ("ts", "expected"),
    [
        ("2026-11-30T09:00:00.123456Z", 1_796_029_200_123),
        ("1970-01-01T00:00:00+00:00", 0),
        ("soon", None),
        ("2026-11-30T09:00:00", None),  # of which zone
    ],
)
def test_a_time_is_in_whole_milliseconds(ts: str, expected: int | None) -> None:
    assert ocsf_classes.milliseconds(ts) == expected


def test_documents_and_objects_are_resources() -> None:
    documents: Any = [{"id": "d1", "version": "3", "digest": "x"}, {"id": ""}, "odd"]
    made, _ = mapped({"body": {"documents": documents}}, API.fields)
    assert made["resources"] == [{"uid": "d1", "type": "document", "version": "3"}]
    made, _ = mapped({"body": {"object": {"type": "refund", "id": ""}}}, API.fields)
    assert made["resources"] == [{"name": "refund", "type": "object"}]


@pytest.mark.parametrize(
    ("peer", "endpoint"), [("10.0.0.7", {"ip": "10.0.0.7"}), ("a socket", {"name": "a socket"})]
)
def test_an_address_is_told_as_one(peer: str, endpoint: dict[str, str]) -> None:
    assert mapped({"body": {"peer": peer}}, LOGIN.fields)[0]["src_endpoint"] == endpoint
    assert mapped({"body": {"peers": [peer, "b"]}}, LOGIN.fields)[0]["src_endpoint"] == endpoint


def test_a_count_is_no_detail() -> None:
    made, _ = mapped({"body": {"evidence": 3, "reason": "why"}}, (*COMMON, *ENTITY.fields))
    assert (made["status_detail"], made["comment"]) == ("why", "why")
    assert "comment" not in mapped({"body": {"evidence": 3}}, ENTITY.fields)[0]


@pytest.mark.parametrize("each", ocsf_classes.CLASSES, ids=lambda each: each.caption)
def test_a_class_belongs_to_its_category(each: ocsf_classes.Class) -> None:
    assert each.category in (3, 6)
    assert {field.to for field in each.fields}
