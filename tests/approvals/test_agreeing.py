import pytest

from gateway.approvals.agreeing import lacks, obstacle, standing, stranger
from gateway.types.approvals import Channel
from gateway.types.proposals import ProposalState
from tests.helpers.proposals import a_proposal, a_say, backed_by, somebody

PROVIDER = "https://login.example.com/"
SAY = a_say()


def test_each_person_is_one_less() -> None:
    assert lacks(a_proposal(), [], SAY) == 2
    assert lacks(a_proposal(), [backed_by("ann")], SAY) == 1
    assert lacks(a_proposal(people=0), [backed_by("ann")], SAY) == 0


def test_somebody_else_can_agree() -> None:
    assert obstacle(a_proposal(), [backed_by("ann")], somebody("bo"), SAY) == ""


@pytest.mark.parametrize("user", ["ann", "ANN", "\uff41nn"])
def test_nobody_counts_twice_however_his_name_is_spelled(user: str) -> None:
    found = obstacle(a_proposal(), [backed_by("ann")], somebody(user), SAY)
    assert found == "ann has agreed already; somebody else has to agree"


def test_who_proposed_it_has_said_so_already() -> None:
    by = [backed_by("ann", is_proposer=True)]
    assert obstacle(a_proposal(), by, somebody("ann"), SAY).startswith("ann proposed it")


def test_one_account_of_a_machine_is_one_person_whatever_he_calls_himself() -> None:
    by = [backed_by("ann", account="root")]
    found = obstacle(a_proposal(), by, somebody("bo", account="root"), SAY)
    assert "from the same account of this machine, `root`" in found
    assert obstacle(a_proposal(), by, somebody("bo", account="bo"), SAY) == ""


def test_a_link_is_of_the_account_that_made_it() -> None:
    by_link = somebody("bo", channel=Channel.PAGE, issuer="os:root")
    found = obstacle(a_proposal(), [backed_by("ann", account="root")], by_link, SAY)
    assert "from the same account of this machine, `root`" in found
    by = [backed_by("ann", issuer="os:root")]  # two links of one account, too
    assert "from the same account" in obstacle(a_proposal(), by, by_link, SAY)
    assert obstacle(a_proposal(), [backed_by("ann", account="ann")], by_link, SAY) == ""


@pytest.mark.parametrize("issuer", ["", "os:"])
def test_who_comes_from_an_account_that_nobody_noted_may_be_anybody_of_the_machine(
    issuer: str,
) -> None:
    found = obstacle(a_proposal(), [backed_by("ann")], somebody("bo", issuer=issuer), SAY)
    assert "nobody knows from which account" in found
    by = [backed_by("ann", issuer=issuer)]
    assert "nobody knows from which account" in obstacle(a_proposal(), by, somebody("bo"), SAY)
    both = [*by, backed_by("bo", issuer=issuer)]  # as an earlier build took them
    assert lacks(a_proposal(), both, SAY) == 1


def test_whoever_a_provider_vouches_for_is_no_account_of_the_machine() -> None:
    say = a_say(issuer=PROVIDER)
    by = [backed_by("ann", issuer=PROVIDER)]
    assert obstacle(a_proposal(), by, somebody("bo", account="root"), say) == ""
    assert obstacle(a_proposal(), by, somebody("bo", issuer=PROVIDER), say) == ""


def test_a_role_may_be_asked_for() -> None:
    assert obstacle(a_proposal(), [], somebody("bo"), a_say("security")) == (
        "bo has no role that may agree (`security`)"
    )
    assert stranger(somebody("bo"), a_say("lead", "security")) == ""


def test_a_role_of_another_tenant_opens_nothing() -> None:
    eve = somebody("eve", tenant="globex")
    for say in (a_say("lead"), a_say()):
        assert stranger(eve, say) == "eve is of a tenant whose people have no say in it"
    assert "`activation.tenant`" in stranger(somebody("ann"), a_say(tenant=""))


def test_who_may_not_agree_any_more_does_not_count() -> None:
    by = [backed_by("ann"), backed_by("bo")]
    assert standing(by, SAY) == tuple(by)
    gone = {("acme", "bo"): frozenset({"lead"})}
    assert standing(by, a_say(accounts=gone)) == (by[1],)
    lowered = {("acme", "ann"): frozenset({"viewer"}), **gone}
    assert lacks(a_proposal(), by, a_say("lead", accounts=lowered)) == 1
    assert lacks(a_proposal(), by, a_say(tenant="globex")) == 2


def test_a_login_at_a_provider_counts_as_long_as_that_provider_may_speak() -> None:
    by = [backed_by("ann", issuer=PROVIDER)]
    assert len(standing(by, a_say(issuer=PROVIDER))) == 1
    assert standing(by, a_say(issuer="https://other.example.com/")) == ()
    assert standing(by, a_say(issuer=PROVIDER, tenants=frozenset({"globex"}))) == ()


@pytest.mark.parametrize("state", [each for each in ProposalState if each != "open"])
def test_what_is_settled_stays_so(state: ProposalState) -> None:
    found = obstacle(a_proposal(state=state), [], somebody("bo"), SAY)
    assert found == f"it is {state.value} already"
