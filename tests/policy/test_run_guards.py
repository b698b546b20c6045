"""Guards: what an expression over a run says, and what keeps one from being compiled."""

from decimal import Decimal

import pytest

from gateway.policy.cel import ExpressionError
from gateway.policy.run_guards import VARIABLES, Named, compile_guard
from gateway.types.json import Json
from gateway.types.runs import Collected, Phase, Run, Trust
from gateway.types.values import replaced

FIELDS = ("customer_id", "amount", "is_urgent")


def a_run(phase: Phase = Phase.RETRIEVING, **fields: Json) -> Run:
    collected = {
        name: Collected(value=value, trust=Trust.HOST, source="host", at=1)
        for name, value in fields.items()
    }
    return Run(run_id="run_1", tenant="acme", owner="o", user="ana", phase=phase, fields=collected)


@pytest.mark.parametrize(
    "text",
    [
        "fields.customer_id",
        "!fields.amount",
        "fields.customer_id && evidence >= 2",
        "evidence >= 2 && (fields.amount || fields.customer_id)",
        "has(fields.customer_id)",
        "'customer_id' in fields",
        "fields.customer_id == 'c-1001'",
        'fields["customer_id"].startsWith("c-")',
        "fields.amount ? fields.amount > 5 : fields.customer_id == 'c-1001'",
        "verified(desk.refund)",
        'verified("desk.refund")',
        "succeeded( desk.open-ticket ) && !verified(desk.open-ticket)",
        "'desk.refund' in verified",
        "size(succeeded) == 2",
        "open_ops == 0 && pending_approvals == 0",
        "phase == 'retrieving' || phase == 'acting'",
        "calls < 80 && tokens < 1000",
        "!tainted",
        "'verified(desk.nothing)' != 'fields.amount'",
    ],
)
def test_a_guard_holds(text: str) -> None:
    run = replaced(
        a_run(customer_id="c-1001"),
        evidence=2,
        calls=3,
        verified=("desk.refund",),
        succeeded=("desk.refund", "desk.open-ticket"),
    )
    assert compile_guard(text, FIELDS).holds(run)


@pytest.mark.parametrize(
    "text",
    [
        "fields.amount",
        "fields.amount > 5",  # not collected: it can't be compared
        "fields.customer_id > 5",  # a text
        "verified(desk.refund)",
        "succeeded(desk.refund) || tainted",
        "1 / evidence > 0",
    ],
)
def test_what_is_not_so_or_can_not_be_told_does_not_hold(text: str) -> None:
    assert not compile_guard(text, FIELDS).holds(a_run(customer_id="c-1001"))


def test_a_field_without_a_value_was_not_collected() -> None:
    run = a_run(customer_id=None)
    assert not compile_guard("fields.customer_id", FIELDS).holds(run)
    assert not compile_guard("'customer_id' in fields", FIELDS).holds(run)


def test_false_is_a_value_like_any_other() -> None:
    run = a_run(is_urgent=False)
    assert compile_guard("fields.is_urgent", FIELDS).holds(run)
    assert not compile_guard("fields.is_urgent == true", FIELDS).holds(run)


def test_a_value_that_no_expression_can_hold_is_no_fault_of_other_fields() -> None:
    run = a_run(customer_id="c-1001", amount=Decimal("1.1"))
    assert compile_guard("fields.customer_id == 'c-1001'", FIELDS).holds(run)
    assert not compile_guard("fields.amount > 1", FIELDS).holds(run)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("fields.customer", 8, "no field `customer` here; did you mean `customer_id`?"),
        ("evidence > 1 && 'amont' in fields", 18, "no field `amont` here; did you mean `amount`?"),
        ("fields['amont'] > 1", 9, "no field `amont` here; did you mean `amount`?"),
        ("verified(refund)", 10, "`refund` is no tool; name it as `server.name`"),
        ("evidense >= 1", 1, "no name `evidense` here; did you mean `evidence`?"),
        ("args.amount > 1", 5, "no name `args.amount` here"),
        ("size(fields) == 1", 6, "should name one field, such as `fields.customer_id`"),
        ("fields[phase] == 1", 1, "should name one field, such as `fields.customer_id`"),
        (
            "evidence + 1",
            1,
            "the condition gives `int`, not true or false; compare it with something",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_guard(text, FIELDS)
    assert [(each.line, each.column, each.message) for each in raised.value.issues] == [
        (1, column, message)
    ]


def test_our_own_forms_move_nothing_that_stands_behind_them() -> None:
    text = "verified(desk.refund) && fields.amount && nonsense"
    with pytest.raises(ExpressionError) as raised:
        compile_guard(text, FIELDS)
    assert raised.value.issues[0].column == text.index("nonsense") + 1


def test_a_fault_in_the_second_line_is_found_there() -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_guard("evidence > 1 &&\n  fields.customer", FIELDS)
    assert (raised.value.issues[0].line, raised.value.issues[0].column) == (2, 10)


def test_a_guard_knows_what_it_looks_at() -> None:
    guard = compile_guard("verified(desk.refund) && fields.amount < evidence", FIELDS)
    assert guard.tools == (Named("verified", "desk.refund", 9),)
    assert guard.fields == {"amount"}
    assert [name for name in VARIABLES if guard.uses(name)] == ["evidence", "verified"]
