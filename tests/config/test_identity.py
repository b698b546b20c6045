from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from gateway.config.identity import ApiKeySettings, IdentitySettings, JwtSettings

KEY = {"id": "a", "hash": f"sha256:{'0' * 64}", "user": "u", "tenant": "t"}
ISSUER = {
    "issuer": "https://i.example",
    "audience": "us",
    "jwks_url": "https://i.example/keys",
    "tenant": "t",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"audience": []}, "is empty"),
        ({"audience": ""}, "is empty"),
        ({"algorithms": ["none"]}, "names `none`"),
        ({"algorithms": ["HS256"]}, "names `HS256`"),
        ({"algorithms": ["RS256", "hs512"]}, "names `hs512`"),
        ({"algorithms": []}, "is empty"),
        ({"algorithms": ["RS1"]}, "RS256"),
        ({"jwks_file": "k.json"}, "`jwks_url` or `jwks_file`"),
        ({"jwks_url": None}, "`jwks_url` or `jwks_file`"),
        ({"jwks_url": "http://i.example/keys"}, "https://"),
        ({"issuer": "http://i.example"}, "https://"),
        ({"tenant": None}, "`claims.tenant` or a fixed `tenant`"),
        ({"claims": {"tenant": "org"}}, "`claims.tenant` or a fixed `tenant`"),
        ({"tenants": ["t"]}, "beside a fixed `tenant`"),
        ({"clock_skew": "1h"}, "less than or equal to 300"),
        ({"claims": {"user": "/a~2b"}}, "not a JSON Pointer"),
        ({"verify": False}, "Extra inputs"),
    ],
)
def test_an_issuer_that_would_prove_too_little_is_refused(
    change: dict[str, object], said: str
) -> None:
    """case: CFG-01"""
    with pytest.raises(ValidationError) as caught:
        JwtSettings.model_validate({**ISSUER, **change})
    assert said in str(caught.value)


def test_the_audience_has_no_default() -> None:
    without = {name: value for name, value in ISSUER.items() if name != "audience"}
    with pytest.raises(ValidationError, match="audience"):
        JwtSettings.model_validate(without)


def test_keys_over_plain_http_are_for_this_machine_only() -> None:
    entry = {**ISSUER, "jwks_url": "http://127.0.0.1:9/keys", "issuer": "http://localhost:9"}
    assert JwtSettings.model_validate(entry).jwks_url == "http://127.0.0.1:9/keys"


def test_several_issuers_may_not_speak_for_each_others_tenants() -> None:
    other = {**ISSUER, "issuer": "https://j.example", "tenant": None, "claims": {"tenant": "org"}}
    with pytest.raises(ValidationError, match="each needs `tenant` or `tenants`"):
        IdentitySettings.model_validate({"jwt": [ISSUER, other]})
    apart = {**other, "tenants": ["globex"]}
    assert IdentitySettings.model_validate({"jwt": [ISSUER, apart]}).authenticates
    with pytest.raises(ValidationError, match="same `issuer` twice"):
        IdentitySettings.model_validate({"jwt": [ISSUER, ISSUER]})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hash": "0" * 64}, "is not the hash of a key"),
        ({"hash": "wb_a_" + "0" * 64}, "is not the hash of a key"),
        ({"id": "a_b"}, "is not a key id"),
        ({"user": ""}, "is not a name"),
        ({"tenant": "a\nb"}, "is not a name"),
        ({"scopes": ["a b"]}, "is not a scope"),
        ({"roles": "admin"}, "has to be a list"),
        ({"expires": "2027-12-31T00:00:00"}, "is not a time"),
        ({"expires": "soon"}, "is not a time"),
        ({"expires": 20271231}, "is not a time"),
        ({"tenant": None}, "tenant"),
    ],
)
def test_a_key_entry_with_a_fault_is_refused_without_showing_it(
    change: dict[str, object], said: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        ApiKeySettings.model_validate({**KEY, **change})
    assert said in str(caught.value)
    assert "wb_a_" not in str(caught.value)


def test_two_keys_with_one_id_or_one_hash_are_refused() -> None:
    with pytest.raises(ValidationError, match="same `id`"):
        IdentitySettings.model_validate({"api_keys": [KEY, {**KEY, "hash": f"sha256:{'1' * 64}"}]})
    with pytest.raises(ValidationError, match="same `hash`"):
        IdentitySettings.model_validate({"api_keys": [KEY, {**KEY, "id": "b"}]})


def test_a_date_is_midnight_in_utc_and_a_time_keeps_its_moment() -> None:
    day = ApiKeySettings.model_validate({**KEY, "expires": "2027-12-31"})
    assert day.expires == datetime(2027, 12, 31, tzinfo=UTC)
    moment = ApiKeySettings.model_validate({**KEY, "expires": "2027-12-31T02:00:00+02:00"})
    assert moment.expires == datetime(2027, 12, 31, tzinfo=UTC)
