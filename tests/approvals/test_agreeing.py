import pytest

from gateway.approvals.agreeing import lacks, obstacle, stranger
from gateway.types.proposals import ProposalState
from tests.helpers.proposals import a_proposal, backed_by, somebody


def test_each_person_is_one_less() -> None:
    assert lacks(a_proposal(), []) == 2
    assert lacks(a_proposal(), [backed_by("ann")]) == 1
    assert lacks(a_proposal(people=0), [backed_by("ann")]) == 0


def test_somebody_else_can_agree() -> None:
    assert obstacle(a_proposal(), [backed_by("ann")], somebody("bo"), ()) == ""


@pytest.mark.parametrize("user", ["ann", "ANN", "a\u200bnn".replace("\u200b", "")])
def test_nobody_counts_twice_however_his_name_is_spelled(user: str) -> None:
    found = obstacle(a_proposal(), [backed_by("ann")], somebody(user, tenant="globex"), ())
    assert found == "ann has agreed already; somebody else has to agree"


def test_who_proposed_it_has_said_so_already() -> None:
    by = [backed_by("ann", is_proposer=True)]
    assert obstacle(a_proposal(), by, somebody("ann"), ()).startswith("ann proposed it")


def test_one_account_of_a_machine_is_one_person_whatever_he_calls_himself() -> None:
    by = [backed_by("ann", account="root")]
    found = obstacle(a_proposal(), by, somebody("bo", account="root"), ())
    assert "from the same account of this machine, `root`" in found
    assert obstacle(a_proposal(), by, somebody("bo", account="bo"), ()) == ""
    assert obstacle(a_proposal(), by, somebody("bo"), ()) == ""  # on the page


def test_a_role_may_be_asked_for() -> None:
    assert obstacle(a_proposal(), [], somebody("bo"), ["security"]) == (
        "bo has no role that may agree (`security`)"
    )
    assert stranger(somebody("bo"), ["lead", "security"]) == ""


@pytest.mark.parametrize("state", [each for each in ProposalState if each != "open"])
def test_what_is_settled_stays_so(state: ProposalState) -> None:
    found = obstacle(a_proposal(state=state), [], somebody("bo"), ())
    assert found == f"it is {state.value} already"
