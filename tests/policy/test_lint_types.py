import pytest

from gateway.policy.lint_types import (
    ArgumentTypes,
    as_fields,
    as_plain_schema,
    field_name,
    shape_of,
)
from gateway.policy.messages import Kind
from gateway.types.json import JsonObject
from tests.policy.example import INTEGER, NUMBER, TEXT

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "to": {"type": "array", "items": TEXT},
        "amount": NUMBER,
        "count": INTEGER,
        "flag": {"type": "boolean"},
        "odd": {"type": "null"},
        "mode": {"enum": ["a", "b"]},
        "maybe": {"anyOf": [INTEGER, {"type": "null"}]},
        "other": {"type": ["string", "null"]},
        "customer-id": TEXT,
        "in": TEXT,
        "2nd": TEXT,
        "free": {"type": "object"},
        "mixed": {"type": ["string", "integer"]},
        "deep": {"$ref": "#/$defs/deep"},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/deep"}},
        "grid": {"type": "array", "items": {"type": "array", "items": INTEGER}},
    },
    "$defs": {
        "deep": {
            "properties": {"name": TEXT, "amount": NUMBER, "next": {"$ref": "#/$defs/deep"}},
        }
    },
}
TYPES = ArgumentTypes(SCHEMA, ["eu"])


def issues(text: str) -> list[str]:
    return [f"{each.line}:{each.column} {each.message}" for each in TYPES.issues(text)]


@pytest.mark.parametrize(
    "text",
    [
        "args.amount > 3",
        "args.amount > 3.0",
        "args.amount > 3 && args.amount < 9.5",
        "args.amount == 3 || args.amount in [1, 2.5] || args.amount != 3.0",
        "args.count > 2.5",
        "double(args.amount) * 2.0 > 4.0",
        "args.to.all(r, r.endsWith('x'))",
        "args.to.exists(r, email_domain(r) in sets.eu)",
        "has(args.deep) && args.deep.name == 'x' && args.deep.next.next.amount > 1",
        "args.rows.all(r, r.amount > 1)",
        "args.maybe == null || args.maybe > 3",
        "args.other == null || args.other == 'x'",
        "args['customer-id'] == 'x'",
        '"customer-id" in args && args["customer-id"] == "x"',
        "args['in'] == 'x'",
        "args['2nd'] == 'x'",
        "args.free.anything == 3 && args.free['any thing'] == 'x'",
        "args.mixed == 3 || args.mixed == 'x'",
        "args.grid[0][0] == 3",
        "args.mode == 'a'",
        "identity.tenant == args.mode",
    ],
)
def test_conditions_that_fit_the_schema(text: str) -> None:
    assert issues(text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("args.amont > 3", "1:5 no argument `amont`"),
        ("has(args.amont)", "1:4 no argument `amont`"),
        ("args.amount > 'x'", "1:13 found no matching overload for '_>_'"),
        ("args.amount in ['x']", "1:13 found no matching overload for '@in'"),
        ("args.to.all(r, r > 3)", "1:18 found no matching overload"),
        ("args.count == '3'", "1:12 found no matching overload"),
        ("args.mode == 3", "1:11 found no matching overload"),
        ("args.other == 3", "1:12 found no matching overload"),
        ("args.deep.nam == 'x'", "1:10 no argument `nam`"),
        ("args.rows[0].nam == 'x'", "1:13 no argument `nam`"),
        ("args['customer-ix'] == 'x'", "1:5 no argument `customer_ix`"),
        ("args.flag && args.flag == 'x'", "1:24 found no matching overload"),
        ("true &&\n  args.amont > 3", "2:7 no argument `amont`"),
    ],
)
def test_conditions_that_do_not_fit_the_schema(text: str, said: str) -> None:
    (issue,) = issues(text)
    assert issue.startswith(said)


def test_arithmetic_on_a_number_has_to_say_which_kind() -> None:
    assert len(issues("args.amount * 2.0 > 4.0")) == 1
    assert len(issues("args.amount * 2 > 4")) == 1


def test_what_has_no_single_type_is_told_as_unchecked() -> None:
    assert set(TYPES.unchecked) >= {"free", "mixed", "grid", "odd"}
    assert "amount" not in TYPES.unchecked


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("args.amount", True),
        ("args.count", True),
        ("args.maybe", True),
        ("args.mixed", True),
        ("double(args.amount) * 1.5", True),
        ("args.mode", False),
        ("args.to", False),
        ("args.flag", False),
        ("args.nope", True),  # reported as an unknown argument
    ],
)
def test_what_can_be_summed(text: str, number: bool) -> None:
    assert TYPES.is_number(text) is number


@pytest.mark.parametrize("schema", [True, {}, {"type": "object"}, {"oneOf": [SCHEMA, SCHEMA]}])
def test_a_free_form_schema_goes_unchecked(schema: JsonObject) -> None:
    types = ArgumentTypes(schema, [])
    assert types.issues("args.anything.at.all == 3") == ()
    assert types.is_number("args.anything")


def test_two_names_that_only_differ_in_signs_are_left_unchecked() -> None:
    types = ArgumentTypes({"properties": {"a-b": TEXT, "a_b": INTEGER, "c": TEXT}}, [])
    assert types.unchecked == ("a_b",)
    assert types.issues("args.a_b == 3 && args['a-b'] == 'x'") == ()


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('args["a-b"] == 1', "args.a_b    == 1"),
        ('"a-b" in args && x', "has(args.a_b)    && x".replace("    ", " ")),
        ("'a' in args.list[0]", "'a' in args.list[0]"),
        ("args['in']", "args.in_  "),
        ("args[0]", "args[0]"),
    ],
)
def test_indexes_become_fields_in_the_same_place(text: str, fields: str) -> None:
    assert as_fields(text) == fields


def test_a_field_name_is_one_that_the_engine_reads() -> None:
    assert [field_name(name) for name in ("a", "a-b", "2nd", "in", "ä")] == [
        "a",
        "a_b",
        "_nd",
        "in_",
        "_",
    ]


def test_references_that_lead_nowhere_or_in_circles_end() -> None:
    circle: JsonObject = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a", "type": "x"}
    for reference in ("#/$defs/a", "#/nowhere", "other.json", "#/$defs/a/b", "#/type/x"):
        schema: JsonObject = {"$ref": reference}
        assert shape_of(schema, circle).kind is Kind.ANY
        assert as_plain_schema(schema, circle) == {}
