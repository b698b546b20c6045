"""Lint of templates: names that nobody knows, and tools that their phase never lets through."""

from dataclasses import replace

import pytest

from gateway.policy import lint_templates
from gateway.policy.run_files import load
from gateway.policy.survey import survey
from gateway.types.tools import Effect, OnFail, ProvenanceRule, Risk, Source, SourceKind, Yield
from tests.policy.example import NUMBER, TEXT, contract

FIND = replace(
    contract("crm.find", {"q": TEXT}), yields=(Yield(type="crm.customer_id", path="/items/*/id"),)
)
NOTE = contract("crm.note", {"text": TEXT}, effect=Effect.WRITE)
REFUND = contract(
    "desk.refund", {"amount": NUMBER, "reason": TEXT}, effect=Effect.WRITE, risk=Risk.HIGH
)
KNOWN = (FIND, NOTE, REFUND)


def found(body: str) -> list[str]:
    templates = load(f"runs:\n  refund:\n    {body}\n", file="r.yaml")
    view = survey([], KNOWN, (), templates=templates)
    return [
        f"{each.line}:{each.column} {each.level} {each.check}: {each.message}"
        for each in lint_templates.check(view)
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "fields: {id: {from: [crm.customer]}}",
            "3:26 error unknown-source: no result yields `crm.customer`, and it is none of host, "
            "user and model; did you mean `crm.customer_id`?",
        ),
        (
            "phases: {acting: {tools: [desk.refnd]}}",
            "3:31 error unknown-tool: `desk.refnd` has no contract; did you mean `desk.refund`?",
        ),
        (
            "phases: {acting: {tools: [mail.send]}}",
            "3:31 warning unknown-tool: `mail.send` has no contract",
        ),
        (
            "phases: {retrieving: {tools: [crm.find, crm.note]}}",
            "3:45 error never-allowed: `crm.note` is a write, and while retrieving there are only "
            "reads",
        ),
        (
            "phases: {acting: {tools: [crm.find]}}",
            "3:31 info no-effect: `crm.find` is a read; while acting, `tools` names writes, and "
            "reads pass",
        ),
        (
            "phases: {finalizing: {tools: [desk.refund]}}",
            "3:35 error never-allowed: `desk.refund` is of class high, and while finalizing only "
            "low and medium ones pass",
        ),
        (
            "phases: {finalizing: {tools: [crm.nte]}}",
            "3:35 error unknown-tool: `crm.nte` has no contract; did you mean `crm.note`?",
        ),
        (
            "during_wait: [desk.refund]",
            "3:19 error never-allowed: `desk.refund` is of class high, and while people decide "
            "only low and medium ones pass",
        ),
        ("during_wait: [erp.x]", "3:19 warning unknown-tool: `erp.x` has no contract"),
        (
            "limits: {money: {argument: /reason, max: 5, tools: [desk.refund]}}",
            "3:32 error not-a-number: argument `/reason` of `desk.refund` is no number and has no "
            "sum",
        ),
        (
            "limits: {money: [{argument: /total, max: 5, tools: [desk.refund]}]}",
            "3:33 error unknown-argument: `desk.refund` has no argument `/total`",
        ),
        (
            "limits: {money: {argument: /amount, max: 5, tools: [desk.refnd]}}",
            "3:57 error unknown-tool: `desk.refnd` has no contract; did you mean `desk.refund`?",
        ),
        (
            "limits: {money: {argument: /text, max: 5}}",
            "3:32 warning no-effect: no write has an argument `/text` that is a number",
        ),
        (
            "limits: {wall: 30m, idle: 1h}",
            "3:31 warning no-effect: `idle` is no shorter than `wall`, which ends the run first",
        ),
    ],
)
def test_what_can_not_be_meant_is_told_where_it_stands(body: str, said: str) -> None:
    assert found(body) == [said]


def test_a_template_that_fits_its_contracts_has_nothing_to_mend() -> None:
    assert (
        found(
            """\
fields: {id: {from: [user, crm.customer_id]}}
    phases:
      retrieving: {tools: [crm.find]}
      acting: {tools: [desk.refund, crm.note]}
      finalizing: {tools: [crm.note]}
    during_wait: [crm.note]
    limits: {wall: 2h, idle: 30m, money: [{argument: /amount, max: 5}]}
"""
        )
        == []
    )


def test_an_argument_that_has_to_come_from_a_field_of_no_template_is_told() -> None:
    source = Source(kind=SourceKind.COLLECTED, operands=("custmer_id",))
    wants = replace(
        REFUND, provenance=(ProvenanceRule(pointer="/id", sources=(source,), on_fail=OnFail.DENY),)
    )
    templates = load("runs: {refund: {fields: {customer_id: {}}}}", file="r.yaml")
    (finding,) = lint_templates.check(survey([], (wants,), (), templates=templates))
    assert (finding.level, finding.check) == ("warning", "unknown-field")
    assert finding.message == (
        "`provenance` of `desk.refund`: no run template has a field `custmer_id`; "
        "did you mean `customer_id`?"
    )
    assert [*lint_templates.check(survey([], (wants,), ()))] == []
