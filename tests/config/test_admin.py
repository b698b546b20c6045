from typing import Any

import pytest
from pydantic import ValidationError

from gateway.config.admin import AdminSettings
from gateway.config.settings import Settings

OIDC = {"issuer": "https://login.example.com/", "client_id": "weighbridge", "tenant": "acme"}


def admin(**keys: Any) -> AdminSettings:
    return AdminSettings.model_validate(keys)


def test_without_a_word_people_reach_it_on_this_machine_only() -> None:
    settings = admin()
    assert settings.is_local
    assert not settings.asks_who
    assert settings.url == "http://weighbridge.localhost:8701"
    assert settings.accepted_hosts == {"127.0.0.1:*", "weighbridge.localhost:*"}


def test_a_public_url_is_where_links_begin_and_is_served() -> None:
    settings = admin(public_url="https://Approvals.example.com/", hosts=["wb.internal"])
    assert settings.url == "https://approvals.example.com"
    assert settings.is_https
    assert not settings.is_local
    assert settings.accepted_hosts == {"approvals.example.com", "wb.internal", "127.0.0.1:*"}


def test_an_address_for_all_interfaces_is_no_name() -> None:
    assert admin(address="0.0.0.0:8701").accepted_hosts == frozenset()


@pytest.mark.parametrize("url", ["https://x.example/admin", "https://x.example?a", "ftp://x"])
def test_a_public_url_with_a_path_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        admin(public_url=url)


def test_a_user_of_a_tenant_is_named_once() -> None:
    ann, other = {"user": "ann", "tenant": "acme"}, {"user": "ann", "tenant": "globex"}
    assert len(admin(accounts=[ann, other]).accounts) == 2
    with pytest.raises(ValidationError, match="twice"):
        admin(accounts=[ann, {**ann, "user": "Ann"}])
    with pytest.raises(ValidationError, match="twice"):
        admin(accounts=[ann, {**ann, "user": "\uff21nn"}])


@pytest.mark.parametrize(
    ("change", "mend"),
    [
        ({"tenant": None}, "needs `claims.tenant` or a fixed `tenant`"),
        ({"claims": {"tenant": "org"}}, "and not both"),
        ({"tenants": ["acme"]}, "means nothing beside a fixed `tenant`"),
        ({"issuer": "http://login.example.com"}, "has to begin with `https://`"),
    ],
)
def test_a_provider_has_to_say_whose_people_it_knows(change: dict[str, Any], mend: str) -> None:
    with pytest.raises(ValidationError, match=mend):
        admin(oidc={**OIDC, **change})


def test_a_provider_of_several_tenants_names_them_by_a_claim() -> None:
    oidc = {**OIDC, "tenant": None, "claims": {"tenant": "org"}, "tenants": ["acme", "globex"]}
    found = admin(oidc=oidc).oidc
    assert found is not None
    assert found.tenants == {"acme", "globex"}


KEY = {"id": "desk", "hash": "sha256:" + "0" * 64, "user": "svc", "tenant": "acme"}


def test_a_key_for_programs_opens_something() -> None:
    settings = admin(api_keys=[{**KEY, "scopes": ["run:read", "crm:read"]}])
    assert settings.api_keys[0].scopes == {"run:read", "crm:read"}
    for scopes in ([], ["crm:read"]):
        with pytest.raises(ValidationError, match="run:manage"):
            admin(api_keys=[{**KEY, "scopes": scopes}])
    with pytest.raises(ValidationError, match="required"):
        admin(api_keys=[KEY])


def test_no_two_keys_for_programs_share_an_id_or_a_hash() -> None:
    one = {**KEY, "scopes": ["run:read"]}
    for other in ({**one, "hash": "sha256:" + "1" * 64}, {**one, "id": "other"}):
        with pytest.raises(ValidationError, match="same"):
            admin(api_keys=[one, other])


def test_who_acts_locally_decides_where_nobody_else_is_named() -> None:
    local = {"local": {"user": "sam", "tenant": "acme", "roles": ["lead"]}}
    (account,) = Settings.model_validate({"identity": local}).accounts
    assert (account.user, account.tenant, account.roles) == ("sam", "acme", {"lead"})


def test_who_acts_locally_does_not_decide_beside_named_people() -> None:
    ann = {"user": "ann", "tenant": "acme"}
    (account,) = Settings.model_validate({"admin": {"accounts": [ann]}}).accounts
    assert account.user == "ann"
    assert Settings.model_validate({"admin": {"oidc": OIDC}}).accounts == ()
