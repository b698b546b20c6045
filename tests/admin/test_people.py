from gateway.admin.people import People, named
from gateway.config.admin import AccountSettings
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.values import replaced

ACCOUNTS = tuple(
    AccountSettings.model_validate(each)
    for each in (
        {"user": "ann", "tenant": "acme", "roles": ["lead"]},
        {"user": "ann", "tenant": "globex"},
        {"user": "ben", "tenant": "acme"},
    )
)
PROVIDED = Approver(
    tenant="acme",
    user="ann",
    roles=frozenset({"cfo"}),
    assurance=Assurance.AUTHENTICATED,
    channel=Channel.PAGE,
    issuer="https://login.example.com/",
)


def test_an_account_is_of_one_tenant_and_worth_what_a_local_login_is() -> None:
    people = People(accounts=ACCOUNTS)
    found = people.account("acme", "ann")
    assert found is not None
    assert (found.roles, found.assurance, found.issuer) == ({"lead"}, Assurance.LOCAL, "")
    assert people.account("globex", "ben") is None
    assert people.account("acme", "Ann") is None


def test_a_local_login_has_the_roles_of_today() -> None:
    people = People(accounts=ACCOUNTS)
    once = replaced(PROVIDED, issuer="", roles=frozenset({"cfo"}))
    today = people.of_today(once)
    assert today is not None
    assert today.roles == {"lead"}
    assert people.of_today(replaced(once, user="zoe")) is None


def test_who_made_the_link_of_a_login_stays_behind_it() -> None:
    today = People(accounts=ACCOUNTS).of_today(replaced(PROVIDED, issuer="os:root"))
    assert today is not None
    assert (today.issuer, today.account, today.roles) == ("os:root", "root", {"lead"})


def test_a_login_at_a_provider_lasts_while_that_provider_is_configured() -> None:
    assert People(accounts=(), issuer=PROVIDED.issuer).of_today(PROVIDED) == PROVIDED
    for other in ("", "https://other.example.com/"):
        assert People(accounts=ACCOUNTS, issuer=other).of_today(PROVIDED) is None


def test_a_login_counts_for_nothing_once_its_provider_may_not_speak_for_the_tenant() -> None:
    for tenants, is_in in ((["acme", "globex"], True), (["globex"], False)):
        people = People(accounts=(), issuer=PROVIDED.issuer, tenants=frozenset(tenants))
        assert (people.of_today(PROVIDED) is not None) is is_in


def test_accounts_are_found_by_what_is_said_of_them() -> None:
    assert named(ACCOUNTS, "ben", "") == [ACCOUNTS[2]]
    assert len(named(ACCOUNTS, "ann", "")) == 2
    assert named(ACCOUNTS, "ann", "globex") == [ACCOUNTS[1]]
    assert named(ACCOUNTS, "", "") == [*ACCOUNTS]
    assert named(ACCOUNTS, "zoe", "") == []
