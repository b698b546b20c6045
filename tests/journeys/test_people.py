"""A call that is held, from the agent to the page of an approver and back, and who stays out."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import anyio

from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house

REFUND = tool("refund")
SAM, SAM_ENTRY = house.key("sam", "acme", "sam")
POLICY = """\
rules:
  - id: refunds
    decision: require_approval
    reason: refunds need a lead
    match: {tools: [billing.refund]}
    approval: {approvers: {roles: [lead]}}
"""
HOLD = {"hold": {"default": "100ms"}}


@dataclass(frozen=True)
class Place:
    """A gateway whose only tool is held for a lead, and the server of that tool."""

    gateway: Gateway
    fake: FakeHttp

    def link(self) -> str:
        """Return the path of a link for the lead, as the command prints it."""
        config = str(self.gateway.folder / "config.yaml")
        done = forked.ran(["admin", "login", "--json", "--config", config])
        assert done.returncode == 0, done.stderr
        return urlsplit(str(json.loads(done.stdout)["url"])).path

    @asynccontextmanager
    async def browser(self) -> AsyncGenerator[aiohttp.ClientSession]:
        """Return a browser with the manners of one: cookies, and where its forms come from."""
        jar = aiohttp.CookieJar(unsafe=True)
        headers = {"Origin": self.gateway.admin}
        async with aiohttp.ClientSession(
            self.gateway.admin, cookie_jar=jar, headers=headers
        ) as session:
            yield session


@asynccontextmanager
async def place(folder: Path) -> AsyncGenerator[Place]:
    local = {"user": "ann", "tenant": "acme", "roles": ["lead"]}
    with FakeHttp(Script(tools=[REFUND])) as fake:
        config = house.config(
            {"billing": house.http(fake)},
            identity={"local": local, "api_keys": [SAM_ENTRY]},
            approvals=HOLD,
        )
        contracts = house.contracts(
            house.contract(REFUND, "billing", effect=Effect.WRITE, risk=Risk.HIGH)
        )
        headers = {"Authorization": f"Bearer {SAM}"}
        async with running(
            folder, config, policy=POLICY, contracts=contracts, headers=headers
        ) as gateway:
            await gateway.listed("billing__refund")
            yield Place(gateway, fake)


def form(page: str, path: str) -> dict[str, str]:
    """Return the hidden fields of a form."""
    part = page.partition(f'action="{path}"')[2].partition("</form>")[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', part))


async def test_a_held_call_is_approved_on_its_page_and_then_sent_once(tmp_path: Path) -> None:
    async with place(tmp_path) as here, here.browser() as ann:
        arguments: dict[str, Any] = {"amount": 1250}
        held = outcome(await here.gateway.call("billing__refund", arguments))
        assert held["status"] == "approval_pending"
        assert here.fake.calls() == []
        url = urlsplit(str(held["approve_url"]))
        assert url.path == f"/approvals/{held['approval_id']}"
        assert not url.query
        async with ann.get(url.path) as asked:
            assert asked.status == 401
        async with ann.post(here.link()) as entered:
            assert "Waiting for a decision" in await entered.text()
        async with ann.get(url.path) as shown:
            page = await shown.text()
        assert "refunds need a lead" in page
        assert "1250" in page
        path = f"{url.path}/decide"
        fields = {**form(page, path), "choice": "approve", "reason": "as agreed"}
        async with ann.post(path, data=fields) as decided:
            assert "approved, not sent yet" in await decided.text()
        sent = outcome(await here.gateway.call("billing__refund", arguments))
        assert sent["status"] == "ok"
        await here.gateway.call("billing__refund", arguments)
        assert len(here.fake.calls()) == 1
        async with ann.get(url.path) as after:
            assert "approved and sent" in await after.text()
        stages = [each["stage"] for each in house.events(tmp_path, kind="approval")]
        assert stages[0] == "requested"
        assert "decided" in stages
        came = await house.event(tmp_path, action="logged_in")
        assert came["body"]["user"] == "ann"


async def test_what_an_agent_did_is_found_and_judged_again_on_pages(tmp_path: Path) -> None:
    async with place(tmp_path) as here, here.browser() as ann:
        asked = await here.gateway.call("billing__refund", {"amount": 1250})
        await house.end(tmp_path, outcome(asked)["call_id"])  # its events are written behind it
        async with ann.post(here.link()) as entered:
            assert entered.status == 200
        async with ann.get("/events?decision=require_approval") as found:
            page = await found.text()
        [event] = {*re.findall(r'href="(/events/01[0-9A-Z]+)"', page)}
        async with ann.get(event) as shown:
            assert "refunds need a lead" in await shown.text()
        (rules,) = (tmp_path / "policies").glob("*.yaml")
        fields = {"since": "1h", "counters": "recorded"}
        async with ann.get("/replay") as empty:
            fields |= form(await empty.text(), "/replay")
        with rules.open("a") as more:  # the gateway takes it too, which changes nothing of then
            more.write("  - {id: never, decision: deny, match: {tools: [billing.refund]}}\n")
        async with ann.post("/replay", data={**fields, "revision": "folder"}) as begun:
            report, address = await begun.text(), str(begun.url.relative())
        with anyio.fail_after(60):
            while 'http-equiv="refresh"' in report:
                await anyio.sleep(0.1)
                async with ann.get(address) as again:
                    report = await again.text()
        assert "Nothing more is granted; 1 call would change" in report
        assert here.fake.calls() == []
        reads = [each["body"]["how"] for each in house.events(tmp_path, action="log_read")]
        assert reads == ["page /events", "page /events/…", "page /replay"]


async def test_the_agents_credential_opens_nothing_where_people_decide(tmp_path: Path) -> None:
    """case: APR-03"""
    async with place(tmp_path) as here, aiohttp.ClientSession() as agent:
        held = outcome(await here.gateway.call("billing__refund", {"amount": 1}))
        page = f"{here.gateway.admin}/approvals/{held['approval_id']}"
        fields = {"choice": "approve", "binding": held.get("binding", "")}
        for headers in (here.gateway.headers, {"X-API-Key": SAM}, {"Cookie": f"weighbridge={SAM}"}):
            for path in ("", "/decide"):
                async with agent.post(page + path, data=fields, headers=headers) as refused:
                    assert refused.status in (401, 403, 405)
            async with agent.get(page, headers=headers) as shown:
                assert shown.status in (401, 403)
                assert "refunds need a lead" not in await shown.text()
        rejected = await house.event(tmp_path, action="auth_rejected", transport="admin")
        assert rejected["body"]["reason"] == "invalid_credential"
        assert SAM not in json.dumps(house.events(tmp_path))
        assert here.fake.calls() == []
