"""Who gives a command."""

import os
import pwd

import pytest

from gateway.cli.people import approver, who
from gateway.config.admin import AccountSettings
from gateway.types.approvals import Assurance, Channel


def test_a_name_that_is_given_stands_beside_the_user_of_the_machine() -> None:
    account = pwd.getpwuid(os.getuid()).pw_name
    assert (who(" ann ").by, who("ann").account) == ("ann", account)
    assert (who("").by, who("").account) == (account, account)


def test_what_the_environment_says_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    before = who("").account
    monkeypatch.setenv("USER", "mallory")
    monkeypatch.setenv("LOGNAME", "mallory")
    assert who("").account == before


def test_a_user_without_a_name_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    assert who("").account == "uid 4000000001"


ACCOUNTS = [
    AccountSettings(user="lea", tenant="acme", roles=frozenset({"lead"})),
    AccountSettings(user="lea", tenant="globex"),
    AccountSettings(user="bo", tenant="acme"),
]


def test_who_decides_is_an_account_with_the_user_of_the_machine_beside_it() -> None:
    found = approver(ACCOUNTS, "lea", "acme")
    assert (found.user, found.tenant, found.roles) == ("lea", "acme", {"lead"})
    assert (found.channel, found.assurance) == (Channel.TERMINAL, Assurance.LOCAL)
    assert found.issuer == f"os:{who('').account}"


def test_where_users_share_a_name_the_tenant_of_the_request_counts() -> None:
    assert approver(ACCOUNTS, "lea", "globex").tenant == "globex"
    assert approver(ACCOUNTS, "bo", "globex").tenant == "acme"


def test_without_a_name_the_only_account_or_the_one_of_the_machine_is_meant() -> None:
    assert approver(ACCOUNTS[2:], "", "acme").user == "bo"
    own = AccountSettings(user=who("").account, tenant="acme")
    assert approver([*ACCOUNTS, own], "", "acme").user == who("").account


@pytest.mark.parametrize(
    ("accounts", "name", "said"),
    [
        (ACCOUNTS, "mallory", "`mallory` is not among `admin.accounts`; `lea`, `bo` may"),
        (ACCOUNTS, "LEA", "`LEA` is not among"),
        (ACCOUNTS, "", "say who does it with `--as`; `lea`, `bo` may"),
        (ACCOUNTS[1:2], "kim", "no account of `acme` may"),
        ([], "lea", "there are no `admin.accounts`"),
    ],
)
def test_nobody_decides_under_a_name_that_is_no_account(
    accounts: list[AccountSettings], name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        approver(accounts, name, "acme")
    assert said in capsys.readouterr().err
