import pytest

from gateway.config.identity import JwtSettings
from gateway.identity.challenge import Rejected
from gateway.identity.claims import find, principal
from gateway.types.json import Json, JsonObject

CLAIMS: JsonObject = {
    "sub": "ann",
    "org": {"id": "acme", "a/b": "slash"},
    "https://acme.example/tenant": "acme-url",
    "a.b": "exact",
    "a": {"b": "nested"},
    "realm_access": {"roles": ["clerk"]},
}


def an_issuer(**settings: object) -> JwtSettings:
    base = {"issuer": "https://i.example", "audience": "us", "jwks_url": "https://i.example/k"}
    return JwtSettings.model_validate({**base, "tenant": "acme", **settings})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("sub", "ann"),
        ("/org/id", "acme"),
        ("org.id", "acme"),
        ("/org/a~1b", "slash"),
        ("https://acme.example/tenant", "acme-url"),
        ("a.b", "exact"),
        ("/a/b", "nested"),
        ("realm_access.roles", ["clerk"]),
        ("org.none", None),
        ("sub.none", None),
        ("/realm_access/roles/0", None),
    ],
)
def test_a_claim_is_found_by_name_pointer_or_dotted_path(path: str, value: Json) -> None:
    assert find(CLAIMS, path) == value


def test_scopes_are_a_text_with_blanks_and_roles_are_not() -> None:
    who = principal({"sub": "a", "scope": "x y  z", "roles": "team lead"}, an_issuer())
    assert who.scopes == {"x", "y", "z"}
    assert who.roles == {"team lead"}


def test_absent_roles_and_scopes_are_none_at_all() -> None:
    who = principal({"sub": "a"}, an_issuer())
    assert (who.roles, who.scopes, who.client) == (frozenset(), frozenset(), "")


def test_a_numbered_tenant_is_a_name_and_a_truth_value_is_not() -> None:
    issuer = an_issuer(tenant=None, claims={"tenant": "org"})
    assert principal({"sub": "a", "org": 42}, issuer).tenant == "42"
    with pytest.raises(Rejected, match="not a name"):
        principal({"sub": "a", "org": True}, issuer)


def test_a_fixed_tenant_overrules_what_a_token_says() -> None:
    assert principal({"sub": "a", "tenant": "globex"}, an_issuer()).tenant == "acme"


def test_the_authorized_party_stands_in_for_a_missing_client() -> None:
    assert principal({"sub": "a", "azp": "desk"}, an_issuer()).client == "desk"


def test_a_missing_scope_is_a_403_that_names_all_that_are_needed() -> None:
    """case: AUT-05"""
    issuer = an_issuer(required_scopes=["tools:use", "tools:list"])
    with pytest.raises(Rejected) as caught:
        principal({"sub": "a", "scope": "tools:use"}, issuer)
    assert (caught.value.status, caught.value.error) == (403, "insufficient_scope")
    assert caught.value.scopes == ("tools:use", "tools:list")


@pytest.mark.parametrize("roles", [["a", 1], [["a"]], {"a": True}, True, ["a\n"], ["x"] * 1001])
def test_roles_of_the_wrong_form_are_rejected_and_not_ignored(roles: Json) -> None:
    with pytest.raises(Rejected, match="roles are not a list"):
        principal({"sub": "a", "roles": roles}, an_issuer())
