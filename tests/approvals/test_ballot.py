from dataclasses import replace
from typing import Any

import pytest

from gateway.approvals.ballot import (
    echoes,
    escalates,
    is_late,
    judge,
    judge_cancellation,
    judge_reopening,
    judge_withdrawal,
    proposer,
    use_until,
)
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    ApprovalState,
    Approver,
    Assurance,
    Cast,
    Channel,
    Choice,
    Escalation,
    Factor,
    Vote,
)
from tests.helpers.approvals import BINDING, LEADS, OTHER_BINDING, a_vote, an_approval, an_approver

YES, NO = Choice.APPROVE, Choice.DENY
S = ApprovalState
TWO = replace(LEADS, factors=(Factor(name="leads", roles=("lead",), count=2),))
SELF = ApprovalClause(
    factors=(Factor(name="approvers", users=("ana",)),),
    requester_may_approve=True,
    self_confirm=True,
    min_assurance=Assurance.CLIENT_ASSERTED,
)


def cast(
    approval: Approval | None = None,
    approver: Approver | None = None,
    choice: Choice = YES,
    binding: str = BINDING,
    votes: tuple[Vote, ...] = (),
    now: int = 10,
) -> Cast:
    return judge(
        approval or an_approval(), votes, approver or an_approver(), choice, binding, now=now
    )


def test_the_last_yes_that_it_takes_approves_and_those_before_count() -> None:
    assert cast(an_approval(clause=TWO)) is Cast.COUNTED
    assert cast(an_approval(clause=TWO), votes=(a_vote("max"),)) is Cast.APPROVED
    assert cast() is Cast.APPROVED


def test_as_many_denials_as_the_clause_takes_deny() -> None:
    """case: APR-10"""
    twice = an_approval(clause=replace(TWO, denials=2))
    assert cast(choice=NO) is Cast.DENIED
    assert cast(an_approval(clause=TWO), choice=NO, votes=(a_vote("max"),)) is Cast.DENIED
    assert cast(twice, choice=NO) is Cast.COUNTED
    assert cast(twice, choice=NO, votes=(a_vote("max", choice=NO),)) is Cast.DENIED
    assert cast(twice, choice=NO, votes=(a_vote("max"),)) is Cast.COUNTED


@pytest.mark.parametrize("choice", Choice)
@pytest.mark.parametrize("state", S)
def test_another_tenants_request_is_not_there_whatever_its_state(
    choice: Choice, state: ApprovalState
) -> None:
    """case: APR-06"""
    assert cast(an_approval(state=state), an_approver(tenant="other"), choice) is Cast.NOT_FOUND


@pytest.mark.parametrize("choice", Choice)
@pytest.mark.parametrize("state", S)
def test_who_may_not_decide_learns_nothing_of_the_state(
    choice: Choice, state: ApprovalState
) -> None:
    """case: APR-03, APR-10"""
    viewer = an_approver("vera", ("viewer",))
    assert cast(an_approval(state=state), viewer, choice, OTHER_BINDING) is Cast.NOT_ENTITLED


@pytest.mark.parametrize("choice", Choice)
@pytest.mark.parametrize("user", ["ana", "ANA", "\uff41na"])
def test_the_requester_decides_nothing_by_whichever_client(user: str, choice: Choice) -> None:
    """case: APR-03"""
    assert cast(approver=an_approver(user), choice=choice) is Cast.SELF_APPROVAL


def test_the_requester_decides_where_the_rule_lets_him_and_he_is_an_approver() -> None:
    lets = an_approval(clause=replace(LEADS, requester_may_approve=True))
    assert cast(lets, an_approver("ana")) is Cast.APPROVED
    assert cast(lets, an_approver("ana", ())) is Cast.NOT_ENTITLED


def test_a_client_confirms_for_its_user_only_where_the_rule_says_so() -> None:
    asked: dict[str, Any] = {
        "assurance": Assurance.CLIENT_ASSERTED,
        "channel": Channel.ELICITATION,
    }
    weak = replace(LEADS, requester_may_approve=True, min_assurance=Assurance.CLIENT_ASSERTED)
    assert cast(an_approval(clause=SELF), an_approver("ana", (), **asked)) is Cast.APPROVED
    assert cast(an_approval(clause=weak), an_approver("ana", **asked)) is Cast.NOT_ENTITLED
    assert cast(approver=an_approver(**asked)) is Cast.NOT_ENTITLED


@pytest.mark.parametrize("choice", Choice)
def test_a_login_that_is_too_weak_for_the_rule_decides_nothing(choice: Choice) -> None:
    strict = an_approval(clause=replace(LEADS, min_assurance=Assurance.AUTHENTICATED))
    at_terminal = an_approver(assurance=Assurance.LOCAL, channel=Channel.TERMINAL)
    assert cast(strict, at_terminal, choice) is Cast.TOO_WEAK
    assert cast(approver=at_terminal, choice=choice).is_accepted


@pytest.mark.parametrize("choice", Choice)
def test_who_saw_something_else_decides_nothing(choice: Choice) -> None:
    """case: APR-01"""
    assert cast(choice=choice, binding=OTHER_BINDING) is Cast.WRONG_BINDING


@pytest.mark.parametrize(
    ("given", "is_it"),
    [
        (BINDING, True),
        ("01234567", True),
        (" 0123456789ABCDEF ", True),
        ("sha256:01234567", True),
        ("0123456", False),
        ("", False),
        ("sha256:", False),
        ("f1234567", False),
        (BINDING + "0", False),
        ("12345678", False),
        ("0123456g", False),
        ("0123456\N{DEVANAGARI DIGIT SEVEN}", False),
        (f"{BINDING}\n{OTHER_BINDING}", False),
    ],
)
def test_a_binding_is_repeated_whole_or_by_its_first_eight_digits(given: str, is_it: bool) -> None:
    assert echoes(BINDING, given) is is_it


def test_nobody_approves_before_the_time_to_think_is_over_but_may_deny() -> None:
    thinking = an_approval(not_before=11)
    assert cast(thinking, now=10) is Cast.TOO_EARLY
    assert cast(thinking, now=11) is Cast.APPROVED
    assert cast(thinking, choice=NO, now=10) is Cast.DENIED


@pytest.mark.parametrize("choice", Choice)
def test_time_is_over_by_the_clock_whatever_the_row_says(choice: Choice) -> None:
    assert cast(an_approval(decide_by=10), choice=choice, now=10).is_accepted
    assert cast(an_approval(decide_by=10), choice=choice, now=11) is Cast.TOO_LATE
    approved = an_approval(state=S.APPROVED, use_by=10)
    assert cast(approved, choice=choice, now=11) is Cast.TOO_LATE
    assert cast(an_approval(state=S.EXPIRED), choice=choice) is Cast.TOO_LATE


def test_nobody_votes_twice_also_not_for_the_contrary() -> None:
    waiting = an_approval(clause=TWO)
    assert cast(waiting, votes=(a_vote(),)) is Cast.ALREADY_VOTED
    assert cast(waiting, choice=NO, votes=(a_vote(),)) is Cast.ALREADY_VOTED
    assert cast(waiting, an_approver("LEA"), votes=(a_vote(),)) is Cast.ALREADY_VOTED


def test_a_no_to_what_is_approved_revokes_it_also_by_who_approved() -> None:
    approved = an_approval(state=S.APPROVED, use_by=20)
    assert cast(approved, choice=NO, votes=(a_vote(),)) is Cast.REVOKED
    assert cast(approved, an_approver("max"), NO, votes=(a_vote(),)) is Cast.REVOKED
    assert cast(approved, an_approver("max"), YES, votes=(a_vote(),)) is Cast.ALREADY_DECIDED


@pytest.mark.parametrize("state", [S.DENIED, S.CANCELLED, S.SUPERSEDED, S.CONSUMED])
@pytest.mark.parametrize("choice", Choice)
def test_what_has_ended_is_decided(state: ApprovalState, choice: Choice) -> None:
    assert cast(an_approval(state=state), choice=choice) is Cast.ALREADY_DECIDED


def test_only_who_voted_takes_his_vote_back_and_only_while_nothing_is_decided() -> None:
    def withdrawn(approval: Approval, approver: Approver, now: int = 10) -> Cast:
        return judge_withdrawal(approval, (a_vote(),), approver, now=now)

    waiting = an_approval(clause=TWO, decide_by=20)
    assert withdrawn(waiting, an_approver()) is Cast.WITHDRAWN
    assert withdrawn(waiting, an_approver("max")) is Cast.NOT_ENTITLED
    assert withdrawn(waiting, an_approver("Lea")) is Cast.NOT_ENTITLED
    assert withdrawn(waiting, an_approver(tenant="other")) is Cast.NOT_FOUND
    assert withdrawn(waiting, an_approver(), now=21) is Cast.TOO_LATE
    approved = an_approval(state=S.APPROVED, use_by=20)
    assert withdrawn(approved, an_approver()) is Cast.ALREADY_DECIDED


def test_a_request_is_ended_by_who_asked_or_who_runs_the_gateway() -> None:
    """case: APR-10"""

    def cancelled(approval: Approval, approver: Approver) -> Cast:
        return judge_cancellation(approval, approver, now=10)

    operator = an_approver("root", (), channel=Channel.TERMINAL, assurance=Assurance.LOCAL)
    assert cancelled(an_approval(), an_approver("ana", ())) is Cast.CANCELLED
    assert cancelled(an_approval(), operator) is Cast.CANCELLED
    assert cancelled(an_approval(), an_approver("lea")) is Cast.NOT_ENTITLED
    assert cancelled(an_approval(), an_approver("ANA", ())) is Cast.NOT_ENTITLED
    assert cancelled(an_approval(tenant="other"), operator) is Cast.NOT_FOUND
    assert cancelled(an_approval(state=S.CONSUMED), operator) is Cast.ALREADY_DECIDED
    assert cancelled(an_approval(decide_by=9), operator) is Cast.TOO_LATE


def test_a_denied_call_is_asked_about_again_by_who_could_approve_it() -> None:
    denied = an_approval(state=S.DENIED)
    assert judge_reopening(denied, an_approver("max")) is Cast.REOPENED
    assert judge_reopening(denied, an_approver("ana")) is Cast.NOT_ENTITLED
    assert judge_reopening(denied, an_approver("vera", ())) is Cast.NOT_ENTITLED
    assert judge_reopening(denied, an_approver(tenant="other")) is Cast.NOT_FOUND
    assert judge_reopening(an_approval(), an_approver()) is Cast.ALREADY_DECIDED


def test_a_step_of_the_escalation_is_due_by_the_time_of_the_request() -> None:
    clause = replace(LEADS, escalation=(Escalation(after_s=1, roles=("cfo",)),))
    waiting = an_approval(clause=clause, created_at=5)
    assert not escalates(waiting, 1_000_004)
    assert escalates(waiting, 1_000_005)
    assert not escalates(replace(waiting, escalated=1), 1_000_005)
    assert not escalates(replace(waiting, state=S.APPROVED, use_by=10**18), 1_000_005)
    assert not escalates(replace(waiting, decide_by=7), 1_000_005)
    assert not escalates(an_approval(), 1_000_005)


@pytest.mark.parametrize(
    ("risk", "within_s", "lasts_s"),
    [("high", None, 900), ("critical", None, 900), ("medium", None, 1800), ("high", 60.0, 60)],
)
def test_a_decision_is_good_for_as_long_as_the_clause_or_the_risk_says(
    risk: str, within_s: float | None, lasts_s: int
) -> None:
    clause = replace(LEADS, use_within_s=within_s)
    assert use_until(an_approval(risk=risk, clause=clause), 7) == 7 + lasts_s * 1_000_000


def test_what_has_ended_otherwise_is_not_late() -> None:
    assert not is_late(an_approval(state=S.DENIED, decide_by=1), 5)


def test_of_several_who_said_no_the_last_one_proposed_what_he_would_rather_have() -> None:
    first, last = a_vote("lea", choice=NO, at=5), a_vote("max", choice=NO, at=7)
    denied = an_approval(state=S.DENIED, proposal="sealed", decided_at=7)
    assert proposer(denied, [first, last, a_vote("kim", at=7)]) == last
    assert proposer(replace(denied, proposed_by=first.user), [first, last]) == first
    assert proposer(replace(denied, proposal=""), [first, last]) is None
    assert proposer(replace(denied, state=S.CANCELLED), [first, last]) is None


def at(account: str, user: str = "max") -> Approver:
    """Return somebody who decides by an account of the machine; empty: nobody noted which."""
    return an_approver(user, issuer=f"os:{account}" if account else "")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("os:ada", at("ada"), Cast.SAME_ACCOUNT),
        ("os:ada", at("bob"), Cast.APPROVED),
        ("os:ada", an_approver("max"), Cast.APPROVED),  # whom a provider vouches for
        ("", at("ada"), Cast.APPROVED),  # a vote of before: nobody noted the account
        ("os:ada", at(""), Cast.APPROVED),
    ],
)
def test_one_account_of_the_machine_is_one_person_whatever_names_it_gives(
    first: str, second: Approver, expected: Cast
) -> None:
    votes = (a_vote("lea", issuer=first),)
    assert cast(an_approval(clause=TWO), second, votes=votes) is expected


def test_who_says_no_from_the_same_account_stops_it() -> None:
    votes = (a_vote("lea", issuer="os:ada"),)
    assert cast(an_approval(clause=TWO), at("ada"), choice=NO, votes=votes) is Cast.DENIED
    said_no = (a_vote("lea", choice=NO, issuer="os:ada"),)
    two_no = replace(TWO, denials=2)
    assert cast(an_approval(clause=two_no), at("ada"), votes=said_no) is Cast.COUNTED
