"""Which arguments have to come from somewhere."""

from datetime import date
from decimal import Decimal

import pytest

from gateway.runs import origins
from gateway.runs.origins import Asked
from gateway.types.json import Json, JsonObject
from gateway.types.runs import Collected, Trust
from gateway.types.tools import Day, OnFail, ProvenanceRule, Source, SourceKind

FROM_CRM = Source(kind=SourceKind.RESULTS, operands=("crm.id", "crm.old_id"))
TODAY = date(2026, 11, 30)


def a_rule(pointer: str, *sources: Source, same: str = "", max_of: bool = False) -> ProvenanceRule:
    return ProvenanceRule(
        pointer=pointer,
        sources=sources or (FROM_CRM,),
        on_fail=OnFail.DENY,
        same_record_as=same,
        max_of=max_of,
    )


def collected(source: str) -> dict[str, Collected]:
    return {"id": Collected(value="c-1", trust=Trust.MODEL, source=source, at=0)}


def test_only_what_results_could_account_for_is_asked() -> None:
    actor = Source(kind=SourceKind.ACTOR, operands=("user",))
    rules = (a_rule("/id"), a_rule("/user", actor), a_rule("/gone"))
    found = origins.asked(rules, {"id": "c-1", "user": "sam"}, {})
    assert found == {"/id": Asked(value="c-1", types=frozenset({"crm.id", "crm.old_id"}))}


def test_of_several_values_each_is_asked() -> None:
    found = origins.asked([a_rule("/lines/*/id")], {"lines": [{"id": 1}, {}, {"id": 2}]}, {})
    assert [(pointer, each.value) for pointer, each in found.items()] == [
        ("/lines/0/id", 1),
        ("/lines/2/id", 2),
    ]


def test_a_value_is_found_at_its_place_in_a_list() -> None:
    assert list(origins.spots(a_rule("/ids/1"), {"ids": ["a", "b"]})) == [("/ids/1", "b")]
    assert list(origins.spots(a_rule("/ids/1"), {"ids": ["a"]})) == []
    assert list(origins.spots(a_rule("/id/1"), {"id": {"1": "b"}})) == [("/id/1", "b")]


@pytest.mark.parametrize(
    ("pattern", "arguments", "found"),
    [
        ("/ids/*", {"ids": "c-9"}, [("/ids", "c-9")]),
        ("/customer/id", {"customer": "c-9"}, [("/customer", "c-9")]),
        ("/customer/id", {"customer": [{"id": "c-9"}]}, [("/customer", [{"id": "c-9"}])]),
        (
            "/lines/*/id",
            {"lines": ["c-9", {"id": "c-1"}]},
            [("/lines/0", "c-9"), ("/lines/1/id", "c-1")],
        ),
        ("/lines/*/id", {"lines": {"id": "c-9"}}, [("/lines/id", "c-9")]),
        ("/ids/01", {"ids": ["a", "b"]}, [("/ids", ["a", "b"])]),
        ("/customer/id", {"customer": None}, []),
        ("/customer/id", {"customer": {}}, []),
        ("/ids/*", {"ids": []}, []),
    ],
)
def test_a_value_in_another_shape_needs_an_origin_itself(
    pattern: str, arguments: JsonObject, found: list[tuple[str, Json]]
) -> None:
    assert list(origins.spots(a_rule(pattern), arguments)) == found


def test_what_stands_in_the_way_of_a_relation_shares_no_record() -> None:
    rule = a_rule("/lines/*/id", same="/lines/*/customer_id")
    arguments: JsonObject = {"lines": ["c-9"]}
    assert origins.partners(rule, "/lines/0", arguments) == ()


def test_a_flood_of_values_is_not_looked_up() -> None:
    assert len(origins.asked([a_rule("/ids/*")], {"ids": [*range(5_000)]}, {})) == 500


def test_what_shares_a_record_is_asked_whatever_its_type() -> None:
    found = origins.asked([a_rule("/id", same="/to", max_of=True)], {"id": "i", "to": "c"}, {})
    assert found["/to"] == Asked(value="c")
    assert found["/id"].at_least


def test_two_rules_about_one_value_ask_for_both() -> None:
    other = Source(kind=SourceKind.RESULTS, operands=("b",))
    rules = (a_rule("/a", other, max_of=True), a_rule("/*"))
    (asked,) = origins.asked(rules, {"a": 1}, {}).values()
    assert asked == Asked(value=1, types=frozenset({"b", "crm.id", "crm.old_id"}), at_least=True)
    both = origins.asked((a_rule("/b", same="/a"), *rules), {"a": 1, "b": 2}, {})
    assert both["/a"].types == frozenset()


@pytest.mark.parametrize(
    ("source", "types"), [("crm.id", {"crm.id"}), ("host", set[str]()), ("model", set[str]())]
)
def test_a_field_out_of_a_result_is_asked_like_one(source: str, types: set[str]) -> None:
    rule = a_rule("/id", Source(kind=SourceKind.COLLECTED, operands=("id",)))
    assert origins.accepted_types(rule, collected(source)) == types
    assert origins.accepted_types(rule, {}) == frozenset()


@pytest.mark.parametrize(
    ("pattern", "same", "pointer", "found"),
    [
        ("/lines/*/id", "/lines/*/customer", "/lines/1/id", [("/lines/1/customer", "b")]),
        ("/lines/*/id", "/customer", "/lines/1/id", [("/customer", "c")]),
        ("/customer", "/lines/*/customer", "/customer",
         [("/lines/0/customer", "a"), ("/lines/1/customer", "b")]),
        ("/customer", "/gone", "/customer", []),
    ],
)  # fmt: skip
def test_partners_go_the_same_way(pattern: str, same: str, pointer: str, found: object) -> None:
    arguments: JsonObject = {
        "customer": "c",
        "lines": [{"id": 1, "customer": "a"}, {"id": 2, "customer": "b"}],
    }
    rule = a_rule(pattern, same=same)
    assert list(origins.partners(rule, pointer, arguments)) == found


@pytest.mark.parametrize(
    ("one", "other", "related"),
    [
        ("call_1/items/0", "call_1/items/0", True),
        ("call_1/items/0", "call_1/items/0/lines/3", True),
        ("call_1", "call_1/items/0", True),
        ("call_1/items/0", "call_1/items/1", False),
        ("call_1/items/1", "call_1/items/10", False),
        ("call_1", "call_10", False),
    ],
)
def test_a_record_is_related_to_its_parts(one: str, other: str, related: bool) -> None:
    assert origins.is_related(one, other) is origins.is_related(other, one) is related


@pytest.mark.parametrize(
    ("value", "inside"), [(0, True), (100.5, True), (100.6, False), (-1, False), ("5", False)]
)
def test_a_number_lies_between_its_bounds(value: Json, inside: bool) -> None:
    bounds = (Decimal(0), Decimal("100.5"))
    source = Source(kind=SourceKind.COMPUTED, operands=("0..100.5",), bounds=bounds)
    assert origins.lies_within(value, source, TODAY) is inside


@pytest.mark.parametrize(
    ("value", "inside"),
    [
        ("2026-11-30", True),
        ("2026-12-07", True),
        ("2026-12-08", False),
        ("2026-11-29", False),
        ("2026-12-07T23:59:59Z", True),
        ("soon", False),
        (20261130, False),
    ],
)
def test_a_day_lies_between_its_bounds(value: Json, inside: bool) -> None:
    """Failure case: date arithmetic."""
    source = Source(kind=SourceKind.COMPUTED, operands=("x",), bounds=(Day(), Day(days=7)))
    assert origins.lies_within(value, source, TODAY) is inside


def test_without_bounds_nothing_is_computed() -> None:
    source = Source(kind=SourceKind.COMPUTED, operands=("x",))
    assert not origins.lies_within(1, source, TODAY)


@pytest.mark.parametrize(
    ("value", "ok"), [(5, True), (7, True), (8, False), (-1, False), ("x", False)]
)
def test_a_number_is_at_most_another(value: Json, ok: bool) -> None:
    assert origins.at_most(value, 7) is ok
