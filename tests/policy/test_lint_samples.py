import pytest

from gateway.policy.lint_samples import fields_in, unguarded, unguarded_fields
from gateway.types.json import JsonObject
from tests.policy.example import INTEGER, NUMBER, TEXT

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "need": TEXT,
        "note": TEXT,
        "amount": NUMBER,
        "flag": {"type": "boolean"},
        "a-b": TEXT,
        "free": {"type": "object"},
        "deep": {"type": "object", "properties": {"n": INTEGER}},
        "list": {"type": "array", "items": {"anyOf": [TEXT, {"type": "null"}]}},
    },
    "required": ["need"],
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("args.note == 'x'", ("note",)),
        ("has(args.note) && args.note == 'x'", ()),
        ("args.note == 'x' && has(args.note)", ()),  # `error && false` is false
        ("args.note == 'x' || has(args.note)", ("note",)),
        ("!has(args.note) || args.note == 'x'", ()),
        ("has(args.note) ? args.note == 'x' : true", ()),
        ("args.need == 'never-x' && args.note == 'y'", ("note",)),
        ("args.need.startsWith('abc') && args.note == 'y'", ("note",)),
        ("has(args.amount) && args.amount > 77.5 && args.note == 'y'", ("note",)),
        ("has(args.flag) && !args.flag && args.note == 'y'", ("note",)),
        ("args['a-b'] == 'x'", ("a-b",)),
        ("'a-b' in args && args['a-b'] == 'x'", ()),
        ("args.need > 'a' && args.need.size() / 0 == 1 && args.note == 'x'", ()),
        ("args.deep.n > 1", ("deep",)),
        ("has(args.free) && args.free.x == 1", ()),
        ("args.list.all(each, each == args.need)", ("list",)),
        ("args.need == sets.eu[0]", ()),
        ("identity.tenant == args.note", ("note",)),
        ("now > timestamp('2020-01-01T00:00:00Z') && args.note == 'x'", ("note",)),
        ("nope == args.note", ()),
        ("has(args.note) && args.note == run.fields.note", ()),  # the run's is there
        ("args.note == run.fields.note", ("note",)),
    ],
)
def test_optional_arguments_that_a_condition_takes_for_granted(
    text: str, names: tuple[str, ...]
) -> None:
    assert unguarded(text, SCHEMA, {"eu": ["x"]}) == names


def test_a_schema_without_properties_has_nothing_to_ask_for() -> None:
    assert unguarded("args.note == 'x'", {"type": "object"}, {}) == ()
    assert unguarded("args.note == 'x'", True, {}) == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("run.fields.a == 'x'", ("a",)),
        ("has(run.fields.a) && run.fields.a == args.a", ()),
        ("run.template == 'refund' && run.fields.b > 500", ("b",)),
        ("run.fields.a == 'x' && run.fields.b == 1", ("a", "b")),
        ("run.fields.a == ", ()),
    ],
)
def test_fields_of_a_run_that_a_condition_takes_for_granted(
    text: str, names: tuple[str, ...]
) -> None:
    assert unguarded_fields(text, fields_in(text), {}) == names
