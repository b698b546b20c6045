"""Real gateways over one store, the server behind them, and people who decide on every surface.

Whoever decides in the test's own process does so over the store, as the terminal does; the others
use the pages of a gateway.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from gateway.admin import csrf
from gateway.admin.login import path_of
from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.results.envelope import OUTCOME
from gateway.store.approvals import ApprovalFilter
from gateway.store.store import Store
from gateway.types.approvals import Approval, Approver, Assurance, Channel, Choice, Ruling
from gateway.types.operations import Operation
from gateway.types.tools import Effect, Risk
from tests.admin.house import Browser, deciding_at
from tests.helpers import forked
from tests.helpers.databases import ORIGIN
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool
from tests.helpers.forked import Death, Forked
from tests.helpers.gateway import Gateway, running
from tests.journeys import house

TWO, ONE, BRIEF = tool("two"), tool("one"), tool("brief")
POLICY = """rules:
  - id: two
    decision: require_approval
    match: {tools: ["alpha.two"]}
    approval: {approvers: {roles: [lead]}, quorum: 2, expires: 1h}
  - id: one
    decision: require_approval
    match: {tools: ["alpha.one"]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
  - id: brief
    decision: require_approval
    match: {tools: ["alpha.brief"]}
    approval: {approvers: {roles: [lead]}, expires: 3s, use_within: 0.5s}
"""
KEY, ENTRY = house.key("agent", "acme", "sam", client="desk-agent")
# Leads, all of them; sam is who asks, by his agent, and eve is of another tenant.
TENANTS = {"ben": "acme", "dan": "acme", "kim": "acme", "sam": "acme", "eve": "globex"}
ACCOUNTS = [{"user": user, "tenant": tenant, "roles": ["lead"]} for user, tenant in TENANTS.items()]
HURRIED, PATIENT = "hurried", "patient"  # clients that are not held, and that are for long
# Nothing is decided yet, or a busy store could not say what is: call again.
UNDECIDED = {"approval_pending", "in_progress", "audit_unavailable", "unavailable", "busy"}
_PAUSE_S = 0.2
_NAMES = "io.modelcontextprotocol/clientInfo"


def person(user: str, tenant: str = "acme") -> Approver:
    """Return a lead in a terminal."""
    return Approver(
        tenant=tenant,
        user=user,
        roles=frozenset({"lead"}),
        assurance=Assurance.LOCAL,
        channel=Channel.TERMINAL,
        issuer=f"os:{user}",  # one account is one person
    )


def settings(alpha: FakeHttp, lease: str) -> str:
    """Return the configuration of each gateway."""
    return house.config(
        {"alpha": house.http(alpha)},
        identity={"api_keys": [ENTRY]},
        approvals={
            "hold": {"default": "2s", "clients": {HURRIED: "0s", PATIENT: "30s"}},
            "max_pending": 100,
            "max_requests": 100_000,
        },
        operations={"lease": lease},
    )


@dataclass(kw_only=True)
class Town:
    """A store with its people, and the server that counts what it carries out."""

    folder: Path
    url: str
    store: Store
    alpha: FakeHttp
    session: aiohttp.ClientSession
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    @asynccontextmanager
    async def gateway(
        self, name: str, death: Death | None = None, lease: str = "15s"
    ) -> AsyncGenerator[Gateway]:
        """Run a gateway over the store, until it dies or the block ends."""

        async def begin(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Forked:
            return forked.begin(words, log, environ, death)

        writes = (
            house.contract(each, effect=Effect.WRITE, risk=Risk.HIGH) for each in (TWO, ONE, BRIEF)
        )
        async with running(
            self.folder / name,
            settings(self.alpha, lease),
            policy=POLICY,
            contracts=house.contracts(*writes),
            store=f'"{self.url}"',
            admin={"accounts": ACCOUNTS},
            headers={"Authorization": f"Bearer {KEY}"},
            begin=begin,
        ) as gateway:
            await gateway.listed("alpha__one")
            yield gateway

    def sent(self, number: int) -> int:
        """Return how often the server was asked for what has a number."""
        return sum(each["params"]["arguments"]["n"] == number for each in self.alpha.calls())

    async def open_request(self, tool: str) -> Approval | None:
        """Return the request of a tool (`server.name`) that waits for a decision or its use."""
        found = await self.store.approvals.find(ApprovalFilter(is_open=True, tool=tool))
        return found[0] if found else None

    async def requests(self, op_id: str) -> list[Approval]:
        """Return all requests about an operation."""
        return await self.store.approvals.find(ApprovalFilter(op_id=op_id))

    async def operation(self, op_id: str) -> Operation:
        """Return an operation as it is now."""
        found = await self.store.operations.get(op_id)
        assert found is not None
        return found

    async def decide(
        self, who: Approver, approval: Approval, choice: Choice, binding: str = ""
    ) -> Ruling:
        """Decide over the store; a word that a busy store did not take is said again."""
        deciding, name = deciding_at(self.store, SystemClock()), approval.approval_id
        while True:
            try:
                return await deciding.decide(who, name, choice, binding or approval.binding)
            except StoreUnavailable:
                await asyncio.sleep(_PAUSE_S)

    async def log_in(self, gateway: Gateway, *users: str) -> None:
        """Log people in; a session is good at each gateway of the store."""
        for user in users:
            link = await self.store.logins.new_link(
                tenant=TENANTS[user], user=user, account=user, lasts_s=600
            )
            async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
                entered = await Browser(url=gateway.admin, session=session).post(path_of(link))
                assert entered.status == 303, entered.text
                cookies = {each.key: each.value for each in session.cookie_jar}
            self.cookies[user] = cookies["weighbridge"]

    async def press(
        self,
        gateway: Gateway,
        user: str,
        approval: Approval,
        choice: str,
        binding: str = "",
        **headers: str,
    ) -> int:
        """Send the form of a request's page as somebody; returns the status of the answer."""
        path, secret = f"/approvals/{approval.approval_id}/decide", self.cookies[user]
        form = {
            "token": csrf.token(secret, path),
            "binding": binding or approval.binding,
            "choice": choice,
            "reason": "as it is in the test",
        }
        sent = {"Cookie": f"weighbridge={secret}", **headers}
        browser = Browser(url=gateway.admin, session=self.session)
        while (status := (await browser.post(path, form, sent)).status) == 503:  # a busy store
            await asyncio.sleep(_PAUSE_S)
        return status


@asynccontextmanager
async def town(folder: Path, url: str) -> AsyncGenerator[Town]:
    """Open a store, and run the server behind its gateways."""
    tools = [TWO, ONE, BRIEF]
    done = {each["name"]: [{"reply": text("done")}] for each in tools}
    async with AsyncExitStack() as stack:
        alpha = stack.enter_context(FakeHttp(Script(tools=tools, on_call=done)))
        jar = aiohttp.DummyCookieJar()
        connector = aiohttp.TCPConnector(force_close=True)
        session = await stack.enter_async_context(
            aiohttp.ClientSession(cookie_jar=jar, connector=connector)
        )
        store = Store.open(url, origin=ORIGIN)
        stack.callback(store.close)
        yield Town(folder=folder, url=url, store=store, alpha=alpha, session=session)


async def call(gateway: Gateway, name: str, number: int, client: str) -> dict[str, Any]:
    """Call once as a client of this name; returns what the gateway says, with the text."""
    meta = {_NAMES: {"name": client, "version": "1"}}
    result = await gateway.call(f"alpha__{name}", {"n": number}, _meta=meta)
    return {**result["_meta"][OUTCOME], "text": result["content"][0]["text"]}


async def ended(
    gateway: Gateway, name: str, number: int, client: str, again: Counter[str] | None = None
) -> dict[str, Any]:
    """Call again until it is known what becomes of the call; `again` counts why it was not."""
    while True:
        said = await call(gateway, name, number, client)
        if said["status"] not in UNDECIDED:
            return said
        if again is not None:
            again[said["status"]] += 1
