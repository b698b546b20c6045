"""Who gives a command."""

import os
import pwd

import pytest

from gateway.cli.people import who


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
