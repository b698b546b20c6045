import pytest

from gateway.approvals.words import approvers, lacking, said, when
from gateway.types.approvals import (
    ApprovalClause,
    ApprovalState,
    Assurance,
    Cast,
    Escalation,
    Execute,
    Factor,
    Ruling,
)
from tests.helpers.approvals import an_approval

NOON = 1_795_953_600_000_000  # 2026-11-29T12:00:00Z
LEADS = Factor(name="leads", roles=("lead",), users=("bo\u202e",), count=2)
LEGAL = Factor(name="legal", roles=("legal",))
CLAUSE = ApprovalClause(
    factors=(LEADS, LEGAL),
    escalation=(Escalation(after_s=1, roles=("boss",)), Escalation(after_s=2, users=("eve",))),
    min_assurance=Assurance.AUTHENTICATED,
)


def ruled(cast: Cast, **changes: object) -> str:
    values = {"clause": CLAUSE, "not_before": NOON, "use_by": NOON} | changes
    return said(Ruling(cast=cast, approval=an_approval(**values)))


def test_every_group_is_named_and_every_step_that_was_taken() -> None:
    assert when(NOON) == "2026-11-29 12:00 UTC"
    groups = r"2 of lead, bo\u{202E} and 1 of legal"
    assert approvers(an_approval(clause=CLAUSE)) == groups
    assert approvers(an_approval(clause=CLAUSE, escalated=1)) == f"{groups}; or of boss"
    assert lacking([(LEADS, 1), (LEGAL, 1)]) == r"1 more of lead, bo\u{202E} and 1 more of legal"
    assert lacking([]) == ""


def test_one_person_alone_is_just_named() -> None:
    ana = Factor(name="approvers", users=("ana",))
    assert approvers(an_approval(clause=ApprovalClause(factors=(ana,)))) == "ana"
    assert lacking([(ana, 1)]) == "ana"


@pytest.mark.parametrize("cast", Cast)
def test_whatever_becomes_of_a_wish_is_said_in_one_line_of_its_own(cast: Cast) -> None:
    line = ruled(cast)
    assert line
    assert line[0].islower()
    assert "\n" not in line
    others = {ruled(other) for other in Cast if other is not cast}
    assert line not in others
    assert said(Ruling(cast=Cast.NOT_FOUND)) == "there is no such request"


def test_who_approves_learns_what_happens_then() -> None:
    assert "until 2026-11-29 12:00 UTC" in ruled(Cast.APPROVED)
    assert "sends the call now" in ruled(Cast.APPROVED, execute=Execute.ON_APPROVAL)
    counted = said(Ruling(cast=Cast.COUNTED, approval=an_approval()), [(LEGAL, 1)])
    assert counted.endswith("as well: 1 more of legal")


@pytest.mark.parametrize("state", ApprovalState)
def test_what_is_decided_already_is_told_by_how(state: ApprovalState) -> None:
    lines = {each: ruled(Cast.ALREADY_DECIDED, state=each) for each in ApprovalState}
    assert [*lines.values()].count(lines[state]) == 1


def test_who_is_not_sure_enough_learns_where_he_would_be() -> None:
    assert "on the page" in ruled(Cast.TOO_WEAK)
    weak = ApprovalClause(factors=(LEADS,), min_assurance=Assurance.LOCAL)
    assert "in the terminal or on the page" in ruled(Cast.TOO_WEAK, clause=weak)
