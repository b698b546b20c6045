import pytest

from gateway.approvals.clauses import ClauseError
from gateway.store.approval_rows import (
    approval_of,
    notice_of,
    notice_row,
    row_of,
    vote_of,
    vote_row,
)
from gateway.store.engine import Row
from gateway.types.approvals import ApprovalState, Choice, Execute, Notice, NoticeStage
from tests.helpers.approvals import a_vote, an_approval


def test_an_approval_comes_back_from_its_row() -> None:
    approval = an_approval(
        run_id="run_1",
        trace="00-1-2-01",
        execute=Execute.ON_APPROVAL,
        state=ApprovalState.DENIED,
        version=3,
        use_by=4,
        created_at=5,
        decided_at=6,
        closed_reason="zu teuer",
        consumed_by="call_2",
        proposal="sealed",
        proposal_hash="sha256:2",
        proposed_by="lea",
        replaces="apr_0",
        escalated=1,
        is_told=True,
    )
    assert approval_of(Row(row_of(approval))) == approval


def test_a_vote_comes_back_from_its_row() -> None:
    vote = a_vote(roles=("lead", "cfo"), choice=Choice.DENY, issuer="i", reason="nein", at=7)
    assert vote_of(Row(vote_row(vote))) == vote


def test_a_notice_comes_back_from_its_row() -> None:
    notice = Notice(
        notice_id="ntc_1",
        approval_id="apr_1",
        tenant="acme",
        stage=NoticeStage.ESCALATED,
        target="chat",
        created_at=1,
        next_at=2,
        attempts=3,
        done_at=4,
        problem="HTTP 500",
    )
    assert notice_of(Row(notice_row(notice))) == notice


def test_what_an_engine_refuses_is_not_in_a_row() -> None:
    approval = an_approval(user="a\0b", closed_reason="\ud800")
    assert (row_of(approval)["requester"], row_of(approval)["closed_reason"]) == ("a\ufffdb", "?")
    assert vote_row(a_vote(roles=("\0",)))["roles"] == '["\ufffd"]'


@pytest.mark.parametrize("clause", ["", "{", '{"v":9}'])
def test_an_approval_whose_clause_can_not_be_read_is_none(clause: str) -> None:
    with pytest.raises(ClauseError):
        approval_of(Row({**row_of(an_approval()), "clause": clause}))
