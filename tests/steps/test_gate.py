"""Step 10: gate."""

import math
from typing import Any

import pytest

from gateway.steps import gate
from gateway.store.requests import MOST_PENDING, MOST_REQUESTS
from gateway.types.approvals import ApprovalState
from gateway.types.decisions import RUN_S, Decision, Limit
from gateway.types.outcomes import Refusal, Status
from gateway.types.values import replaced
from tests.helpers.approvals import an_approval


def test_where_nobody_could_be_asked_the_call_is_refused_with_the_words_of_its_rule() -> None:
    answer = gate.unapproved("needs finance", "r")
    assert (answer.status, answer.code, answer.rule) == (Status.APPROVAL_DENIED, "no_approver", "r")
    assert "needs finance" in answer.reason


DECIDE_BY = 1_800_000_000_000_000


def test_a_pending_request_names_who_decides_until_when_and_where() -> None:
    answer = gate.pending(
        an_approval(approval_id="apr_1", decide_by=DECIDE_BY),
        url="https://gw.example/approvals/apr_1",
    )
    assert answer.status is Status.APPROVAL_PENDING
    assert "apr_1" in answer.reason
    assert "https://gw.example/approvals/apr_1" in answer.reason
    assert answer.approval is not None
    assert answer.approval.decide_by


def test_a_model_that_calls_again_and_again_is_told_to_end_its_turn() -> None:
    patient, fruitless = (
        gate.pending(an_approval(decide_by=DECIDE_BY), is_patient=each) for each in (True, False)
    )
    assert patient.next == ""
    assert "end your turn" in fruitless.next


@pytest.mark.parametrize(
    ("state", "status", "code"),
    [
        (ApprovalState.DENIED, Status.APPROVAL_DENIED, "approval_denied"),
        (ApprovalState.EXPIRED, Status.APPROVAL_EXPIRED, "approval_expired"),
        (ApprovalState.CANCELLED, Status.APPROVAL_DENIED, "approval_cancelled"),
        (ApprovalState.SUPERSEDED, Status.APPROVAL_DENIED, "approval_superseded"),
    ],
)
def test_every_end_of_a_request_is_told_as_what_it_is(
    state: ApprovalState, status: Status, code: str
) -> None:
    ended = gate.ended(replaced(an_approval(), state=state, closed_reason="because"))
    assert (ended.status, ended.code) == (status, code)
    assert "because" in ended.reason


def test_what_an_approver_would_rather_have_is_told_with_his_no() -> None:
    denied = replaced(an_approval(), state=ApprovalState.DENIED)
    answer: Refusal = gate.ended(denied, {"amount": 20})
    assert answer.approval is not None
    assert answer.approval.suggested == {"amount": 20}
    assert "suggested_arguments" in answer.next


@pytest.mark.parametrize(
    ("limit", "rule", "next_"),
    [
        (MOST_PENDING, "", "go on without it"),
        (MOST_REQUESTS, "", "go on without it"),
        ("refunds", "desk.refund", ""),
        ("run_writes", "runs.refund", "finish the run"),
    ],
)
def test_a_limit_without_room_is_told_in_its_own_words(limit: str, rule: str, next_: str) -> None:
    taken = tuple(
        Limit(id=each, key="k", maximum=1, window_s=60, amount=1, rule=name)
        for each, name in (("refunds", "desk.refund"), ("run_writes", "runs.refund"))
    )
    answer = gate.exceeded(Decision(limits=taken), limit, 30.0)
    assert answer.status is Status.LIMIT_EXCEEDED
    assert (answer.code, answer.rule) == (limit, rule)
    assert answer.next.startswith(next_)
    assert answer.retry_after_s == (None if limit == "run_writes" else 30.0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"amount": 3}, "alone takes more"), ({"window_s": RUN_S}, "the run has used up")],
)
def test_what_waiting_does_not_help_says_so_and_no_time(
    changes: dict[str, Any], reason: str
) -> None:
    values: dict[str, Any] = {"maximum": 2, "amount": 1, "window_s": 60}
    limit = Limit(id="rate", key="k", rule="r", **(values | changes))
    answer = gate.exceeded(Decision(limits=(limit,)), "rate", math.inf)
    assert (answer.status, answer.code, answer.rule) == (Status.LIMIT_EXCEEDED, "rate", "r")
    assert reason in answer.reason
    assert answer.retry_after_s is None
