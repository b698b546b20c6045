import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from gateway.identity.keys import MAX_KEYS, KeysUnavailable, parse_keys
from tests.helpers.issuer import key_set, public_jwk, rsa_key

RSA = rsa_key()
RSA_ALGORITHMS = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}


def algorithms(jwk: dict[str, object]) -> set[str]:
    (key,) = parse_keys(key_set(jwk))
    return set(key.by_algorithm)


def test_a_key_is_tied_to_the_algorithms_of_its_kind() -> None:
    assert algorithms(public_jwk(RSA, "k")) == RSA_ALGORITHMS
    assert algorithms(public_jwk(ec.generate_private_key(ec.SECP256R1()), "k")) == {"ES256"}
    assert algorithms(public_jwk(ec.generate_private_key(ec.SECP384R1()), "k")) == {"ES384"}
    assert algorithms(public_jwk(ed25519.Ed25519PrivateKey.generate(), "k")) == {"EdDSA"}


def test_a_key_that_names_its_algorithm_serves_no_other() -> None:
    assert algorithms(public_jwk(RSA, "k", alg="PS384")) == {"PS384"}


UNUSABLE: dict[str, dict[str, object]] = {
    "symmetric": {"kty": "oct", "kid": "k", "k": "c2VjcmV0"},
    "for encryption": public_jwk(RSA, "k", use="enc"),
    "for signing only": {**public_jwk(RSA, "k"), "key_ops": ["sign"]},
    "named for encryption": public_jwk(RSA, "k", alg="RSA-OAEP"),
    "named symmetric": public_jwk(RSA, "k", alg="HS256"),
    "short": public_jwk(rsa_key(1024), "k"),
    "unknown curve": public_jwk(ec.generate_private_key(ec.SECP256K1()), "k"),
    "unknown kind": {"kty": "XYZ", "kid": "k"},
    "no kind": {"kid": "k"},
    "damaged": {**public_jwk(RSA, "k"), "n": "!"},
    "id is a number": {**public_jwk(RSA, None), "kid": 5},
}


@pytest.mark.parametrize("jwk", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_key_that_is_not_for_us_is_left_out_and_the_others_stay(jwk: dict[str, object]) -> None:
    (kept,) = parse_keys(key_set(jwk, public_jwk(RSA, "good")))
    assert kept.kid == "good"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"keys": {}}',
        b'{"keys": [1, "a", null]}',
        b'{"keys": [], "keys": []}',
        key_set(*[UNUSABLE["no kind"]] * (MAX_KEYS + 1)),
        json.dumps({"keys": [UNUSABLE["symmetric"]]}).encode(),
    ],
)
def test_a_text_without_a_usable_key_is_no_key_set(data: bytes) -> None:
    with pytest.raises(KeysUnavailable):
        parse_keys(data)
