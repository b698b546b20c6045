import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from gateway.config.identity import JwtSettings
from gateway.identity.challenge import Rejected
from gateway.identity.jwks import FileKeys
from gateway.identity.tokens import Issuer, Tokens
from gateway.types.calls import AuthMethod
from tests.helpers.issuer import (
    AUDIENCE,
    NOW,
    PrivateKey,
    good_claims,
    key_set,
    public_jwk,
    raw_token,
    rsa_key,
    sign,
)

ISSUER = "https://login.example.com/"
PARTNER = "https://partner.example.net"
RSA, OTHER_RSA, PARTNER_RSA = rsa_key(), rsa_key(), rsa_key()
P256, ED = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
NOW_S = NOW.timestamp()


def an_issuer(path: Path, keys: bytes, **settings: Any) -> Issuer:
    path.write_bytes(keys)
    entry = JwtSettings.model_validate(
        {
            "issuer": ISSUER,
            "audience": AUDIENCE,
            "jwks_file": str(path),
            "claims": {"tenant": "/org/id"},
            **settings,
        }
    )
    return Issuer(entry=entry, source=FileKeys(path))


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    ours = key_set(public_jwk(RSA, "k1"), public_jwk(P256, "k2"), public_jwk(ED, "k3"))
    return Tokens(
        [
            an_issuer(tmp_path / "ours.json", ours, tenants=["acme"]),
            an_issuer(
                tmp_path / "partner.json",
                key_set(public_jwk(PARTNER_RSA, "p1")),
                issuer=PARTNER,
                tenants=["partner"],
            ),
        ]
    )


def hmac_with_public_key() -> str:
    """The public key, which anybody has, used as the secret of a symmetric signature."""
    secret = RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    body = raw_token({"alg": "HS256", "kid": "k1"}, good_claims(ISSUER)).rpartition(".")[0]
    mac = hmac.new(secret, body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def tampered() -> str:
    head, _, signature = sign(good_claims(ISSUER), RSA).split(".")
    payload = json.dumps(good_claims(ISSUER, sub="root")).encode()
    return f"{head}.{base64.urlsafe_b64encode(payload).rstrip(b'=').decode()}.{signature}"


def signed(key: PrivateKey = RSA, kid: str | None = "k1", **changes: object) -> str:
    return sign(good_claims(ISSUER, **changes), key, kid=kid)


BAD = {
    "audience of another": signed(aud="https://other.example.com"),
    "no audience": signed(aud=None),
    "audience list without us": signed(aud=["https://a.example", "https://b.example"]),
    "audience is a prefix of ours": signed(aud=AUDIENCE[:-1]),
    "audience is a map": signed(aud={AUDIENCE: True}),
    "unknown issuer": sign(good_claims("https://evil.example"), RSA),
    "no issuer": signed(iss=None),
    "issuer without its slash": sign(good_claims(ISSUER.rstrip("/")), RSA),
    "expired": signed(exp=NOW_S - 61),
    "no expiry": signed(exp=None),
    "expiry is a text": signed(exp="never"),
    "not before later": signed(nbf=NOW_S + 61),
    "issued later": signed(iat=NOW_S + 61),
    "algorithm none": raw_token({"alg": "none"}, good_claims(ISSUER), b""),
    "algorithm none, signed": raw_token({"alg": "none", "kid": "k1"}, good_claims(ISSUER)),
    "algorithm None": raw_token({"alg": "None", "kid": "k1"}, good_claims(ISSUER)),
    "no algorithm": raw_token({"kid": "k1"}, good_claims(ISSUER)),
    "symmetric, with the public key": hmac_with_public_key(),
    "algorithm not pinned": sign(good_claims(ISSUER), RSA, alg="RS512"),
    "algorithm of another kind of key": raw_token(
        {"alg": "ES256", "kid": "k1"}, good_claims(ISSUER)
    ),
    "unknown key": signed(kid="k9"),
    "key id is a path": signed(kid="../../dev/null"),
    "key id is a number": raw_token({"alg": "RS256", "kid": 1}, good_claims(ISSUER)),
    "the key of another issuer": signed(PARTNER_RSA, kid="p1"),
    "another key under our id": signed(OTHER_RSA),
    "key of the token's own": sign(
        good_claims(ISSUER), OTHER_RSA, jwk=public_jwk(OTHER_RSA, "k1"), jku="https://evil.example"
    ),
    "tenant of another issuer": sign(
        good_claims(PARTNER, org={"id": "acme"}), PARTNER_RSA, kid="p1"
    ),
    "tenant that nobody serves": signed(org={"id": "globex"}),
    "no tenant": signed(org=None),
    "empty tenant": signed(org={"id": ""}),
    "tenant is a list": signed(org={"id": ["acme"]}),
    "no user": signed(sub=None),
    "user with a line break": signed(sub="ann\nrole: admin"),
    "roles are a number": signed(roles=7),
    "a role is a map": signed(roles=["clerk", {"name": "admin"}]),
    "ID token by its hash": signed(at_hash="abc"),
    "ID token by its claim": signed(typ="ID"),
    "refresh token": signed(typ="Refresh"),
    "logout token": sign(good_claims(ISSUER), RSA, typ="logout+jwt"),
    "bound to a key": signed(cnf={"jkt": "abc"}),
    "critical extension": sign(good_claims(ISSUER), RSA, crit=["exp"]),
    "changed after signing": tampered(),
    "signature cut off": signed().rpartition(".")[0] + ".",
    "two parts": signed().rpartition(".")[0],
    "five parts (encrypted)": "a.b.c.d.e",
    "not base64": "a.b!.c",
    "not JSON": raw_token(b"{", b"{"),
    "not an object": raw_token([1], [2]),
    "duplicate claim": raw_token(
        b'{"alg":"RS256","kid":"k1"}',
        json.dumps(good_claims(ISSUER)).encode()[:-1] + b',"sub":"root"}',
    ),
    "expiry is not a number in JSON": raw_token(
        b'{"alg":"RS256","kid":"k1"}', b'{"iss":"https://login.example.com/","exp":NaN}'
    ),
    "nested without end": raw_token(b"[" * 5000, b"{}"),
    "very long": signed(note="x" * 20_000),
}


# Why each is rejected: a token that fails for another fault than its own proves nothing.
REASONS = {
    "audience of another": "audience is another",
    "no audience": "audience is another",
    "audience list without us": "audience is another",
    "audience is a prefix of ours": "audience is another",
    "audience is a map": "audience is another",
    "unknown issuer": "issuer that is not accepted",
    "no issuer": "issuer that is not accepted",
    "issuer without its slash": "issuer that is not accepted",
    "expired": "has expired",
    "no expiry": "no usable `exp`",
    "expiry is a text": "no usable `exp`",
    "not before later": "not valid yet",
    "issued later": "not valid yet",
    "algorithm none": "not well-formed",
    "algorithm none, signed": "algorithm that is not accepted",
    "algorithm None": "algorithm that is not accepted",
    "no algorithm": "algorithm that is not accepted",
    "symmetric, with the public key": "algorithm that is not accepted",
    "algorithm not pinned": "algorithm that is not accepted",
    "algorithm of another kind of key": "does not publish",
    "unknown key": "does not publish",
    "key id is a path": "does not publish",
    "key id is a number": "not well-formed",
    "the key of another issuer": "does not publish",
    "another key under our id": "signature does not hold",
    "key of the token's own": "signature does not hold",
    "tenant of another issuer": "may not speak for",
    "tenant that nobody serves": "may not speak for",
    "no tenant": "names no tenant",
    "empty tenant": "names no tenant",
    "tenant is a list": "tenant is not a name",
    "no user": "names no user",
    "user with a line break": "user is not a name",
    "roles are a number": "roles are not a list",
    "a role is a map": "roles are not a list",
    "ID token by its hash": "not an access token",
    "ID token by its claim": "not an access token",
    "refresh token": "not an access token",
    "logout token": "not an access token",
    "bound to a key": "bound to a key",
    "critical extension": "extensions",
    "changed after signing": "signature does not hold",
    "signature cut off": "not well-formed",
    "two parts": "neither an API key nor",
    "five parts (encrypted)": "neither an API key nor",
    "not base64": "not well-formed",
    "not JSON": "not well-formed",
    "not an object": "not well-formed",
    "duplicate claim": "not well-formed",
    "expiry is not a number in JSON": "not well-formed",
    "nested without end": "not well-formed",
    "very long": "neither an API key nor",
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_token_is_rejected_with_a_reason_that_holds_nothing_of_it(
    tokens: Tokens, name: str
) -> None:
    """case: AUT-05"""
    token = BAD[name]
    with pytest.raises(Rejected) as caught:
        await tokens.verify(token, now=NOW)
    assert (caught.value.status, caught.value.error) == (401, "invalid_token")
    assert REASONS[name] in caught.value.reason
    assert not any(part in caught.value.reason for part in token.split(".") if len(part) > 8)


@pytest.mark.parametrize(
    ("key", "alg", "kid"), [(RSA, "RS256", "k1"), (P256, "ES256", "k2"), (ED, "EdDSA", "k3")]
)
async def test_a_good_token_of_each_pinned_algorithm_is_accepted(
    tokens: Tokens, key: PrivateKey, alg: str, kid: str
) -> None:
    verified = await tokens.verify(sign(good_claims(ISSUER), key, alg=alg, kid=kid), now=NOW)
    assert verified.expires == NOW_S + 300
    who = verified.principal
    assert (who.issuer, who.subject, who.user, who.tenant) == (ISSUER, "ann", "ann", "acme")
    assert who.client == "desk-agent"
    assert who.roles == {"clerk", "auditor"}
    assert who.scopes == {"tools:use", "crm:read"}
    assert who.method is AuthMethod.JWT


GOOD = {
    "audience list with us": signed(aud=["https://a.example", AUDIENCE]),
    "expired within the skew": signed(exp=NOW_S - 59),
    "not before within the skew": signed(nbf=NOW_S + 59),
    "no issue time": signed(iat=None),
    "access token by its type": sign(good_claims(ISSUER), RSA, typ="at+jwt"),
    "type in capitals": sign(good_claims(ISSUER), RSA, typ="JWT"),
    "another issuer for its own tenant": sign(
        good_claims(PARTNER, org={"id": "partner"}), PARTNER_RSA, kid="p1"
    ),
    "no key id, one key of the kind": signed(kid=None),
}


@pytest.mark.parametrize("token", GOOD.values(), ids=GOOD.keys())
async def test_a_token_at_the_edge_of_the_rules_is_accepted(tokens: Tokens, token: str) -> None:
    assert (await tokens.verify(token, now=NOW)).principal.user == "ann"


async def test_the_setting_at_jwt_refuses_tokens_that_do_not_say_so(tmp_path: Path) -> None:
    keys = key_set(public_jwk(RSA, "k1"))
    strict = Tokens([an_issuer(tmp_path / "k.json", keys, token_type="at+jwt")])
    with pytest.raises(Rejected, match="not an access token"):
        await strict.verify(signed(), now=NOW)
    typed = sign(good_claims(ISSUER), RSA, typ="application/at+jwt")
    assert (await strict.verify(typed, now=NOW)).principal.user == "ann"


async def test_without_a_key_id_there_must_be_no_choice_of_keys(tmp_path: Path) -> None:
    keys = key_set(public_jwk(RSA, "k1"), public_jwk(OTHER_RSA, "k2"))
    two = Tokens([an_issuer(tmp_path / "k.json", keys)])
    with pytest.raises(Rejected, match="does not publish"):
        await two.verify(signed(kid=None), now=NOW)


async def test_a_key_serves_only_the_algorithm_that_its_set_names(tmp_path: Path) -> None:
    keys = key_set(public_jwk(RSA, "k1", alg="PS256"))
    tokens = Tokens([an_issuer(tmp_path / "k.json", keys, algorithms=["RS256", "PS256"])])
    with pytest.raises(Rejected, match="does not publish"):
        await tokens.verify(signed(), now=NOW)
    pss = sign(good_claims(ISSUER), RSA, alg="PS256")
    assert (await tokens.verify(pss, now=NOW)).principal.user == "ann"


async def test_missing_keys_are_no_reason_to_call_a_token_bad(tmp_path: Path) -> None:
    issuer = an_issuer(tmp_path / "k.json", b"{}")
    with pytest.raises(Rejected) as caught:
        await Tokens([issuer]).verify(signed(), now=NOW)
    assert (caught.value.status, caught.value.error) == (503, "unavailable")
    assert caught.value.retry_after_s == 10.0


async def test_the_clock_of_the_caller_decides_and_not_that_of_the_machine(tokens: Tokens) -> None:
    long_ago = datetime(2001, 1, 1, tzinfo=UTC)
    token = signed(exp=long_ago.timestamp() + 10, iat=long_ago.timestamp())
    assert (await tokens.verify(token, now=long_ago)).principal.user == "ann"
