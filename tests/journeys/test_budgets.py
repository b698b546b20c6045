"""Limits that two gateways share: of many calls at once as many are sent as there is room for."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.client import AsyncClient, meta
from gateway.ids import ulid
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from tests.helpers.databases import ENGINES
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.postgres import OwnPostgres, own_postgres
from tests.journeys import house
from tests.journeys.house import Json
from tests.journeys.test_hosts import host_key

AMOUNT: Json = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "amount": {"type": "number"}},
    "required": ["v"],
}
FIND, PUT, NOTE, ASK = (tool(name) for name in ("find", "put", "note", "ask"))
PAY = {"name": "pay", "inputSchema": AMOUNT}
TOOLS = [FIND, PUT, NOTE, ASK, PAY]
ANA, ANA_ENTRY = house.key("ana", "acme", "ana")
BO, BO_ENTRY = house.key("bo", "acme", "bo")
CY, CY_ENTRY = house.key("cy", "globex", "ana")
HOST, HOST_ENTRY = host_key("host", "acme")
DAY_S, HOUR_S = 86_400, 3_600
POLICY = """rules:
  - id: reads
    decision: allow
    match: {tools: [alpha.find]}
    limits: [{id: reads-a-day, per: [tenant], max: 10, window: 24h}]
  - id: writes
    decision: allow
    match: {tools: [alpha.put]}
    limits: [{id: writes-an-hour, per: [tenant, user], max: 4, window: 1h}]
  - id: notes
    decision: allow
    match: {tools: [alpha.note]}
    limits: [{id: notes-a-run, per: [tool], max: 2, window: run}]
  - id: money
    decision: allow
    match: {tools: [alpha.pay]}
    when: has(args.amount) && args.amount <= 500.0
    constrain: {max: {amount: 200}}
    limits: [{id: money-a-day, per: [tenant], sum: args.amount, max: 100, window: 24h}]
  - id: asked
    decision: require_approval
    reason: a lead looks at it
    match: {tools: [alpha.ask]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
    limits: [{id: asked-a-day, per: [user], max: 1, window: 24h}]
"""
RUNS = """runs:
  small: {limits: {calls: 6, writes: 3, tokens: 1000, money: {argument: /amount, max: 50}}}
"""


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store: its URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: OwnPostgres = request.getfixturevalue("postgres")
    return server.create(f"t{ulid().lower()}")


@dataclass(frozen=True)
class Pair:
    """Two gateways on one store, before one server that counts what reaches it."""

    gateways: Sequence[Gateway]
    fake: FakeHttp

    async def many(self, count: int, name: str, key: str, **more: Any) -> list[Json]:
        """Call a tool so often at once, at both by turns; each call is another one."""
        amount = {"amount": more.pop("amount")} if "amount" in more else {}
        first = len(self.fake.calls())
        agents = [house.as_modern(each, Authorization=f"Bearer {key}") for each in self.gateways]
        made = await asyncio.gather(
            *(
                house.call(
                    agents[nr % 2], f"alpha__{name}", {"v": 1000 * first + nr, **amount}, **more
                )
                for nr in range(count)
            )
        )
        return [outcome(each) for each in made]

    def sent(self, name: str) -> int:
        """Return how many calls of a tool have reached the server."""
        return sum(each["params"]["name"] == name for each in self.fake.calls())


@asynccontextmanager
async def a_pair(folder: Path, store: str) -> AsyncGenerator[Pair]:
    write: dict[str, Any] = {"effect": Effect.WRITE, "risk": Risk.MEDIUM}
    contracts = house.contracts(
        *(house.contract(each, **({} if each is FIND else write)) for each in TOOLS)
    )
    async with AsyncExitStack() as stack:
        fake = stack.enter_context(FakeHttp(Script(tools=TOOLS)))
        gateways: list[Gateway] = []
        for name in ("one", "two"):
            inside = folder / name
            (inside / "policies/runs").mkdir(parents=True)
            (inside / "policies/runs/small.yaml").write_text(RUNS)
            started = running(
                inside,
                house.config(
                    {"alpha": house.http(fake)},
                    identity={"api_keys": [ANA_ENTRY, BO_ENTRY, CY_ENTRY]},
                    approvals={"hold": {"default": "0s"}},
                ),
                policy=POLICY,
                contracts=contracts,
                store=store,
                admin={"api_keys": [HOST_ENTRY], "accounts": [LEA]},
                headers={"Authorization": f"Bearer {ANA}"},
            )
            gateways.append(await stack.enter_async_context(started))
            await gateways[-1].listed("alpha__find")
        yield Pair(gateways, fake)


LEA = {"user": "lea", "tenant": "acme", "roles": ["lead"]}


def counted(made: Sequence[Json]) -> dict[str, int]:
    """Return how many calls ended how."""
    return dict(Counter(each["status"] for each in made))


def waits(made: Sequence[Json]) -> list[float | None]:
    """Return when those that were over a limit are told to come back."""
    return [each.get("retry_after_s") for each in made if each["status"] == "limit_exceeded"]


async def test_exactly_as_many_calls_pass_two_gateways_as_a_limit_has(
    tmp_path: Path, store: str
) -> None:
    async with a_pair(tmp_path, store) as pair:
        users = await asyncio.gather(*(pair.many(15, "find", key) for key in (ANA, BO)))
        reads = [each for made in users for each in made]
        assert counted(reads) == {"ok": 10, "limit_exceeded": 20}
        assert pair.sent("find") == 10
        assert all(abs(wait - DAY_S) < 60 for wait in waits(reads) if wait is not None)
        assert len(waits(reads)) == 20
        others = await pair.many(3, "find", CY)  # of another tenant
        assert counted(others) == {"ok": 3}
        hourly = await asyncio.gather(*(pair.many(12, "put", key) for key in (ANA, BO)))
        for made in hourly:
            assert counted(made) == {"ok": 4, "limit_exceeded": 8}
            assert all(abs(wait - HOUR_S) < 60 for wait in waits(made) if wait is not None)
            assert {each["code"] for each in made if each["status"] != "ok"} == {"writes-an-hour"}
        assert pair.sent("put") == 8
        money = await pair.many(10, "pay", ANA, amount=30)
        assert counted(money) == {"ok": 3, "limit_exceeded": 7}
        assert pair.sent("pay") == 3
        (alone,) = await pair.many(1, "pay", ANA, amount=300)  # 200, as the rule writes it
        assert (alone["status"], alone.get("retry_after_s")) == ("limit_exceeded", None)
        assert "alone takes more" in alone["reason"]
        (too_large,) = await pair.many(1, "pay", ANA, amount=501)
        assert too_large["status"] == "denied"


async def test_what_a_run_may_use_is_shared_by_two_gateways_and_no_time_gives_it_back(
    tmp_path: Path, store: str
) -> None:
    async with a_pair(tmp_path, store) as pair, AsyncClient(pair.gateways[0].admin, HOST) as host:
        for _ in range(2):
            run = await host.start(user="ana")
            await host.set_phase(run.run_id, Phase.ACTING)
            notes = await pair.many(10, "note", ANA, _meta=meta(run.run_id))
            assert counted(notes) == {"ok": 2, "limit_exceeded": 8}
            assert waits(notes) == [None] * 8
            assert {each["code"] for each in notes if each["status"] != "ok"} == {"notes-a-run"}
        assert pair.sent("note") == 4
        (without,) = await pair.many(1, "note", ANA)
        assert (without["status"], without["code"]) == ("denied", "policy_evaluation_error")

        small = await host.start(user="bo", template="small")
        await host.set_phase(small.run_id, Phase.ACTING)
        named = meta(small.run_id)
        writes = await pair.many(9, "put", BO, _meta=named)
        assert counted(writes) == {"ok": 3, "limit_exceeded": 6}
        assert {each["code"] for each in writes if each["status"] != "ok"} == {"run_writes"}
        calls = await pair.many(9, "find", BO, _meta=named)
        assert counted(calls) == {"ok": 3, "limit_exceeded": 6}
        assert {each["code"] for each in calls if each["status"] != "ok"} == {"run_calls"}
        assert waits([*writes, *calls]) == [None] * 12

        paying = await host.start(user="bo", template="small")
        await host.set_phase(paying.run_id, Phase.ACTING)
        money = await pair.many(4, "pay", BO, amount=20, _meta=meta(paying.run_id))
        assert counted(money) == {"ok": 2, "limit_exceeded": 2}
        assert {each["code"] for each in money if each["status"] != "ok"} == {"run_money"}
        await host.add_usage(paying.run_id, tokens=1000)
        (spent,) = await pair.many(1, "find", BO, _meta=meta(paying.run_id))
        assert (spent["status"], spent["code"]) == ("limit_exceeded", "run_tokens")


async def test_a_call_that_waits_for_people_takes_nothing_until_it_is_sent(
    tmp_path: Path, store: str
) -> None:
    async with a_pair(tmp_path, store) as pair:
        held = await pair.many(2, "ask", ANA)
        assert counted(held) == {"approval_pending": 2}
        first = pair.gateways[0]
        for each in held:
            shown = first.command("approvals", "show", each["approval_id"])[0]
            assert shown["state"] == "pending"
            sure = ("--as", "lea", "--binding", shown["binding"][-64:][:8], "--yes")
            first.command("approvals", "approve", each["approval_id"], *sure)
        agent = house.as_modern(pair.gateways[1], Authorization=f"Bearer {ANA}")
        again = [outcome(await house.call(agent, "alpha__ask", {"v": nr})) for nr in range(2)]
        assert counted(again) == {"ok": 1, "limit_exceeded": 1}
        assert all(DAY_S - 600 < wait <= DAY_S for wait in waits(again) if wait is not None)
        over = next(h for h, a in zip(held, again, strict=True) if a["status"] != "ok")
        state = first.command("approvals", "show", over["approval_id"])[0]["state"]
        assert state == "approved"  # it stays, for when there is room
