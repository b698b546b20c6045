"""Lint of guards: what is never so."""

from dataclasses import replace

import pytest

from gateway.policy import lint_guards
from gateway.policy.run_files import load
from gateway.policy.survey import survey
from gateway.types.tools import Effect, Ensure
from tests.policy.example import TEXT, contract

CHECKED = (Ensure(when="true", message="it is so"),)
FIND = contract("crm.find", {"q": TEXT})
NOTE = contract("crm.note", {"text": TEXT}, effect=Effect.WRITE)
REFUND = replace(contract("desk.refund", {"id": TEXT}, effect=Effect.WRITE), ensure=CHECKED)


def found(body: str) -> list[str]:
    templates = load(f"runs:\n  refund:\n    fields: {{id: {{}}}}\n    {body}\n", file="r.yaml")
    view = survey([], (FIND, NOTE, REFUND), (), templates=templates)
    return [
        f"{each.line}:{each.column} {each.level} {each.check}: {each.message}"
        for each in lint_guards.check(view)
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "phases: {acting: {enter_when: [\"evidence > 0 && phase != 'retreiving'\"]}}",
            "4:62 error unknown-word: `phase` is never `retreiving`; did you mean `retrieving`?",
        ),
        (
            "completed_when: [verified(desk.refnd)]",
            "4:22 error unknown-tool: `desk.refnd` has no contract; did you mean `desk.refund`?",
        ),
        (
            "completed_when: [succeeded(crm.find)]",
            "4:32 error never-met: `crm.find` is a read, and only writes are counted as succeeded",
        ),
        (
            "{phases: {acting: {tools: [crm.note]}}, completed_when: [verified(desk.refund)]}",
            "4:71 error never-met: `desk.refund` is in no phase of this template, so it is never "
            "verified",
        ),
        (
            "completed_when: [verified(crm.note)]",
            "4:31 error never-met: the contract of `crm.note` says nothing of its outcome, so it "
            "is never verified; write `outcome`, or ask for `succeeded`",
        ),
    ],
)
def test_what_is_never_so_is_an_error(body: str, said: str) -> None:
    if body.startswith("{"):
        body = body[1:-1].replace(", completed_when", "\n    completed_when")
        said = "5:31" + said[4:]
    assert found(body) == [said]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "completed_when: ['evidence < 0']",
            "4:22 warning never-met: no run seems to meet `evidence < 0`",
        ),
        (
            "limits: {calls: 5}\n    completed_when: ['calls > 5']",
            "5:22 warning never-met: no run seems to meet `calls > 5`",
        ),
        (
            "phases: {acting: {enter_when: ['open_ops > 0']}}",
            "4:36 warning never-met: no run seems to meet `open_ops > 0` the first time, before "
            "anything was written",
        ),
        (
            "phases: {acting: {enter_when: [verified(desk.refund)]}}",
            "4:36 warning never-met: no run seems to meet `verified(desk.refund)` the first time, "
            "before anything was written",
        ),
        (
            "phases: {finalizing: {enter_when: [evidence > 3, evidence < 3]}}",
            "4:39 warning never-met: no run seems to meet all these guards of `finalizing` "
            "together",
        ),
        (
            "limits: {writes: 0}\n    completed_when: [verified(desk.refund)]",
            "5:22 warning never-met: no run seems to meet `verified(desk.refund)`",
        ),
        (
            "completed_when: [\"fields.id == 'a' && fields.id == 'b'\"]",
            "4:22 warning never-met: no run seems to meet `fields.id == 'a' && fields.id == 'b'`",
        ),
    ],
)
def test_what_no_sample_meets_is_a_warning(body: str, said: str) -> None:
    assert found(body) == [said]


@pytest.mark.parametrize(
    "body",
    [
        "phases: {acting: {enter_when: [fields.id, evidence >= 1, calls < 80]}}",
        "phases: {acting: {enter_when: [\"phase == 'retrieving' || phase == 'planning'\"]}}",
        "phases: {finalizing: {enter_when: [open_ops == 0, pending_approvals == 0]}}",
        "completed_when: ['verified(desk.refund) || succeeded(crm.note)', '!tainted']",
        "completed_when: ['fields.id > 7 && fields.id < 8']",
        "completed_when: [\"fields.id.startsWith('c-') && size(fields.id) == 6\"]",
    ],
)
def test_what_some_run_meets_is_not_told(body: str) -> None:
    assert found(body) == []


def test_guards_that_bind_nobody_are_told() -> None:
    body = "mode: host\n    phases: {acting: {enter_when: [fields.id]}}\n"
    assert found(body + "    completed_when: [fields.id]") == [
        "5:35 info no-effect: in mode `host` guards of `acting` are told, and hold nobody back"
    ]


@pytest.mark.parametrize("limit", ["calls: 5", "tokens: 9", "money: {argument: /a, max: 5}"])
def test_limits_that_a_model_can_have_anew_are_told_of(limit: str) -> None:
    name, limits = limit.partition(":")[0], f"limits: {{{limit}}}"
    (said,) = found(limits)
    assert said.startswith("4:")
    assert " warning renewed: " in said
    assert f"with all of `{name}`" in said
    assert found(f"mode: host\n    {limits}") == []
    assert found(f"{limits}\n    completed_when: [verified(desk.refund)]") == []
    assert found("limits: {wall: 1h}") == []
