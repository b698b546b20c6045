"""What programs are told of requests."""

import pytest

from gateway import jsontext
from gateway.actions import approvals
from gateway.actions.approvals import ApprovalRefused
from gateway.approvals import lines
from gateway.types.approvals import Approval, Factor
from tests.helpers.approvals import BINDING, a_vote, an_approval
from tests.helpers.presenting import a_document


def test_a_request_is_told_whole_and_nothing_that_is_sealed() -> None:
    found = approvals.as_json(an_approval(proposal="sealed too", created_at=1_000_000))
    assert (found["binding"], found["binding_short"]) == (BINDING, "01234567")
    assert (found["created_at"], found["use_by"]) == ("1970-01-01T00:00:01+00:00", None)
    assert found["decide_by"] is None  # no calendar has it
    assert "sealed" not in jsontext.dump(found).decode()


def test_a_vote_is_told_with_how_sure_it_is() -> None:
    found = approvals.vote_as_json(a_vote(reason="fine", at=1_000_000, issuer="https://login"))
    assert found == {
        "user": "lea",
        "choice": "approve",
        "reason": "fine",
        "channel": "page",
        "assurance": "authenticated",
        "issuer": "https://login",
        "roles": ["lead"],
        "at": "1970-01-01T00:00:01+00:00",
    }


def test_who_is_missing_is_told_by_group() -> None:
    approval = an_approval()
    assert approvals.lacks(approval, [a_vote()]) == ()
    ((factor, count),) = approvals.lacks(approval, [])
    assert approvals.lacks_as_json([(factor, count)]) == [
        {"roles": ["lead"], "users": [], "count": 1}
    ]
    assert factor == Factor(name="leads", roles=("lead",))


def test_a_program_gets_all_of_a_long_value() -> None:
    value = "a" * 10_000
    rows = [approvals.row_as_json(row) for row in lines.rows(a_document({"text": value}))]
    assert value in [row["text"] for row in rows]


async def test_a_request_that_is_not_there_is_told_with_the_mend() -> None:
    class Empty:
        async def get(self, approval_id: str) -> Approval | None:
            del approval_id
            return None

    with pytest.raises(ApprovalRefused, match="there is no request `apr_1`; see `weighbridge"):
        await approvals.named(Empty(), "apr_1")
