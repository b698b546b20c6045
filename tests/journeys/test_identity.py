"""Who acts: decided by the credential alone, and kept from servers and from other tenants."""

import json
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, record_of, text, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.helpers.issuer import good_claims, key_set, public_jwk, sign
from tests.journeys import house
from tests.journeys.house import Json

ISSUER = "https://login.example.com/"
AUDIENCE = "https://tools.example.com/mcp"
NEEDS = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TOOLS = [tool("find"), tool("wipe", inputSchema=NEEDS), tool("secret"), tool("note"), tool("few")]
ADA, ADA_ENTRY = house.key("ada", "t1", "ada", roles=["reader"])
BEN, BEN_ENTRY = house.key("ben", "t1", "ben", roles=["clerk"])
CLEO, CLEO_ENTRY = house.key("cleo", "t2", "cleo", roles=["clerk"])
KEY = ec.generate_private_key(ec.SECP256R1())
POLICY = """
rules:
  - {id: find, decision: allow, match: {tools: [alpha.find]}}
  - {id: secret, decision: allow, match: {tools: [alpha.secret], tenants: [t1]}}
  - {id: clerks, decision: allow, match: {tools: [alpha.wipe], roles: {any: [clerk]}}}
  - {id: note, decision: allow, match: {tools: [alpha.note, beta.*]}}
  - id: few
    decision: allow
    match: {tools: [alpha.few]}
    limits: [{id: few-per-tenant, per: [tenant], max: 3, window: 60s}]
"""


def contracts() -> str:
    scoped: dict[str, dict[str, Any]] = {"note": {"scopes": frozenset({"notes:read"})}}
    return house.contracts(
        *(house.contract(one, **scoped.get(one["name"], {})) for one in TOOLS),
        house.contract(tool("get"), "beta"),
        house.contract(tool("limited"), "beta"),
        house.contract(tool("locked"), "beta"),
    )


def beta_script() -> Script:
    challenge = [["WWW-Authenticate", 'Bearer resource_metadata="https://alpha.example/x"']]
    return Script(
        tools=[tool("get"), tool("limited"), tool("locked")],
        on_call={
            "limited": [{"http": 429, "headers": [["Retry-After", "3"]]}],
            "locked": [{"http": 401, "headers": challenge}],
        },
    )


@dataclass(frozen=True)
class Place:
    """A gateway with a stdio and an HTTP server, three keys and an issuer of tokens."""

    gateway: Gateway
    folder: Path
    beta: FakeHttp

    def by(self, key: str) -> house.Client:
        """Return a client that holds a credential."""
        return house.as_modern(self.gateway, Authorization=f"Bearer {key}")

    def sent(self) -> list[Json]:
        """Return what the stdio server was called with."""
        return record_of(self.folder, "alpha").calls()


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("identity")
    (folder / "jwks.json").write_bytes(key_set(public_jwk(KEY, "k1")))
    steps = {"find": [{"reply": text("found")}]}
    with FakeHttp(beta_script()) as beta:
        config = house.config(
            {
                "alpha": house.stdio(Script(tools=TOOLS, on_call=steps), folder),
                "beta": house.http(beta, headers={"Authorization": "Bearer beta-own-credential"}),
            },
            identity={
                "api_keys": [ADA_ENTRY, BEN_ENTRY, CLEO_ENTRY],
                "jwt": [
                    {
                        "issuer": ISSUER,
                        "audience": AUDIENCE,
                        "jwks_file": str(folder / "jwks.json"),
                        "claims": {"tenant": "/org/id"},
                        "tenants": ["t1"],
                    }
                ],
            },
        )
        async with running(
            folder,
            config,
            policy=POLICY,
            contracts=contracts(),
            headers={"Authorization": f"Bearer {BEN}"},
        ) as gateway:
            await gateway.listed("alpha__find", "beta__get")
            yield Place(gateway, folder, beta)


def token(**changes: object) -> str:
    """Return a token of the issuer, good unless changed."""
    now = time.time()
    about: Json = {"aud": AUDIENCE, "org": {"id": "t1"}, "exp": now + 300, "iat": now - 5}
    return sign(good_claims(ISSUER, **{**about, **changes}), KEY, alg="ES256")


def told(result: Json, name: str) -> Json:
    """Return an answer without what differs for every call."""
    said = json.loads(json.dumps(result).replace(name, "<name>"))
    for part in (said["_meta"]["weighbridge/outcome"], said.get("structuredContent", {})):
        part.pop("call_id", None)
    return said


async def test_a_tool_that_is_not_allowed_looks_like_one_that_does_not_exist(place: Place) -> None:
    """case: AUT-01"""
    before = len(place.sent())
    unknown = told(await house.call(place.by(ADA), "alpha__nothing"), "alpha__nothing")
    for arguments in ({}, {"id": "7"}, {"id": 7}):
        for name in ("alpha__wipe", "wipe", "ALPHA__WIPE"):
            assert told(await house.call(place.by(ADA), name, arguments), name) == unknown
    assert len(place.sent()) == before
    assert outcome(await house.call(place.by(ADA), "alpha__find"))["status"] == "ok"
    denied = await house.event(place.folder, kind="tool_call", tool="alpha.wipe", status="denied")
    assert (denied["tenant"], denied["actor"]["user"]) == ("t1", "ada")
    assert denied["body"]["server"] == "alpha"


async def test_a_hidden_tool_is_hidden_in_the_handshake_era_too(place: Place) -> None:
    """case: AUT-01"""
    before = len(place.sent())
    as_ada = Gateway(
        url=place.gateway.url,
        process=place.gateway.process,
        folder=place.folder,
        headers={"Authorization": f"Bearer {ADA}"},
    )
    async with house.legacy(as_ada) as client:
        assert "alpha__wipe" not in await house.names_of(client)
        unknown = told(await house.call(client, "alpha__nothing"), "alpha__nothing")
        for name in ("alpha__wipe", "wipe", "alpha__wipe "):
            assert told(await house.call(client, name), name) == unknown
    assert len(place.sent()) == before


async def test_each_tenant_is_shown_its_own_list(place: Place) -> None:
    """case: AUT-02"""
    for _ in range(3):
        assert "alpha__secret" in await house.names_of(place.by(BEN))
        assert "alpha__secret" not in await house.names_of(place.by(CLEO))
        assert "alpha__wipe" not in await house.names_of(place.by(ADA))
    message = await place.by(BEN).request("tools/list")
    assert (message["result"]["cacheScope"], message["result"]["ttlMs"]) == ("private", 0)


async def test_the_tenant_is_that_of_the_credential_whatever_a_request_says(place: Place) -> None:
    """case: AUT-03"""
    client = house.as_modern(
        place.gateway,
        Authorization=f"Bearer {BEN}",
        X_Tenant_ID="t2",
        X_Forwarded_Email="root@t2.example",
    )
    result = await house.call(client, "alpha__find", {"tenant": "t2"}, _meta={"tenant": "t2"})
    call = outcome(result)["call_id"]
    await house.end(place.folder, call)
    found = house.events(place.folder, call=call)
    assert {one["tenant"] for one in found} == {"t1"}
    assert {one["actor"]["user"] for one in found} == {"ben"}
    assert place.sent()[-1]["params"]["arguments"] == {"tenant": "t2"}  # data, and only that


async def test_a_callers_credential_goes_to_no_server(place: Place) -> None:
    """case: AUT-04"""
    client = house.as_modern(
        place.gateway,
        Authorization=f"Bearer {BEN}",
        X_Upstream_Authorization="Bearer ALPHA-TOKEN",
        X_Mcp_Secret="another",
    )
    await house.call(client, "alpha__find")
    await house.call(client, "beta__get")
    heard = json.dumps([place.sent(), place.beta.received, place.beta.requests])
    for secret in (BEN, "ALPHA-TOKEN", "another"):
        assert secret not in heard
    assert place.beta.calls()[-1]["headers"]["authorization"] == "Bearer beta-own-credential"
    assert "beta-own-credential" not in json.dumps(place.sent())


async def asked(place: Place, method: str, credential: str) -> tuple[int, str, str]:
    """Send a request with a credential; returns status, challenge and body."""
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if credential:
        headers["Authorization"] = credential
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": house.hello()})
    async with (
        aiohttp.ClientSession() as session,
        session.request(
            method, place.gateway.url, headers=headers, data=body if method == "POST" else None
        ) as answer,
    ):
        return answer.status, answer.headers.get("WWW-Authenticate", ""), await answer.text()


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("kind", ["none", "expired", "for somebody else", "made up"])
async def test_without_a_good_credential_the_answer_says_where_to_get_one(
    place: Place, method: str, kind: str
) -> None:
    """case: AUT-05"""
    credentials = {
        "none": "",
        "expired": f"Bearer {token(exp=time.time() - 600)}",
        "for somebody else": f"Bearer {token(aud='https://other.example')}",
        "made up": "Bearer wb_ada_" + "0" * 64,
    }
    status, challenge, body = await asked(place, method, credentials[kind])
    assert status == 401
    assert challenge.startswith("Bearer ")
    assert 'resource_metadata="' in challenge
    assert json.loads(body)["jsonrpc"] == "2.0"
    link = challenge.partition('resource_metadata="')[2].partition('"')[0]
    async with aiohttp.ClientSession() as session, session.get(link) as answer:
        assert answer.status == 200
        assert ISSUER in (await answer.json())["authorization_servers"]


async def test_a_missing_scope_is_named_and_the_scheme_is_read_in_any_case(place: Place) -> None:
    """case: AUT-05"""
    before = len(place.sent())
    params: Json = {"name": "alpha__note"}
    credential = f"bearer {token(scope='tools:use')}"
    status, message = await place.gateway.send("tools/call", params, Authorization=credential)
    assert status == 403
    assert "error" in message
    assert len(place.sent()) == before
    credential = f"bearer {token(scope='notes:read')}"
    status, message = await place.gateway.send("tools/call", params, Authorization=credential)
    assert (status, outcome(message["result"])["status"]) == (200, "ok")


async def test_a_limit_of_one_tenant_is_shared_by_its_keys_and_by_no_other_tenant(
    place: Place,
) -> None:
    """case: AUT-07"""
    before = len([one for one in place.sent() if one["params"]["name"] == "few"])
    ends = [outcome(await house.call(place.by(key), "alpha__few")) for key in (ADA, BEN) * 3]
    assert [end["status"] for end in ends] == ["ok"] * 3 + ["limit_exceeded"] * 3
    assert all(0 < end["retry_after_s"] <= 60 for end in ends[3:])
    assert all(end["executed"] == "no" for end in ends[3:])
    for _ in range(3):
        assert outcome(await house.call(place.by(CLEO), "alpha__few"))["status"] == "ok"
    sent = len([one for one in place.sent() if one["params"]["name"] == "few"])
    assert sent - before == 6


async def test_a_servers_own_limit_is_passed_on_with_its_wait_and_not_hammered(
    place: Place,
) -> None:
    """case: AUT-07"""
    said = outcome(await house.call(place.by(BEN), "beta__limited"))
    assert (said["status"], said["retry_after_s"], said["retryable"]) == ("busy", 3, True)
    calls = [one for one in place.beta.calls() if one["params"]["name"] == "limited"]
    assert len(calls) == 1


async def test_a_servers_challenge_to_the_gateway_is_not_the_callers(place: Place) -> None:
    """case: AUT-10"""
    params: Json = {"name": "beta__locked"}
    status, message = await place.gateway.send("tools/call", params)
    said = outcome(message["result"])
    assert (status, said["status"]) == (200, "unavailable")
    assert "credential for `beta` needs renewal" in said["reason"]
    assert "alpha.example" not in json.dumps(message)
    place.beta.script.on_call.pop("locked")
    again = await house.call(place.by(BEN), "beta__locked")
    assert outcome(again)["status"] == "ok"


async def test_rights_that_shrink_are_gone_from_list_and_calls_at_once(tmp_path: Path) -> None:
    """case: AUT-02"""
    tools = [tool("a"), tool("b")]
    reviewed = house.contracts(*(house.contract(one) for one in tools))
    alpha = house.stdio(Script(tools=tools), tmp_path)
    async with running(
        tmp_path, house.config({"alpha": alpha}), policy=ALLOW, contracts=reviewed
    ) as gateway:
        await gateway.listed("alpha__a", "alpha__b")
        policy = "rules:\n  - {id: a, decision: allow, match: {tools: [alpha.a]}}\n"
        (tmp_path / "policies/policy.yaml").write_text(policy)

        async def shrunk() -> bool:
            return await gateway.names() == ["alpha__a"]

        await until_async(shrunk, house.WITHIN_S)
        assert outcome(await gateway.call("alpha__b"))["status"] == "unknown_tool"
