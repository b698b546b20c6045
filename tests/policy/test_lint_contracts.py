"""Checks of what contracts promise of writes."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.policy import lint_contracts
from gateway.policy.survey import survey
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    Idempotency,
    Injection,
    InjectPlace,
    Lookup,
    Normal,
    Readback,
    Wait,
    WrittenObject,
)
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect, Ensure, Risk, RiskRaise
from tests.policy.example import INTEGER, TEXT, contract, files

CLOSED: JsonObject = {"type": "object", "properties": {"id": TEXT, "n": INTEGER}}
PAY = contract(
    "desk.pay", {"id": TEXT, "amount": INTEGER, "key": TEXT}, effect=Effect.WRITE, output=CLOSED
)
GET = contract("desk.get", {"id": TEXT, "deep": CLOSED}, required=["id"], output=CLOSED)
UNDO = contract("desk.undo", {"id": TEXT}, effect=Effect.DESTRUCTIVE, risk=Risk.HIGH)


def told(**fields: Any) -> list[str]:
    """Return what is said of the paying tool with these fields, beside two others."""
    view = survey(files("rules: []"), (replace(PAY, **fields), GET, UNDO), ())
    return [f"{each.level} {each.check}: {each.message}" for each in lint_contracts.check(view)]


def back(**fields: Any) -> Compensation:
    call = CallTemplate(tool="desk.undo", args={"id": "$result.id"})
    return Compensation(kind=CompensationClass.COMPENSATABLE, call=call, **fields)


def get(**args: Any) -> CallTemplate:
    return CallTemplate(tool="desk.get", args=args)


def test_what_is_promised_well_has_no_findings() -> None:
    assert (
        told(
            idempotency=Idempotency(
                intent=("/id", "/amount"),
                ignore=("/key",),
                key_from="/id",
                normalise={"/id": Normal.UPPER},
                inject=Injection(place=InjectPlace.ARGUMENT, name="/key"),
                lookup=Lookup(
                    call=get(id="$args.id"),
                    found='result.id == args.id && op.key != ""',
                    absent_after_s=60.0,
                ),
            ),
            old=get(id="$args.id"),
            readback=Readback(
                call=get(id="$result.id"),
                expect="result.n == answer.n && old.n < result.n && args.amount > 0",
                wait=Wait(pending="result.n == 0 && args.amount > 0"),
            ),
            compensation=back(
                verify=Readback(call=get(id="x $old.id"), expect="result.n == old.n")
            ),
            ensure=(Ensure(when="result.id == args.id && old.n == 1", message="m"),),
            object=WrittenObject(type="desk.payment", id="$old.n-$result.id"),
            raises=(RiskRaise(when="args.amount > 1", reason="r", risk=Risk.HIGH),),
        )
        == []
    )


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DESTRUCTIVE])
@pytest.mark.parametrize(("reviewed", "level"), [(True, "error"), (False, "warning")])
def test_a_write_without_a_way_back_is_refused_once_it_is_reviewed(
    effect: Effect, reviewed: bool, level: str
) -> None:
    assert told(compensation=None, effect=effect, reviewed=reviewed) == [
        f"{level} no-compensation: nobody says how `desk.pay` is undone; write `compensation` "
        "with its `tool`, or `class: irreversible` with a `reason`"
    ]


def test_a_read_that_some_arguments_make_a_write_needs_a_way_back() -> None:
    raises = RiskRaise(when="args.amount > 1", reason="r", effect=Effect.WRITE)
    [finding] = told(compensation=None, effect=Effect.READ, raises=(raises,))
    assert finding.startswith("error no-compensation: ")
    assert told(effect=Effect.READ, raises=(raises,)) == []


@pytest.mark.parametrize("kind", [CompensationClass.IRREVERSIBLE, CompensationClass.PIVOT])
def test_a_reason_why_there_is_none_is_enough(kind: CompensationClass) -> None:
    assert told(compensation=Compensation(kind=kind, reason="it is gone")) == []


def test_a_read_needs_no_way_back() -> None:
    assert told(compensation=None, effect=Effect.READ) == []


@pytest.mark.parametrize(
    ("section", "fields"),
    [
        ("intent", {"intent": ("/id", "/note")}),
        ("ignore", {"ignore": ("/note",)}),
        ("from", {"key_from": "/note"}),
        ("normalise", {"normalise": {"/note": Normal.TRIM}}),
        ("inject", {"inject": Injection(place=InjectPlace.ARGUMENT, name="/note")}),
    ],
)
def test_an_argument_that_is_not_there_is_told(section: str, fields: dict[str, Any]) -> None:
    assert told(idempotency=Idempotency(**fields)) == [
        f"error unknown-argument: `idempotency.{section}`: `desk.pay` has no argument `/note`"
    ]


def test_a_key_in_a_header_is_no_argument() -> None:
    assert told(idempotency=Idempotency(inject=Injection(place=InjectPlace.HEADER, name="K"))) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (CallTemplate(tool="desk.gte"),
         "unknown-tool: `outcome.readback`: `desk.gte` has no contract; did you mean `desk.get`?"),
        (CallTemplate(tool="desk.undo", args={"id": "x"}),
         "not-a-read: `outcome.readback`: `desk.undo` is a destructive, and only reads may check"),
        (get(), "missing-argument: `outcome.readback`: `desk.get` can't be called without `id`"),
        (get(id="$args.id", name="x"),
         "unknown-argument: `outcome.readback`: `desk.get` has no argument `name`"),
        (get(id="$args.other"), "unknown-field: `outcome.readback`: there is no `$args.other`"),
        (get(id="for $result.other"),
         "unknown-field: `outcome.readback`: there is no `$result.other`"),
        (get(id="$result.id.deeper"),
         "unknown-field: `outcome.readback`: there is no `$result.id.deeper`"),
    ],
)  # fmt: skip
def test_a_call_that_can_t_be_made_is_told(call: CallTemplate, message: str) -> None:
    assert told(readback=Readback(call=call, expect="true")) == [f"error {message}"]


def test_every_read_is_looked_at() -> None:
    call = CallTemplate(tool="desk.undo", args={"id": "x"})
    check = Readback(call=call, expect="true")
    said = told(
        idempotency=Idempotency(lookup=Lookup(call=call, found="true", absent_after_s=1.0)),
        old=call,
        readback=check,
        compensation=back(verify=check),
    )
    sections = ("idempotency.lookup", "outcome.old", "outcome.readback", "compensation.verify")
    assert [each.split("`")[1] for each in said] == list(sections)
    assert all(each.startswith("error not-a-read") for each in said)


def test_a_field_of_what_was_read_before_is_looked_up_there() -> None:
    check = Readback(call=get(id="$old.other"), expect="true")
    assert told(old=get(id="1"), readback=check) == [
        "error unknown-field: `outcome.readback`: there is no `$old.other`"
    ]


def test_an_object_that_can_t_be_named_is_told() -> None:
    assert told(
        object=WrittenObject(type="desk.payment", id="$result.nr"), compensation=back()
    ) == ["error unknown-field: `outcome.object`: there is no `$result.nr`"]


def test_a_read_undoes_nothing() -> None:
    kind = CompensationClass.COMPENSATABLE
    assert told(compensation=Compensation(kind=kind, call=get(id="x"))) == [
        "error not-a-write: `compensation`: `desk.get` is a read, and undoes nothing"
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"readback": Readback(call=get(id="x"), expect="result.")},
         "error condition: `outcome.readback.expect` of `desk.pay`: can't be read from here on"),
        ({"readback": Readback(call=get(id="x"), expect="old.n == 1")},
         "error condition: `outcome.readback.expect` of `desk.pay`: no name `old.n` here"),
        ({"readback": Readback(call=get(id="x"), expect="true", wait=Wait(pending="answer.n"))},
         "error condition: `outcome.readback.wait.pending` of `desk.pay`: no name `answer.n` here"),
        ({"readback": Readback(call=get(id="x"), expect="args.amount + 1")},
         "error condition: `outcome.readback.expect` of `desk.pay`: the condition gives"),
        ({"readback": Readback(call=get(id="x"), expect="args.amount == 'x'")},
         "error condition-type: `outcome.readback.expect` of `desk.pay`: `==` doesn't work on"),
        ({"readback": Readback(call=get(id="x"), expect="args.amnt == 1")},
         "error condition-type: `outcome.readback.expect` of `desk.pay`: no argument `amnt`"),
        ({"compensation": back(verify=Readback(call=get(id="x"), expect="reslt.n == 1"))},
         "error condition: `compensation.verify.expect` of `desk.pay`: no name `reslt.n` here"),
        ({"idempotency": Idempotency(
            lookup=Lookup(call=get(id="x"), found="answer.n == 1", absent_after_s=1.0))},
         "error condition: `idempotency.lookup.found` of `desk.pay`: no name `answer.n` here"),
        ({"ensure": (Ensure(when="old.n == 1", message="m"),)},
         "warning condition: `outcome.ensure` of `desk.pay`: no name `old.n` here"),
        ({"ensure": (Ensure(when="args.amnt == result.n", message="m"),)},
         "warning condition-type: `outcome.ensure` of `desk.pay`: no argument `amnt`"),
        ({"raises": (RiskRaise(when="result.n > 1", reason="r", risk=Risk.HIGH),)},
         "warning condition: `risk_when` of `desk.pay`: no name `result.n` here"),
    ],
)  # fmt: skip
def test_a_condition_that_can_t_hold_is_told(fields: dict[str, Any], message: str) -> None:
    (said,) = told(**fields)
    assert said.startswith(message)


def test_a_tool_without_schemas_is_judged_by_the_text_alone() -> None:
    plain: JsonObject = {"name": "pay"}
    check = Readback(call=get(id="$result.any.thing"), expect="args.anything == result.other")
    assert told(definition=plain, readback=check) == []
    called: Contract = replace(GET, definition={"name": "get"})
    view = survey(files("rules: []"), (replace(PAY, readback=check), called, UNDO), ())
    assert [each.check for each in lint_contracts.check(view)] == [
        "unknown-field",
        "condition-type",
    ]
