from gateway.approvals.agreeing import Say
from gateway.config.activation import ActivationSettings
from gateway.config.admin import AccountSettings, AdminSettings, OidcSettings
from gateway.config.agreeing import say_of

PROVIDER = "https://id.example.com"


def an_account(user: str, tenant: str = "acme", *roles: str) -> AccountSettings:
    return AccountSettings(user=user, tenant=tenant, roles=frozenset(roles))


def say(*accounts: AccountSettings, oidc: dict[str, object] | None = None, **named: object) -> Say:
    entry = {"issuer": PROVIDER, "client_id": "w"} | (oidc or {})
    admin = AdminSettings(oidc=None if oidc is None else OidcSettings.model_validate(entry))
    return say_of(ActivationSettings.model_validate(named), admin, accounts)


def test_the_only_tenant_that_has_people_is_the_one_whose_people_agree() -> None:
    found = say(an_account("ann", "acme", "lead"), an_account("bo"), roles=["lead"])
    assert (found.tenant, found.roles, found.issuer) == ("acme", {"lead"}, "")
    assert found.accounts == {("acme", "ann"): {"lead"}, ("acme", "bo"): frozenset()}
    assert say(oidc={"tenant": "acme"}).tenant == "acme"
    assert say(an_account("ann"), oidc={"tenant": "acme"}).tenant == "acme"


def test_of_several_tenants_none_is_meant_unless_it_is_named() -> None:
    both = (an_account("ann"), an_account("eve", "globex"))
    assert say(*both).tenant == ""
    assert say(*both, tenant="acme").tenant == "acme"
    assert say(an_account("ann"), oidc={"tenant": "globex"}).tenant == ""
    assert say(an_account("ann"), oidc={"claims": {"tenant": "org"}}).tenant == ""  # any can come
    assert say().tenant == ""


def test_what_a_provider_may_speak_for_goes_with_it() -> None:
    found = say(oidc={"claims": {"tenant": "org"}, "tenants": ["acme", "globex"]}, tenant="acme")
    assert (found.issuer, found.tenants) == (PROVIDER, {"acme", "globex"})
