"""An OpenID provider on a real socket that logs in whom the test says, and may misbehave."""

import base64
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

from aiohttp import web

from gateway.clock import Clock
from tests.helpers.issuer import key_set, public_jwk, rsa_key, sign

KEY, OTHER_KEY = rsa_key(), rsa_key()
CLIENT, SECRET = "weighbridge", "s/e:c ret"


@dataclass(kw_only=True)
class FakeProvider:
    """What it knows of logins, and what it answers instead of the right thing."""

    clock: Clock
    issuer: str = ""
    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "ann", "org": "acme", "roles": ["finance-lead"]}
    )
    claims: dict[str, Any] = field(default_factory=dict[str, Any])  # None removes one
    discovery: dict[str, Any] = field(default_factory=dict[str, Any])
    token_status: int = 200
    token_body: bytes | None = None
    key: Any = KEY
    logins: int = 0
    began: dict[str, dict[str, str]] = field(default_factory=dict[str, "dict[str, str]"])
    forms: list[dict[str, str]] = field(default_factory=list["dict[str, str]"])
    basics: list[str] = field(default_factory=list[str])

    def log_in(self, address: str) -> str:
        """Do what a person does at the page that an address leads to; returns code and state."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code-{self.logins}"
        self.logins += 1
        self.began[code] = asked
        return urlencode({"code": code, "state": asked["state"], "iss": self.issuer})

    def id_token(self, asked: dict[str, str]) -> str:
        """Return the token of a login."""
        now = self.clock.now().timestamp()
        claims = {
            "iss": self.issuer,
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "at_hash": "x",
            **self.person,
            **self.claims,
        }
        return sign({name: each for name, each in claims.items() if each is not None}, self.key)

    async def discover(self, request: web.Request) -> web.Response:
        del request
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks.json",
            "authorization_response_iss_parameter_supported": True,
            **self.discovery,
        }
        return web.json_response(document)

    async def keys(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=key_set(public_jwk(KEY, "k1")))

    async def token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.forms.append(form)
        self.basics.append(_basic(request.headers.get("Authorization", "")))
        if self.token_body is not None:
            return web.Response(body=self.token_body, status=self.token_status)
        asked = self.began.pop(form["code"], None)
        if asked is None or _challenge(form["code_verifier"]) != asked["code_challenge"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"id_token": self.id_token(asked)}, status=self.token_status)


@asynccontextmanager
async def providing(clock: Clock) -> AsyncGenerator[FakeProvider]:
    """Run a provider on a port of this machine."""
    provider = FakeProvider(clock=clock)
    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", provider.discover)
    app.router.add_get("/jwks.json", provider.keys)
    app.router.add_post("/token", provider.token)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        provider.issuer = f"http://{host}:{port}"
        yield provider
    finally:
        await runner.cleanup()


def _basic(header: str) -> str:
    if not header:
        return ""
    name, _, secret = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
    return f"{unquote_plus(name)}:{unquote_plus(secret)}"


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
