"""Recorded calls as files of tests."""

from dataclasses import replace

from gateway.policy import promoting
from gateway.policy.cases import load
from gateway.policy.promoting import Promoted
from gateway.types.calls import Method
from gateway.types.causes import Cause
from gateway.types.decisions import DecisionEffect
from gateway.types.tools import Kind
from tests.helpers.pasts import ARGUMENTS, a_past
from tests.policy.example import CONTRACTS, NOW, OPS, SAM

KNOWN = {each.tool: each for each in CONTRACTS}


def promoted(fault: str = "", notes: tuple[str, ...] = (), **changes: object) -> Promoted:
    past = a_past(**changes)
    return Promoted(past=past, arguments=past.arguments, run=past.run, fault=fault, notes=notes)


def test_a_call_is_one_line_with_who_what_and_what_came_of_it() -> None:
    text = promoting.file([promoted()], of="call call_1", timed=False)
    (line,) = [line for line in text.splitlines() if line.startswith("  - ")]
    assert "as: sam, call: payments.refund, phase: acting" in line
    assert "expect: {decision: allow, rule: payments.refund.small}" in line
    (case,) = load(text, file="t.yaml").cases(KNOWN)
    assert case.call is not None
    assert (case.call.arguments, case.call.now) == (ARGUMENTS, NOW)
    assert case.call.actor.roles == SAM.roles


def test_each_kind_of_call_is_written_as_what_it_is() -> None:
    text = promoting.file(
        [
            promoted(
                call="a",
                kind=Kind.RESOURCE,
                method=Method.READ_RESOURCE,
                key="file:///a",
                server="f",
            ),
            promoted(call="b", kind=Kind.PROMPT, method=Method.COMPLETE, key="desk.reply"),
            promoted(call="c", cause=Cause.COMPENSATION, pin="sha256:other"),
            promoted(call="d", decided=DecisionEffect.DENY, rule="", code="no_matching_rule"),
            promoted(call="e", run={"template": "case", "phase": "retrieving"}),
        ],
        of="run r",
        timed=True,
    )
    a, b, c, d, e = load(text, file="t.yaml").content.tests
    assert (a.resource, a.server, a.kind) == ("file:///a", "f", Kind.RESOURCE)
    assert (b.prompt, b.method) == ("desk.reply", Method.COMPLETE)
    assert (c.cause, c.schema_hash, c.now) == (Cause.COMPENSATION, "sha256:other", NOW)
    assert (d.expect.code, d.expect.rule) == ("no_matching_rule", None)
    assert e.run is not None
    assert (e.run.template, e.run.phase, e.phase) == ("case", "retrieving", None)


def test_what_is_left_out_and_what_can_t_be_a_case_is_a_comment() -> None:
    text = promoting.file(
        [
            promoted(notes=("`/note` is left out:\nit was redacted",)),
            promoted(call="call_2", fault="why"),
        ],
        of="run r",
        timed=False,
    )
    assert "  # call_1: `/note` is left out: it was redacted" in text
    assert "  # call_2 is no case: why" in text
    assert len(load(text, file="t.yaml").content.tests) == 1


def test_callers_of_one_name_are_told_apart() -> None:
    named = promoting.callers(
        [
            SAM,
            OPS,
            replace(SAM, tenant="globex"),
            SAM,
            replace(SAM, user="józef k/x"),
            replace(SAM, user="…"),
        ]
    )
    assert [*named.values()] == ["sam", "ops", "sam-2", "j-zef-k-x", "somebody"]
