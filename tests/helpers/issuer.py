"""An issuer of access tokens on a real socket, and a clock that tests move by hand."""

import base64
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
AUDIENCE = "https://tools.example.com/mcp"

PrivateKey: TypeAlias = "rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey"
Claims: TypeAlias = "dict[str, Any]"


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self._passed = 0.0

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self._passed)

    def time_ns(self) -> int:
        return round(self.now().timestamp() * 1_000_000_000)

    def monotonic(self) -> float:
        return 1000.0 + self._passed

    def move(self, seconds: float) -> None:
        self._passed += seconds


def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=bits)


def public_jwk(key: PrivateKey, kid: str | None, **more: object) -> dict[str, object]:
    public = key.public_key()
    if isinstance(public, rsa.RSAPublicKey):
        text = RSAAlgorithm.to_jwk(public)
    elif isinstance(public, ec.EllipticCurvePublicKey):
        text = ECAlgorithm.to_jwk(public)
    else:
        text = OKPAlgorithm.to_jwk(public)
    fields: dict[str, object] = {**json.loads(text), **more}
    fields.pop("key_ops", None)
    return fields if kid is None else {**fields, "kid": kid}


def key_set(*keys: dict[str, object]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def good_claims(issuer: str, **changes: object) -> Claims:
    """Claims that are accepted; a change to None removes one."""
    now = NOW.timestamp()
    claims: Claims = {
        "iss": issuer,
        "aud": AUDIENCE,
        "sub": "ann",
        "exp": now + 300,
        "iat": now - 5,
        "org": {"id": "acme"},
        "roles": ["clerk", "auditor"],
        "scope": "tools:use crm:read",
        "client_id": "desk-agent",
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not None}


def sign(
    claims: Claims, key: PrivateKey, *, alg: str = "RS256", kid: str | None = "k1", **header: object
) -> str:
    headers: dict[str, Any] = dict(header)
    if kid is not None:
        headers["kid"] = kid
    return jwt.encode(claims, key, algorithm=alg, headers=headers)


def raw_token(header: object, payload: object, signature: bytes = b"x") -> str:
    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    texts = [
        item if isinstance(item, bytes) else json.dumps(item).encode() for item in (header, payload)
    ]
    return ".".join([*(part(text) for text in texts), part(signature)])


def bearer(token: str, scheme: str = "Bearer") -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"{scheme} {token}".encode())]


class Published:
    """What the issuer answers with, and how often it was asked."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.status = 200
        self.headers: dict[str, str] = {}
        self.requests = 0
        self.before: Callable[[], Any] | None = None  # awaited before each answer


@asynccontextmanager
async def publishing(body: bytes) -> AsyncGenerator[tuple[str, Published]]:
    """Serve a key set on a port of this machine; yields its URL."""
    published = Published(body)

    async def answer(request: web.Request) -> web.Response:
        del request
        published.requests += 1
        if published.before is not None:
            await published.before()
        return web.Response(body=published.body, status=published.status, headers=published.headers)

    app = web.Application()
    app.router.add_get("/jwks.json", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}/jwks.json", published
    finally:
        await runner.cleanup()
