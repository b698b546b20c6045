import sys
from dataclasses import fields, replace

import pytest
from hypothesis import given

from gateway.telemetry.facts import FAILURES, CallFacts, facts_of
from gateway.types.calls import Method
from gateway.types.decisions import Decision
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from tests.telemetry.builders import ALLOWED, a_call, a_denied_record, a_record
from tests.telemetry.generated import records


def test_success_has_no_error_type() -> None:
    facts = facts_of(a_record())
    assert (facts.failure, facts.downstream_failure) == ("", "")


@pytest.mark.parametrize("status", [status for status in Status if status not in FAILURES])
def test_a_refusal_is_no_failure(status: Status) -> None:
    assert facts_of(a_denied_record(status=status)).failure == ""


@pytest.mark.parametrize(
    "status",
    [
        Status.TIMEOUT,
        Status.UNAVAILABLE,
        Status.INTERNAL,
        Status.RESULT_INVALID,
        Status.INDETERMINATE,
    ],
)
def test_a_failure_is_named_by_our_status(status: Status) -> None:
    assert facts_of(a_record(status=status)).failure == status.value


def test_a_result_that_says_is_error_is_a_tool_error_on_both_sides() -> None:
    facts = facts_of(a_record(tool_error=True, status=Status.OK))
    assert (facts.failure, facts.downstream_failure) == ("tool_error", "tool_error")


def test_a_json_rpc_error_is_named_by_its_code() -> None:
    facts = facts_of(a_record(error_code=-32602, status=Status.TOOL_FAILED))
    assert (facts.failure, facts.downstream_failure) == ("-32602", "-32602")


def test_what_we_found_wrong_with_an_answer_is_not_the_downstreams_failure() -> None:
    facts = facts_of(a_record(status=Status.POSTCONDITION_FAILED))
    assert (facts.failure, facts.downstream_failure) == ("postcondition_failed", "")


def test_no_answer_is_the_downstreams_failure() -> None:
    facts = facts_of(a_record(status=Status.TIMEOUT, answered_ns=0))
    assert facts.downstream_failure == "timeout"


def test_what_an_allowed_call_came_to_does_not_change_the_decisions_code() -> None:
    facts = facts_of(a_record(code="-32000", error_code=-32000, status=Status.TOOL_FAILED))
    assert (facts.verdict, facts.code, facts.reason) == ("allow", "allowed", "-32000")


def test_a_check_before_policy_denies_with_its_own_code() -> None:
    refused = a_denied_record(
        decision=Decision(), status=Status.PHASE_BLOCKED, code="phase_blocked"
    )
    facts = facts_of(refused)
    assert (facts.verdict, facts.code) == ("deny", "phase_blocked")


def test_a_denial_after_policy_overrules_its_word() -> None:
    facts = facts_of(a_denied_record(decision=ALLOWED, code="constraint"))
    assert (facts.verdict, facts.code) == ("deny", "constraint")


def test_a_call_that_was_not_judged_has_no_verdict() -> None:
    facts = facts_of(a_denied_record(decision=None, judged_ns=0, status=Status.UNKNOWN_TOOL))
    assert facts.verdict == ""


def test_facts_do_not_keep_the_arguments_alive() -> None:
    call = a_call(arguments={"document": "x" * 1_000_000}, request_id="r" * 1000)
    facts = facts_of(a_record(call=call))
    held = [getattr(facts, name) for name in facts.__slots__]
    assert call not in held
    assert all(sys.getsizeof(value) < 2000 for value in held)
    assert len(facts.request_id) == 64


def test_arguments_of_other_methods_are_not_a_tools_arguments() -> None:
    call = a_call(method=Method.GET_PROMPT)
    assert facts_of(a_record(call=call), "content").content == ""
    assert facts_of(a_record(), "content").content == "content"


@given(records())
def test_no_field_is_left_unset(record: CallRecord) -> None:
    facts = facts_of(record)
    assert CallFacts(**{each.name: getattr(facts, each.name) for each in fields(facts)}) == facts
    assert replace(facts) == facts
