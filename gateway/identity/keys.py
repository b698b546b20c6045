"""Public keys of an issuer out of a JWK Set (RFC 7517), each tied to the algorithms it is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from gateway import jsontext
from gateway.errors import JsonError, WeighbridgeError
from gateway.types.json import Json, JsonObject

MAX_BYTES: Final = 256 << 10
MAX_KEYS: Final = 100
_LEAST_RSA_BITS: Final = 2048
_PRIVATE: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth"})
_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_FIRST: Final = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}


class KeysUnavailable(WeighbridgeError):
    """The keys of an issuer can't be had; tokens are neither good nor bad until they can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One public key that may verify signatures of the named algorithms."""

    kid: str
    by_algorithm: Mapping[str, PyJWK]


def parse_keys(data: bytes) -> tuple[Key, ...]:
    """Return the usable keys of a JWK Set (RFC 7517); others are left out, as section 5 asks.

    Raises KeysUnavailable when the text is no JWK Set or holds no usable key.
    """
    try:
        document = jsontext.parse(data, max_bytes=MAX_BYTES)
    except JsonError as error:
        raise KeysUnavailable(f"the key set is not JSON: {error}") from error
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list) or len(entries) > MAX_KEYS:
        raise KeysUnavailable(f"not a key set: it needs a list `keys` of at most {MAX_KEYS} keys")
    keys = tuple(key for entry in entries if (key := _key(entry)) is not None)
    if not keys:
        raise KeysUnavailable("the key set holds no public key for signatures")
    return keys


def _key(entry: Json) -> Key | None:
    if not isinstance(entry, dict) or entry.get("kty") == "oct":
        return None
    kid, use, operations = entry.get("kid", ""), entry.get("use", "sig"), entry.get("key_ops")
    if not isinstance(kid, str) or use != "sig":
        return None
    if operations is not None and not (isinstance(operations, list) and "verify" in operations):
        return None
    public: JsonObject = {name: item for name, item in entry.items() if name not in _PRIVATE}
    algorithms = _algorithms(public)
    if "alg" in entry:
        algorithms = tuple(name for name in algorithms if name == entry["alg"])
    if not algorithms:
        return None
    return Key(kid=kid, by_algorithm={name: PyJWK(public, name) for name in algorithms})


def _algorithms(jwk: JsonObject) -> tuple[str, ...]:
    """Return the algorithms that this kind of key is for; a key never serves another kind."""
    kind = jwk.get("kty")
    first = _FIRST.get(kind) if isinstance(kind, str) else None
    if kind == "EC" and jwk.get("crv") == "P-384":
        first = "ES384"
    if first is None:
        return ()
    try:
        key: object = PyJWK(jwk, first).key
    except (PyJWTError, ValueError, TypeError):
        return ()
    match key:
        case rsa.RSAPublicKey():
            return _RSA if key.key_size >= _LEAST_RSA_BITS else ()
        case ec.EllipticCurvePublicKey():
            curve = {"secp256r1": ("ES256",), "secp384r1": ("ES384",)}
            return curve.get(key.curve.name, ())
        case ed25519.Ed25519PublicKey() | ed448.Ed448PublicKey():
            return ("EdDSA",)
        case _:
            return ()
