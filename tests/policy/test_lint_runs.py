"""Lint of rules that are about runs."""

from dataclasses import replace

import pytest

from gateway.policy import lint_runs
from gateway.policy.run_files import load
from gateway.policy.survey import survey
from gateway.types.tools import SourceTrust, Yield
from tests.policy.example import CONTRACTS, files

TEMPLATES = """\
runs:
  refund: {fields: {customer_id: {required: true, from: [user, crm.id]}, amount: {}}}
  lookup: {fields: {question: {required: true}, guess: {from: [model]}}}
"""


def found(rule: str, decision: str = "deny") -> list[str]:
    rules = files(f"rules:\n  - {{id: a, decision: {decision}, {rule}}}\n")
    view = survey(rules, CONTRACTS, (), templates=load(TEMPLATES, file="r.yaml"))
    return [
        f"{each.line}:{each.column} {each.level} {each.check}: {each.message}"
        for each in lint_runs.check(view)
    ]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "match: {templates: [refnd]}",
            "2:49 error unknown-template: no run template `refnd`; did you mean `refund`?",
        ),
        (
            "when: run.template == 'refnd'",
            "2:51 error unknown-word: `run.template` is never `refnd`; did you mean `refund`?",
        ),
        (
            "when: has(run.fields.amout)",
            "2:35 error unknown-field: no run template here has a field `amout`; "
            "did you mean `amount`?",
        ),
        (
            "match: {templates: [lookup]}, when: has(run.fields.amount)",
            "2:65 error unknown-field: no run template here has a field `amount`",
        ),
        (
            "when: run.fields.amount > 5",
            "2:35 error optional-field: a run may not have `amount` yet, and a call may have no "
            "run: write `has(run.fields.amount) && ...`",
        ),
        (
            "match: {templates: [refund]}, when: run.fields.customer_id != args.customer_id",
            "2:65 error optional-field: a run may not have `customer_id` yet, and a call may have "
            "no run: write `has(run.fields.customer_id) && ...`",
        ),
        (
            "when: run.template == 'refund' && run.fields.amount > 5",
            "2:35 error optional-field: a run may not have `amount` yet, and a call may have no "
            "run: write `has(run.fields.amount) && ...`",
        ),
        (
            "when: run.said.amount > 5",
            "2:35 error optional-field: a run may not have `amount` yet, and a call may have no "
            "run: write `has(run.said.amount) && ...`",
        ),
        (
            "match: {templates: [lookup], phases: [acting]}, when: run.fields.question == 'q'",
            "2:83 error optional-field: a run may not have `question` yet, and a call may have no "
            "run: write `has(run.fields.question) && ...`",
        ),
        (
            "when: has(run.said.amout)",
            "2:35 error unknown-field: no run template here has a field `amout`; "
            "did you mean `amount`?",
        ),
        (
            "when: has(run.said.customer_id)",
            "2:35 error unknown-field: `run.said` never has `customer_id`, by its `from`; write "
            "`run.fields.customer_id`",
        ),
        (
            "when: has(run.fields.guess)",
            "2:35 error unknown-field: `run.fields` never has `guess`, by its `from`; write "
            "`run.said.guess`",
        ),
    ],
)
def test_what_is_never_so_or_breaks_is_told(rule: str, said: str) -> None:
    assert found(rule) == [said]


@pytest.mark.parametrize(
    "rule",
    [
        "match: {templates: [refund, lookup]}",
        "when: run.template == '' || run.template == 'refund'",
        "when: has(run.fields.amount) && run.fields.amount > 5",
        "match: {templates: [refund], phases: [acting]}, when: run.fields.customer_id == 'c'",
        "when: run.tainted && run.task == ''",
        "when: has(run.said.amount) && run.said.amount > 5",
        "when: has(run.said.amount) && has(run.fields.amount)",
        "when: run.fields.amount >",  # reported as what it is
    ],
)
def test_what_holds_for_some_run_and_breaks_for_none_is_not_told(rule: str) -> None:
    assert found(rule) == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "constrain: {set: {tenant: run.fields.custmer_id}}",
            "error unknown-field: no run template here has a field `custmer_id`; "
            "did you mean `customer_id`?",
        ),
        (
            "constrain: {max: {amount: run.said.customer_id}}",
            "error unknown-field: `run.said` never has `customer_id`, by its `from`; "
            "write `run.fields.customer_id`",
        ),
        (
            "output: {rows: [{path: /rows, where: row.id == run.fields.amout}]}",
            "error unknown-field: no run template here has a field `amout`; did you mean `amount`?",
        ),
        (
            "output: {rows: [{path: /rows, where: row.id == 1.0 || run.template == 'refnd'}]}",
            "error unknown-word: `run.template` is never `refnd`; did you mean `refund`?",
        ),
        (
            "output: {documents: row.source == run.fields.guess}",
            "error unknown-field: `run.fields` never has `guess`, by its `from`; "
            "write `run.said.guess`",
        ),
        (
            "limits: [{id: b, per: [user], sum: run.fields.none, max: 1, window: 1h}]",
            "error unknown-field: no run template here has a field `none`",
        ),
    ],
)
def test_a_field_is_known_wherever_a_rule_names_it(rule: str, said: str) -> None:
    assert said in "\n".join(found(rule, "allow"))


def test_a_filter_that_lets_nothing_through_without_a_field_is_told() -> None:
    where = "output: {{rows: [{{path: /rows, where: '{}'}}]}}"
    [told] = found(where.format("row.id == run.fields.amount"), "allow")
    assert "info optional-field: no row leaves before the run has `amount`" in told
    assert (
        found(where.format("has(run.fields.amount) && row.id == run.fields.amount"), "allow") == []
    )
    late = "match: {templates: [refund], phases: [acting]}, "
    assert found(late + where.format("row.id == run.fields.customer_id"), "allow") == []
    assert found("constrain: {set: {tenant: run.fields.customer_id}}", "allow") == []


def test_what_others_can_write_is_said_and_not_known() -> None:
    (first, *rest) = CONTRACTS

    def of(*trusts: SourceTrust) -> list[str]:
        yields = tuple(Yield(type="crm.id", path="/id", trust=trust) for trust in trusts)
        rules = files("rules:\n  - {id: a, decision: deny, when: has(run.fields.id)}\n")
        templates = "runs: {desk: {fields: {id: {from: [crm.id]}}}}"
        view = survey(
            rules,
            (replace(first, yields=yields), *rest),
            (),
            templates=load(templates, file="r.yaml"),
        )
        return [each.message for each in lint_runs.check(view)]

    assert of(SourceTrust.TENANT) == of(SourceTrust.TENANT, SourceTrust.EXTERNAL) == []
    assert of(SourceTrust.EXTERNAL) == [
        "`run.fields` never has `id`, by its `from`; write `run.said.id`"
    ]
