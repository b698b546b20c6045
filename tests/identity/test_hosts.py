"""Who manages runs over `/v1`."""

import pytest

from gateway.config.admin import AdminKeySettings
from gateway.identity.apikeys import ADMIN_PREFIX, hash_key, new_api_key
from gateway.identity.hosts import Hosts, Unknown
from gateway.types.calls import Principal
from tests.helpers.issuer import HandClock

KEY = new_api_key("ci", user="u", tenant="t", prefix=ADMIN_PREFIX).key
AGENTS = new_api_key("ci", user="u", tenant="t").key


def hosts(**changes: object) -> Hosts:
    entry = {"id": "ci", "hash": hash_key(KEY), "user": "svc", "tenant": "acme"}
    given = {**entry, "scopes": ["run:read"], **changes}
    return Hosts([AdminKeySettings.model_validate(given)], clock=HandClock())


def shown(*values: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", value.encode()) for value in values]


def test_a_key_says_whose_runs_it_is_for() -> None:
    who = hosts().authenticate(shown(f"bearer {KEY}"))
    assert isinstance(who, Principal)
    assert (who.issuer, who.user, who.tenant, who.client) == ("admin.api_keys", "svc", "acme", "ci")
    assert who.scopes == {"run:read"}


@pytest.mark.parametrize(
    "value",
    [
        f"Bearer {AGENTS}",
        f"Bearer {KEY[:-1]}",
        f"Basic {KEY}",
        KEY,
        "Bearer",
        f"Bearer {KEY.replace('wba_', 'wb_')}",
    ],
)
def test_anything_else_is_unknown_and_nothing_of_it_is_repeated(value: str) -> None:
    found = hosts().authenticate(shown(value))
    assert isinstance(found, Unknown)
    assert found.was_shown
    assert "ci" not in found.reason


def test_the_agents_key_of_the_same_hash_does_not_open_it_either() -> None:
    with_agents_hash = hosts(hash=hash_key(AGENTS))
    assert isinstance(with_agents_hash.authenticate(shown(f"Bearer {AGENTS}")), Unknown)


def test_two_credentials_are_none_and_none_is_no_attempt() -> None:
    found = hosts().authenticate(shown(f"Bearer {KEY}", f"Bearer {KEY}"))
    assert isinstance(found, Unknown)
    nothing = hosts().authenticate([(b"cookie", b"weighbridge=x"), (b"x-api-key", KEY.encode())])
    assert isinstance(nothing, Unknown)
    assert not nothing.was_shown


def test_a_key_that_has_expired_is_unknown() -> None:
    found = hosts(expires="2020-01-01").authenticate(shown(f"Bearer {KEY}"))
    assert found == Unknown(reason="the API key has expired", was_shown=True)
