"""What is new in a call against an earlier one."""

from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.approvals.changes import changes
from gateway.types.json import Json, JsonObject
from tests.helpers.presenting import a_digest, a_sight


def told(before: JsonObject, after: JsonObject) -> list[JsonObject]:
    return [*changes(a_sight(before), a_sight(after), a_digest)]


def test_each_place_that_differs_is_told_with_both_values() -> None:
    before: JsonObject = {"amount": 100, "to": {"id": "a", "name": "x"}, "tags": ["p"]}
    after: JsonObject = {"amount": 200, "to": {"id": "a", "city": "y"}, "tags": ["p", "q"]}
    assert told(before, after) == [
        {"pointer": "/amount", "before": 100, "after": 200, "masked": []},
        {"pointer": "/to/name", "before": "x", "masked": []},
        {"pointer": "/to/city", "after": "y", "masked": []},
        {"pointer": "/tags/1", "after": "q", "masked": []},
    ]


def test_a_number_in_another_form_is_no_change() -> None:
    assert told({"amount": 100}, {"amount": 100.0}) == []


def test_a_value_of_another_type_is_a_change() -> None:
    assert told({"x": 1}, {"x": True}) == [
        {"pointer": "/x", "before": 1, "after": True, "masked": []}
    ]
    assert [each["pointer"] for each in told({"x": [1]}, {"x": {"0": 1}})] == ["/x"]


def test_nothing_in_place_of_null_is_a_change() -> None:
    assert told({"x": None}, {}) == [{"pointer": "/x", "before": None, "masked": []}]


def test_another_secret_is_a_change_and_stays_hidden() -> None:
    before = a_sight({"pin": "one"}, pin="[redacted:secret]")
    after = a_sight({"pin": "two"}, pin="[redacted:secret]")
    (change,) = changes(before, after, a_digest)
    assert change["masked"] == ["before", "after"]
    assert "one" not in str(change)
    assert "two" not in str(change)
    assert [*changes(before, before, a_digest)] == []


def test_a_value_that_became_secret_is_one_change() -> None:
    before = a_sight({"pin": {"a": 1}})
    after = a_sight({"pin": {"a": 1}}, pin="[redacted:secret]")
    (change,) = changes(before, after, a_digest)
    assert change["before"] == {"a": 1}
    assert change["masked"] == ["after"]


VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/~", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text("ab/~", max_size=2), VALUES, max_size=3)


@given(OBJECTS, OBJECTS)
def test_there_is_a_change_exactly_where_the_canonical_bytes_differ(
    before: JsonObject, after: JsonObject
) -> None:
    found = told(before, after)
    assert bool(found) == (jsontext.canonical(before) != jsontext.canonical(after))
    for each in found:
        pointer = str(each["pointer"])
        for name, whole in (("before", before), ("after", after)):
            if name in each:
                assert jsontext.get(whole, pointer) == each[name]
