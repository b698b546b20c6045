"""The vocabulary of decisions: orders and sums that rules rely on."""

from gateway.types.approvals import (
    ApprovalClause,
    ApprovalState,
    Assurance,
    Cast,
    Factor,
)


def test_open_is_what_can_still_come_to_be_used() -> None:
    assert {each for each in ApprovalState if each.is_open} == {
        ApprovalState.PENDING,
        ApprovalState.APPROVED,
    }


def test_a_login_is_surer_than_a_machine_and_both_than_a_client() -> None:
    assert sorted(Assurance, key=lambda each: each.rank) == [
        Assurance.CLIENT_ASSERTED,
        Assurance.LOCAL,
        Assurance.AUTHENTICATED,
    ]


def test_a_clause_names_everybody_once_and_adds_up_its_groups() -> None:
    clause = ApprovalClause(
        factors=(
            Factor(name="finance", roles=("lead", "cfo"), users=("ana",), count=2),
            Factor(name="legal", roles=("legal", "lead"), users=("kim", "ana")),
        )
    )
    assert clause.roles == ("lead", "cfo", "legal")
    assert clause.users == ("ana", "kim")
    assert clause.quorum == 3


def test_no_refusal_of_a_vote_counts_as_accepted() -> None:
    refused = {each for each in Cast if not each.is_accepted}
    assert refused == {
        Cast.ALREADY_VOTED,
        Cast.SAME_ACCOUNT,
        Cast.ALREADY_DECIDED,
        Cast.NOT_FOUND,
        Cast.NOT_ENTITLED,
        Cast.SELF_APPROVAL,
        Cast.WRONG_BINDING,
        Cast.TOO_EARLY,
        Cast.TOO_LATE,
        Cast.TOO_WEAK,
    }
