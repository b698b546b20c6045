"""Runs as hosts, agents and people work with them: the real command, real clients."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.client import AsyncClient, RunsError, meta
from gateway.identity.apikeys import ADMIN_PREFIX, hash_key
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk, Yield
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json

PUT, FIND = tool("put_item"), tool("find")
ANA, ANA_ENTRY = house.key("ana", "acme", "ana")
BO, BO_ENTRY = house.key("bo", "acme", "bo")
CY, CY_ENTRY = house.key("cy", "globex", "ana")  # of another tenant, with the same name
TEMPLATES = """runs:
  refund:
    mode: host
    fields: {customer_id: {required: true, from: [user, crm.id]}}
  support:
    mode: agent
    fields: {customer_id: {required: true, from: [crm.id]}}
    phases: {acting: {enter_when: [evidence >= 0]}}
"""
FOUND: Json = {**text("c-1"), "structuredContent": {"id": "c-1"}}


def host_key(name: str, tenant: str) -> tuple[str, Json]:
    """Return a key for `/v1` and its entry."""
    key = f"{ADMIN_PREFIX}{name}_{name.encode().hex().ljust(64, '0')}"
    scopes = ["run:manage", "run:phase"]
    entry = {"id": name, "hash": hash_key(key), "user": "svc", "tenant": tenant, "scopes": scopes}
    return key, entry


HOST, HOST_ENTRY = host_key("host", "acme")
OTHER, OTHER_ENTRY = host_key("other", "globex")


def contracts() -> str:
    """Return contracts for a write, and a read that yields ids of customers."""
    yields = (Yield(type="crm.id", path="/id"),)
    return house.contracts(
        house.contract(PUT, effect=Effect.WRITE, risk=Risk.LOW),
        house.contract(FIND, yields=yields),
    )


@dataclass(frozen=True)
class Place:
    """A gateway with a host before its listener for people, and agents before the other one."""

    gateway: Gateway
    fake: FakeHttp
    folder: Path

    def agent(self, key: str = ANA) -> house.ModernHttp:
        """Return an agent that holds a credential."""
        return house.as_modern(self.gateway, Authorization=f"Bearer {key}")

    async def put(self, value: int, run_id: str, key: str = ANA) -> Json:
        """Write something in a run and return what came of it."""
        made = await house.call(
            self.agent(key), "alpha__put_item", {"v": value}, _meta=meta(run_id)
        )
        return outcome(made)


def config(fake: FakeHttp) -> str:
    """Return a configuration for three agents."""
    return house.config(
        {"alpha": house.http(fake)},
        identity={"api_keys": [ANA_ENTRY, BO_ENTRY, CY_ENTRY]},
    )


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("hosts")
    write_templates(folder)
    with FakeHttp(Script(tools=[PUT, FIND], on_call={"find": [{"reply": FOUND}]})) as fake:
        async with running(
            folder,
            config(fake),
            contracts=contracts(),
            admin={"api_keys": [HOST_ENTRY, OTHER_ENTRY]},
            headers={"Authorization": f"Bearer {ANA}"},
        ) as gateway:
            await gateway.listed("alpha__put_item", "alpha__find", "run_start")
            yield Place(gateway, fake, folder)


def write_templates(folder: Path) -> None:
    """Put the templates into the policy folder."""
    (folder / "policies/runs").mkdir(parents=True, exist_ok=True)
    (folder / "policies/runs/refund.yaml").write_text(TEMPLATES)


async def test_a_host_says_when_its_agent_may_write(place: Place) -> None:
    async with AsyncClient(place.gateway.admin, HOST) as client:
        run = await client.start(template="refund", user="ana", objective="give it back")
        early = await place.put(1, run.run_id)
        assert (early["status"], early["executed"]) == ("phase_blocked", "no")
        await client.set_phase(run.run_id, Phase.ACTING)
        assert (await place.put(1, run.run_id))["status"] == "ok"
        await client.pause(run.run_id, "look at this first")
        paused = await place.put(2, run.run_id)
        assert (paused["status"], "look at this first" in paused["reason"]) == (
            "phase_blocked",
            True,
        )
        await client.resume(run.run_id)
        assert (await place.put(2, run.run_id))["status"] == "ok"
        state = await client.show(run.run_id)
        assert (state.phase, state.open_operations) == (Phase.ACTING, 0)
        assert state.missing == {"completed": ["fields.customer_id"]}
        with pytest.raises(RunsError, match="customer_id"):
            await client.complete(run.run_id)
        await client.set_fields(run.run_id, {"customer_id": "c-1"}, said_by_user=True)
        package = await client.package(run.run_id)
        assert [(op.tool, op.state) for op in package.operations] == [
            ("alpha.put_item", "succeeded")
        ] * 2
        assert (await client.complete(run.run_id, note="done")).phase is Phase.COMPLETED
        assert (await place.put(3, run.run_id))["status"] == "phase_blocked"
        stages = [each["stage"] for each in house.events(place.folder, kind="run", run=run.run_id)]
        assert stages == ["started", "moved", "paused", "resumed", "changed", "stopped"]


async def test_a_host_moves_a_run_with_the_very_call_only_if_it_may(place: Place) -> None:
    async with AsyncClient(place.gateway.admin, HOST) as client:
        run = await client.start(template="refund", user="ana")
        named = meta(run.run_id, Phase.ACTING)
        made = await house.call(place.agent(), "alpha__put_item", {"v": 9}, _meta=named)
        assert outcome(made)["status"] == "forbidden"
        assert (await client.show(run.run_id)).phase is Phase.CREATED


async def test_nobody_else_reaches_a_run(place: Place) -> None:
    async with (
        AsyncClient(place.gateway.admin, HOST) as client,
        AsyncClient(place.gateway.admin, OTHER) as other,
    ):
        run = await client.start(user="ana")
        for key in (BO, CY):
            refused = await place.put(1, run.run_id, key)
            assert (refused["status"], refused["code"]) == ("invalid_arguments", "unknown_run")
            told = await house.call(place.agent(key), "run_status", {"run_id": run.run_id})
            assert outcome(told)["status"] == "invalid_arguments"
        for ask in (other.show(run.run_id), other.pause(run.run_id, "x")):
            with pytest.raises(RunsError) as refusal:
                await ask
            assert refusal.value.problem.status == 404
        assert run.run_id not in [each.run_id for each in (await other.list_runs()).runs]
        assert (await client.show(run.run_id)).version == 0


async def test_no_credential_of_one_listener_opens_the_other(place: Place) -> None:
    async with aiohttp.ClientSession() as session:
        for key in (ANA, "x.y.z", ""):
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            async with session.get(f"{place.gateway.admin}/v1/runs", headers=headers) as answer:
                assert answer.status == 401
                assert answer.content_type == "application/problem+json"
        for key in (ANA, HOST):
            headers = {"Authorization": f"Bearer {key}"}
            for path in ("/approvals", "/runs"):
                async with session.get(f"{place.gateway.admin}{path}", headers=headers) as answer:
                    assert answer.status == 403
    status, _ = await place.gateway.send("tools/list", Authorization=f"Bearer {HOST}")
    assert status == 401
    found = await house.event(place.folder, action="auth_rejected", transport="admin")
    assert HOST[-20:] not in str(found)


async def test_an_agent_works_in_a_run_of_its_own(place: Place) -> None:
    async with house.legacy(place.gateway) as agent:
        await house.listed(agent, "run_start", "run_set_field")
        begun = await called(agent, "run_start", objective="help", template="support")
        early = await house.call(agent, "alpha__put_item", {"v": 21})
        assert outcome(early)["status"] == "phase_blocked"
        await called(agent, "run_set_phase", phase="retrieving")
        invented = await house.call(agent, "run_set_field", {"name": "customer_id", "value": "c-9"})
        assert outcome(invented)["status"] == "provenance_failed"
        await house.call(agent, "alpha__find", {"v": 0})
        known = await called(agent, "run_set_field", name="customer_id", value="c-1")
        assert known["fields"] == {"customer_id": "c-1"}
        await called(agent, "run_set_phase", phase="acting")
        assert outcome(await house.call(agent, "alpha__put_item", {"v": 21}))["status"] == "ok"
        status = await called(agent, "run_status")
        assert (status["run_id"], status["phase"]) == (begun["run_id"], "acting")
        over = await called(agent, "run_handoff", reason="he is angry", to="tier 2")
        assert over["phase"] == "handoff"
        blocked = outcome(await house.call(agent, "alpha__put_item", {"v": 22}))
        assert blocked["status"] == "phase_blocked"
    shown = place.gateway.command("runs", "show", begun["run_id"])[0]
    assert (shown["phase"], shown["note"]) == ("handoff", "for tier 2: he is angry")
    assert shown["package"]["operations"][0]["tool"] == "alpha.put_item"
    titles = [each["title"] for each in shown["timeline"]]
    assert titles[0] == "the run began"
    assert {"weighed", "called", "effect", "the run was handed over"} <= set(titles)


async def called(agent: house.Client, name: str, /, **arguments: Any) -> Json:
    """Use one of the gateway's own tools, which has to do it."""
    made = await house.call(agent, name, arguments)
    assert not made.get("isError"), made
    return made["structuredContent"]


async def test_a_paused_run_outlives_the_gateway_and_its_hosts(tmp_path: Path) -> None:
    write_templates(tmp_path)
    with FakeHttp(Script(tools=[PUT, FIND])) as fake:

        def gateway() -> Any:
            return running(
                tmp_path,
                config(fake),
                contracts=contracts(),
                admin={"api_keys": [HOST_ENTRY]},
                headers={"Authorization": f"Bearer {ANA}"},
            )

        async with gateway() as first:
            await first.listed("alpha__put_item")
            async with AsyncClient(first.admin, HOST) as client:
                run = await client.start(user="ana", objective="longer than a day")
                await client.set_phase(run.run_id, Phase.ACTING)
                await client.pause(run.run_id, "night")
        async with gateway() as second:
            await second.listed("alpha__put_item")
            place = Place(second, fake, tmp_path)
            assert (await place.put(1, run.run_id))["status"] == "phase_blocked"
            done = await asyncio.to_thread(second.command, "runs", "resume", run.run_id)
            assert done[0]["is_paused"] is False
            assert (await place.put(1, run.run_id))["status"] == "ok"


@dataclass(frozen=True)
class Side:
    """One tenant: its host, its agent, and the word that only its own answers may hold."""

    host: AsyncClient
    agent: house.ModernHttp
    word: str


async def worked(side: Side, number: int, others: list[str]) -> str:
    """Work in a run of a tenant, look for all that is the other's, and return what was heard."""
    heard: list[str] = []
    run = await side.host.start(
        user="ana", objective=f"{side.word} {number}", fields={"secret": side.word}
    )
    others.append(run.run_id)
    heard.append(str(await side.host.show(run.run_id)))
    heard.append(str(await side.host.list_runs()))
    heard.append(str(await side.host.package(run.run_id)))
    for run_id in list(others):
        named = meta(run_id)
        for name, arguments in (
            ("run_status", {}),
            ("run_status", {"run_id": run_id}),
            ("alpha__find", {"v": number}),
        ):
            heard.append(str(await house.call(side.agent, name, arguments, _meta=named)))
        try:
            heard.append(str(await side.host.show(run_id)))
        except RunsError as refused:
            heard.append(str(refused.problem))
    return "".join(heard)


async def test_no_run_of_one_tenant_is_heard_of_in_the_other(place: Place) -> None:
    async with (
        AsyncClient(place.gateway.admin, HOST, timeout_s=120) as ours,
        AsyncClient(place.gateway.admin, OTHER, timeout_s=120) as theirs,
    ):
        sides = [
            Side(ours, place.agent(ANA), "canary-of-acme"),
            Side(theirs, place.agent(CY), "canary-of-globex"),
        ]
        known: list[str] = []
        heard = await asyncio.gather(
            *(worked(side, number, known) for number in range(8) for side in sides)
        )
    for at, told in enumerate(heard):
        side, other = sides[at % 2], sides[1 - at % 2]
        assert side.word in told
        assert other.word not in told


HOLD = """rules:
  - {id: reads, decision: allow, match: {tools: ["alpha.find"]}}
  - id: ask
    decision: require_approval
    reason: it moves money
    match: {tools: ["alpha.put_item"]}
    approval: {approvers: {roles: [lead]}, expires: 1h}
"""


async def test_requests_of_a_run_that_is_cancelled_end_with_it(tmp_path: Path) -> None:
    write_templates(tmp_path)
    people = [{"user": "lea", "tenant": "acme", "roles": ["lead"]}]
    with FakeHttp(Script(tools=[PUT, FIND])) as fake:
        async with (
            running(
                tmp_path,
                config(fake) + 'approvals: {hold: {default: "0s"}}\n',
                policy=HOLD,
                contracts=contracts(),
                admin={"api_keys": [HOST_ENTRY], "accounts": people},
                headers={"Authorization": f"Bearer {ANA}"},
            ) as gateway,
            AsyncClient(gateway.admin, HOST) as client,
        ):
            await gateway.listed("alpha__put_item")
            run = await client.start(user="ana")
            await client.set_phase(run.run_id, Phase.ACTING)
            place = Place(gateway, fake, tmp_path)
            asked = await place.put(1, run.run_id)
            assert asked["status"] == "approval_pending"
            waiting = await client.show(run.run_id)
            assert (waiting.phase, waiting.pending_approvals) == (Phase.AWAITING_APPROVAL, 1)
            package = await client.package(run.run_id)
            assert package.approvals[0].url.endswith(f"/approvals/{asked['approval_id']}")
            await client.cancel(run.run_id, "he changed his mind")
            await until_async(lambda: house.requests(tmp_path, state="cancelled"), house.WITHIN_S)
            assert (await place.put(1, run.run_id))["status"] == "phase_blocked"
            assert fake.calls() == []


async def test_a_host_that_only_sets_headers_names_its_run_too(place: Place) -> None:
    async with AsyncClient(place.gateway.admin, HOST) as client:
        run = await client.start(user="ana")
        await client.set_phase(run.run_id, Phase.ACTING)
        agent = place.agent()
        agent.headers["X_Run_Id"] = run.run_id
        made = outcome(await house.call(agent, "alpha__put_item", {"v": 31}))
        assert (made["status"], made["run_id"]) == ("ok", run.run_id)
        both = await house.call(
            agent, "alpha__put_item", {"v": 32}, _meta=meta((await client.start(user="ana")).run_id)
        )
        assert outcome(both)["status"] == "run_conflict"


async def test_an_agent_over_stdio_has_a_run_as_long_as_its_process(tmp_path: Path) -> None:
    write_templates(tmp_path)
    alpha = house.stdio(Script(tools=[PUT, FIND]), tmp_path)
    async with house.hosted(
        tmp_path, house.config({"alpha": alpha}), policy=ALLOW, contracts=contracts()
    ) as agent:
        await house.listed(agent, "alpha__put_item", "run_start")
        begun = await called(agent, "run_start", objective="help")
        await called(agent, "run_set_phase", phase="acting")
        made = outcome(await house.call(agent, "alpha__put_item", {"v": 1}))
        assert (made["status"], made["run_id"]) == ("ok", begun["run_id"])
        assert (await called(agent, "run_finish", outcome="completed"))["phase"] == "completed"


async def test_a_retry_is_not_sent_again_because_its_run_has_begun_or_ended(place: Place) -> None:
    """case: IDM-05"""
    agent, talk = place.agent(), {"vscode.conversationId": "retried"}
    keyed = {**talk, "weighbridge/idempotencyKey": "order-4711"}
    writes = [({"v": 71}, talk), ({"v": 72}, keyed)]

    async def made() -> list[Json]:
        answers = [
            await house.call(agent, "alpha__put_item", arguments, _meta=meta)
            for arguments, meta in writes
        ]
        return [outcome(each) for each in answers]

    first = await made()
    assert [each["status"] for each in first] == ["ok", "ok"]
    begun = (await house.call(agent, "run_start", {"objective": "help"}, _meta=talk))[
        "structuredContent"
    ]
    moved = {"phase": "acting"}
    await house.call(agent, "run_set_phase", moved, _meta=talk)
    in_run = await made()
    async with AsyncClient(place.gateway.admin, HOST) as client:
        assert (await client.complete(begun["run_id"])).phase is Phase.COMPLETED
    after = await made()
    for again in (in_run, after):
        assert [each["op_id"] for each in again] == [each["op_id"] for each in first]
        assert all(each["replayed"] for each in again)
    elsewhere = {"vscode.conversationId": "another"}
    other = await house.call(agent, "alpha__put_item", {"v": 71}, _meta=elsewhere)
    assert outcome(other)["op_id"] not in [each["op_id"] for each in first]
    sent = [each["params"]["arguments"] for each in place.fake.calls()]
    assert (sent.count({"v": 71}), sent.count({"v": 72})) == (2, 1)
