"""Who somebody is by now."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.config.identity import ApiKeySettings, LocalSettings
from gateway.identity.apikeys import principal_of
from gateway.identity.local import local_principal
from gateway.identity.standing import Standing
from gateway.types.calls import AuthMethod, Principal

NOW = datetime(2026, 11, 30, tzinfo=UTC)
KEY = ApiKeySettings(
    id="k1", hash="sha256:" + "0" * 64, user="ana", tenant="acme", roles=frozenset({"desk"})
)
LOCAL = LocalSettings(user="lo", roles=frozenset({"desk"}))


def standing(*keys: ApiKeySettings) -> Standing:
    return Standing(keys={each.id: each for each in keys}, local=LOCAL, issuers={"https://idp"})


def a_token(issuer: str) -> Principal:
    return replace(principal_of(KEY), issuer=issuer, method=AuthMethod.JWT)


def test_a_key_has_the_rights_of_now() -> None:
    then = replace(principal_of(KEY), roles=frozenset({"desk", "chief"}))
    today = standing(KEY).today(then, NOW)
    assert today is not None
    assert today.roles == {"desk"}


@pytest.mark.parametrize(
    "now",
    [
        standing(),
        standing(KEY.model_copy(update={"expires": NOW - timedelta(seconds=1)})),
        standing(KEY.model_copy(update={"user": "eve"})),
        standing(KEY.model_copy(update={"tenant": "other"})),
    ],
    ids=["removed", "expired", "of another user", "of another tenant"],
)
def test_a_key_that_is_not_what_it_was_is_nobodys(now: Standing) -> None:
    assert now.today(principal_of(KEY), NOW) is None


def test_who_acts_locally_is_who_the_configuration_says() -> None:
    then = replace(local_principal(LOCAL), roles=frozenset({"chief"}))
    today = standing().today(then, NOW)
    assert today is not None
    assert today.roles == {"desk"}
    assert standing().today(replace(then, user="other"), NOW) is None


def test_a_token_counts_as_long_as_its_issuer_does() -> None:
    assert standing().today(a_token("https://idp"), NOW) == a_token("https://idp")
    assert standing().today(a_token("https://gone"), NOW) is None
