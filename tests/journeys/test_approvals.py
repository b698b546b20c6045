"""A held call, the terminal in another process, and everything that can come between the two."""

import asyncio
import json
import signal
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from gateway.types.approvals import ApprovalNotes
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.journeys import house

Json = dict[str, Any]
AMOUNT = {"type": "object", "properties": {"amount": {"type": "number"}}}
PAY, GIVE, SOON = (tool(name, inputSchema=AMOUNT) for name in ("pay", "give", "soon"))
DONE = {"reply": text("done")}
KEY, ENTRY = house.key("agent", "acme", "sam", client="desk-agent")
POLICY = """rules:
  - id: large
    decision: require_approval
    match: {tools: [alpha.pay, alpha.give]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
  - id: soon
    decision: require_approval
    match: {tools: [alpha.soon]}
    approval: {approvers: {roles: [lead]}, expires: 3s}
"""
PEOPLE = [
    {"user": "lea", "tenant": "acme", "roles": ["lead"]},
    {"user": "sam", "tenant": "acme", "roles": ["lead"]},
    {"user": "vic", "tenant": "acme", "roles": ["viewer"]},
    {"user": "max", "tenant": "globex", "roles": ["lead"]},
]
HOLD = {"default": "0s", "clients": {"patient*": "30s", "brief": "300ms"}, "rounds": ["driver"]}
SUMMARY = ApprovalNotes(summary="Pay $args.amount")
LEFT = ApprovalNotes(cancel_on_disconnect=True)
CONTRACTS = house.contracts(
    *(
        house.contract(each, effect=Effect.WRITE, risk=Risk.HIGH, approval=notes)
        for each, notes in ((PAY, SUMMARY), (GIVE, LEFT), (SOON, SUMMARY))
    )
)


@dataclass
class Place:
    """A gateway, and the server behind it."""

    gateway: Gateway
    alpha: FakeHttp

    @property
    def sent(self) -> int:
        """How often the server was called."""
        return len(self.alpha.calls())

    async def call(self, name: str, amount: int, client: str = "") -> Json:
        """Call a tool and return what the gateway says about it."""
        meta = {"_meta": _client(client)} if client else {}
        return outcome(await self.gateway.call(f"alpha__{name}", {"amount": amount}, **meta))

    async def command(self, *words: str) -> tuple[int, Any]:
        """Run a command of `weighbridge approvals` in a process of its own."""
        config = str(self.gateway.folder / "config.yaml")
        command = ["approvals", *words, "--config", config, "--json"]
        done = await asyncio.to_thread(forked.ran, command)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    async def show(self, request: str) -> Json:
        """Return a request as the terminal shows it."""
        code, shown = await self.command("show", request)
        assert code == 0
        return shown

    async def decide(self, verb: str, request: str, who: str = "lea", *more: str) -> str:
        """Decide about a request, and return what became of the vote."""
        binding = (await self.show(request))["binding_short"]
        sure = ("--as", who, "--binding", binding, "--yes")
        code, said = await self.command(verb, request, *sure, *more)
        assert code == (0 if said["cast"] in {"approved", "denied"} else 1)
        return said["cast"]

    @asynccontextmanager
    async def held(
        self, name: str, amount: int, client: str = "patient"
    ) -> AsyncGenerator[tuple[asyncio.Task[Json], str]]:
        """Have a call held: give its task, and the request that people see."""
        before = {row["approval_id"] for row in self.requests()}

        def new() -> list[str]:
            return [
                row["approval_id"] for row in self.requests() if row["approval_id"] not in before
            ]

        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.call(name, amount, client))
            await until_async(new, house.WITHIN_S)
            yield task, new()[0]

    def requests(self, **wanted: Any) -> list[Json]:
        """Return the requests in the store, those with these columns."""
        return house.requests(self.gateway.folder, **wanted)

    def state(self, request: str) -> str:
        """Return the state of a request."""
        return self.requests(approval_id=request)[0]["state"]


def _client(name: str) -> Json:
    return {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}}


@pytest.fixture(scope="module")
def alpha() -> Generator[FakeHttp]:
    names = ("pay", "give", "soon")
    script = Script(tools=[PAY, GIVE, SOON], on_call={name: [DONE] for name in names})
    with FakeHttp(script) as fake:
        yield fake


@asynccontextmanager
async def place(folder: Path, alpha: FakeHttp) -> AsyncGenerator[Place]:
    """Run a gateway in a folder, on what an earlier one has left there."""
    config = house.config(
        {"alpha": house.http(alpha)},
        identity={"api_keys": [ENTRY]},
        approvals={"hold": HOLD, "max_pending": 100, "max_requests": 1000},
    )
    async with running(
        folder,
        config,
        policy=POLICY,
        contracts=CONTRACTS,
        headers={"Authorization": f"Bearer {KEY}"},
        admin={"accounts": PEOPLE},
    ) as gateway:
        await gateway.listed("alpha__pay")
        yield Place(gateway, alpha)


@pytest.fixture(scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory, alpha: FakeHttp) -> AsyncGenerator[Place]:
    async with place(tmp_path_factory.mktemp("approvals"), alpha) as made:
        yield made


async def test_a_held_call_goes_on_within_a_second_of_the_decision_in_the_terminal(
    home: Place,
) -> None:
    before = home.sent
    async with home.held("pay", 101) as (call, request):
        assert await home.decide("approve", request) == "approved"
        decided_at, sent = monotonic(), home.sent
        said = await call
    assert said["status"] == "ok"
    assert monotonic() - decided_at < 3  # the row is looked at each second
    assert sent <= home.sent == before + 1
    assert home.state(request) == "consumed"


async def test_a_call_that_is_not_held_finds_its_request_again_until_that_is_decided(
    home: Place,
) -> None:
    """case: APR-08"""
    before = home.sent
    asked = [await home.call("pay", 102) for _ in range(10)]
    assert {each["status"] for each in asked} == {"approval_pending"}
    (request,) = {each["approval_id"] for each in asked}
    assert asked[0]["approve_url"] == f"{home.gateway.admin}/approvals/{request}"
    assert await home.decide("approve", request) == "approved"
    assert home.sent == before
    done = [await home.call("pay", 102) for _ in range(3)]
    assert [each["status"] for each in done] == ["ok"] * 3
    assert [each.get("replayed", False) for each in done] == [False, True, True]
    assert home.sent == before + 1
    assert (await home.call("pay", 1020))["approval_id"] != request


async def test_votes_that_do_not_count_change_nothing(home: Place) -> None:
    """case: APR-03, APR-06, APR-10"""
    request = (await home.call("pay", 103))["approval_id"]
    for verb, more in (("approve", ()), ("deny", ("--reason", "no"))):
        assert await home.decide(verb, request, "vic", *more) == "not_entitled"
        assert await home.decide(verb, request, "max", *more) == "not_found"
    assert await home.decide("approve", request, "sam") == "self_approval"
    sure = ("--as", "lea", "--binding", "00000000", "--yes")
    code, said = await home.command("approve", request, *sure)
    assert (code, said["cast"]) == (1, "wrong_binding")
    assert home.state(request) == "pending"
    assert await home.decide("approve", request) == "approved"
    assert await home.decide("approve", request) == "already_decided"
    (vote,) = (await home.show(request))["votes"]
    assert (vote["user"], vote["choice"]) == ("lea", "approve")


async def test_a_denial_ends_the_wait_and_tells_why_each_time(home: Place) -> None:
    before = home.sent
    async with home.held("pay", 104) as (call, request):
        assert await home.decide("deny", request, "lea", "--reason", "older than 30 days") == (
            "denied"
        )
        said = await call
    again = await home.call("pay", 104)
    for each in (said, again):
        assert each["status"] == "approval_denied"
        assert "older than 30 days" in each["reason"]
    assert home.sent == before
    assert (await home.call("pay", 1040))["status"] == "approval_pending"


async def test_clients_are_held_as_long_as_their_name_says(home: Place) -> None:
    async def took(client: str) -> float:
        began = monotonic()
        assert (await home.call("pay", 105, client))["status"] == "approval_pending"
        return monotonic() - began

    await took("")
    at_once, brief = min([await took("") for _ in range(3)]), await took("brief")
    assert at_once < 0.3 <= brief < 10
    async with home.held("pay", 106, "Patient one") as (call, request):
        assert not call.done()
        assert await home.decide("approve", request) == "approved"
        assert (await call)["status"] == "ok"


async def test_a_client_that_is_named_for_it_is_given_a_state_to_come_back_with(
    home: Place,
) -> None:
    before, arguments = home.sent, {"amount": 107}
    meta = {"_meta": _client("driver")}
    first = await home.gateway.call("alpha__pay", arguments, **meta)
    assert first["resultType"] == "input_required"
    assert "inputRequests" not in first
    (request,) = home.requests(state="pending", tool="alpha.pay")[-1:]
    assert await home.decide("approve", request["approval_id"]) == "approved"
    back = {"requestState": first["requestState"]}
    done = await home.gateway.call("alpha__pay", arguments, **meta, **back)
    assert outcome(done)["status"] == "ok"
    assert home.sent == before + 1


async def test_who_closes_the_connection_finds_the_request_again(home: Place) -> None:
    """case: APR-04"""
    before = home.sent
    async with home.held("pay", 108) as (call, request):
        call.cancel()
    assert home.state(request) == "pending"
    assert await home.decide("approve", request) == "approved"
    assert home.sent == before
    assert (await home.call("pay", 108))["status"] == "ok"
    assert home.sent == before + 1


async def test_who_closes_the_connection_ends_the_request_where_the_contract_says_so(
    home: Place,
) -> None:
    """case: APR-04"""
    before = home.sent
    async with home.held("give", 109) as (call, request):
        call.cancel()
    await until_async(lambda: home.state(request) == "cancelled", house.WITHIN_S)
    assert await home.decide("approve", request) == "already_decided"
    assert (await home.show(request))["reason"] == "its caller went away while it was held"
    anew = await home.call("give", 109)
    assert (anew["status"], anew["approval_id"] != request) == ("approval_pending", True)
    assert home.sent == before


async def test_a_gateway_that_is_told_to_stop_lets_go_whom_it_holds_and_keeps_the_request(
    tmp_path: Path, alpha: FakeHttp
) -> None:
    """case: APR-07"""
    async with place(tmp_path, alpha) as first:
        before = first.sent
        async with (
            first.held("pay", 110) as (call, request),
            first.held("give", 110) as (
                other,
                given,
            ),
        ):
            assert await first.gateway.stop() == 0
            said = [await call, await other]
    assert [each["status"] for each in said] == ["approval_pending"] * 2
    assert [first.state(each) for each in (request, given)] == ["pending"] * 2
    async with place(tmp_path, alpha) as second:
        assert await second.decide("approve", request) == "approved"
        assert (await second.call("pay", 110))["status"] == "ok"
        assert second.sent == before + 1


async def test_requests_outlive_a_gateway_that_is_killed(tmp_path: Path, alpha: FakeHttp) -> None:
    """case: APR-07"""
    async with place(tmp_path, alpha) as first:
        before = first.sent
        waiting = (await first.call("pay", 111))["approval_id"]
        approved = (await first.call("pay", 112))["approval_id"]
        assert await first.decide("approve", approved) == "approved"
        soon = (await first.call("soon", 113))["approval_id"]
        await first.gateway.stop(signal.SIGKILL)
    async with place(tmp_path, alpha) as second:
        await until_async(lambda: second.state(soon) == "expired", house.WITHIN_S)
        assert second.sent == before
        assert [second.state(each) for each in (waiting, approved)] == ["pending", "approved"]
        assert await second.decide("approve", soon) == "too_late"
        assert await second.decide("approve", waiting) == "approved"
        for amount in (111, 112, 111, 112):
            assert (await second.call("pay", amount))["status"] == "ok"
        assert second.sent == before + 2
        assert [second.state(each) for each in (waiting, approved)] == ["consumed"] * 2
        stages: defaultdict[str, list[str]] = defaultdict(list)
        for each in second.gateway.events("--kind", "approval"):
            stages[each["body"]["approval"]].append(each["stage"])
    assert stages[soon] == ["requested", "expired", "refused"]
    assert stages[waiting] == stages[approved] == ["requested", "decided", "used"]


async def test_who_cancels_over_stdio_finds_the_request_again(
    tmp_path: Path, alpha: FakeHttp
) -> None:
    """case: APR-04"""
    configuration = house.config(
        {"alpha": house.http(alpha)},
        identity={"local": {"user": "sam", "tenant": "acme"}},
        admin={"accounts": PEOPLE},
        approvals={"hold": {"default": "30s"}},
    )
    async with house.hosted(tmp_path, configuration, policy=POLICY, contracts=CONTRACTS) as host:
        await house.listed(host, "alpha__pay")
        params = {"name": "alpha__pay", "arguments": {"amount": 114}}
        await host.send({"id": "held", "method": "tools/call", "params": params})
        await until_async(lambda: house.requests(tmp_path), house.WITHIN_S)
        cancel = {"method": "notifications/cancelled", "params": {"requestId": "held"}}
        await host.send(cancel)
        await house.names_of(host)  # by then it has seen the cancellation
        desk = Place(Gateway(url="", process=host.process, folder=tmp_path), alpha)
        before, (request,) = desk.sent, desk.requests(state="pending")
        assert await desk.decide("approve", request["approval_id"]) == "approved"
        assert desk.sent == before
        done = outcome(await house.call(host, "alpha__pay", {"amount": 114}))
        assert done["status"] == "ok"
        assert desk.sent == before + 1
