"""A real identity provider: its tokens, its key set, and what it takes to get in."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from tests.docs.test_how_to import shown
from tests.e2e import tools
from tests.helpers.gateway import Gateway, outcome, running, spawned

RESOURCE = "http://127.0.0.1/weighbridge"
CONTRACTLESS = "contracts: {unreviewed: observe}\n"
POLICY = """\
rules:
  - id: readers
    decision: allow
    match: {tools: ["*"], roles: {any: [agent]}, scopes: {all: ["notes:read"]}}
"""


@pytest.fixture
async def issuer() -> AsyncIterator[str]:
    port = tools.free_port()
    script = tools.HERE / "node/issuer.mjs"
    async with tools.background(tools.NODE, script, str(port), RESOURCE) as process:
        await tools.said(process, "ready")
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
async def gateway(tmp_path: Path, issuer: str) -> AsyncIterator[Gateway]:
    identity = shown("reads", "oidc-provider")  # of the how-to, as it stands there
    identity = identity.replace("https://login.example.com", issuer)
    identity = identity.replace("https://weighbridge.example.com", RESOURCE)
    config = tools.servers(everything=tools.server_everything()) + CONTRACTLESS + identity
    async with running(tmp_path, config, policy=POLICY, begin=spawned) as gateway:
        yield gateway


async def token(issuer: str, scope: str) -> str:
    basic = base64.b64encode(b"agent:a-secret-of-the-test").decode()
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{issuer}/token",
            data={"grant_type": "client_credentials", "scope": scope},
            headers={"Authorization": f"Basic {basic}"},
        ) as answer,
    ):
        return (await answer.json())["access_token"]


def bearing(gateway: Gateway, credential: str) -> Gateway:
    return replace(gateway, headers={"Authorization": f"Bearer {credential}"})


async def test_a_token_of_the_provider_gets_in_and_says_who_acts(
    gateway: Gateway, issuer: str
) -> None:
    agent = bearing(gateway, await token(issuer, "notes:read"))
    await agent.listed("everything__echo")
    result = await agent.call("everything__echo", {"message": "hi"})
    assert outcome(result)["status"] == "ok"
    async with asyncio.timeout(5):
        while not (events := agent.events("--kind", "tool_call")):
            await asyncio.sleep(0.1)
    assert events[-1]["tenant"] == "acme"
    assert events[-1]["actor"]["user"] == "agent"


async def test_a_token_without_the_scope_sees_no_tools(gateway: Gateway, issuer: str) -> None:
    agent = bearing(gateway, await token(issuer, "notes:write"))
    assert await agent.names() == []


async def test_no_token_is_challenged(gateway: Gateway) -> None:
    status, _ = await gateway.send("tools/list")
    assert status == 401


async def test_a_changed_token_is_refused(gateway: Gateway, issuer: str) -> None:
    good = await token(issuer, "notes:read")
    head, body, signature = good.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["tenant"] = "globex"
    forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    status, _ = await bearing(gateway, f"{head}.{forged}.{signature}").send("tools/list")
    assert status == 401
