"""A write is carried out once, whoever repeats its call, and whatever goes wrong on the way."""

import asyncio
import itertools
import os
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from gateway.types.tools import Contract, Effect, Risk
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import (
    LEGACY_VERSION,
    Script,
    Step,
    record_of,
    text,
    tool,
    until_async,
)
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.journeys import house
from tests.journeys.house import Json

KEY = "weighbridge/idempotencyKey"
HEADER = "Idempotency-Key"
# A server's hint is no licence to send twice.
PUT = tool("put_item", annotations={"idempotentHint": True})
TOOLS = [PUT, tool("del_item"), tool("find"), tool("slow")]
DONE: Json = {**text("done"), "structuredContent": {"id": 4711, "of": 10**30}}
FAILED: Json = {**text("no such shelf"), "isError": True}
ERAS = ["modern", "legacy"]
ANA, ANA_ENTRY = house.key("ana", "t1", "ana")
BO, BO_ENTRY = house.key("bo", "t1", "bo")
CY, CY_ENTRY = house.key("cy", "t2", "cy")
_numbers = itertools.count(1)


def fresh() -> Json:
    """Return arguments that no other call has: it meets nothing."""
    return {"v": next(_numbers)}


def contracts(*servers: str) -> str:
    """Return contracts for the tools of servers: `find` reads, and `slow` may take 0.3 s."""

    def entry(server: str, definition: Json) -> Contract:
        name = definition["name"]
        effect = Effect.READ if name == "find" else Effect.WRITE
        timeout_s = 0.3 if name == "slow" else None
        return house.contract(definition, server, effect=effect, risk=Risk.LOW, timeout_s=timeout_s)

    return house.contracts(*(entry(server, one) for server in servers for one in TOOLS))


def sent(fake: FakeHttp, name: str, arguments: Json) -> int:
    """Return how often a server was sent a call."""
    wanted = {"name": name, "arguments": arguments}
    return sum(wanted.items() <= message["params"].items() for message in fake.calls())


def waiting_for(go: Path, folder: Path) -> Json:
    """Return the entry of a server that writes once a file exists."""
    steps: list[Step] = [{"wait_for_file": str(go)}, {"reply": DONE}]
    return house.stdio(Script(tools=TOOLS, on_call={"put_item": steps}), folder)


@dataclass(frozen=True)
class Place:
    """A gateway with servers of both eras behind it, for three callers of two tenants."""

    gateway: Gateway
    folder: Path
    modern: FakeHttp
    legacy: FakeHttp

    def fake(self, era: str) -> FakeHttp:
        """Return the server of an era, well again."""
        found = self.modern if era == "modern" else self.legacy
        found.script.on_call = {}
        return found

    def by(self, key: str) -> house.Client:
        """Return a client that holds a credential."""
        return house.as_modern(self.gateway, Authorization=f"Bearer {key}")


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Place]:
    folder = tmp_path_factory.mktemp("once")
    with (
        FakeHttp(Script(tools=TOOLS)) as modern,
        FakeHttp(Script(tools=TOOLS, eras=["legacy"], version=LEGACY_VERSION)) as legacy,
    ):
        config = house.config(
            {"modern": house.http(modern), "legacy": house.http(legacy)},
            identity={"api_keys": [ANA_ENTRY, BO_ENTRY, CY_ENTRY]},
        )
        async with running(
            folder,
            config,
            contracts=contracts("modern", "legacy"),
            headers={"Authorization": f"Bearer {ANA}"},
        ) as gateway:
            await gateway.listed("modern__put_item", "legacy__put_item")
            yield Place(gateway, folder, modern, legacy)


# --- the answer is lost, and the call repeated ------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("answer", [DONE, FAILED], ids=["done", "failed"])
async def test_a_caller_that_lost_its_answer_gets_it_by_repeating_the_call(
    tmp_path: Path, era: str, answer: Json
) -> None:
    """case: IDM-01"""
    go, asked, meta = tmp_path / "go", {"v": 1}, {KEY: "k1"}
    steps: list[Step] = [{"wait_for_file": str(go)}, {"reply": answer}]
    with FakeHttp(Script(tools=TOOLS, on_call={"put_item": steps})) as alpha:
        config, reviewed = house.config({"alpha": house.http(alpha)}), contracts("alpha")

        async def put(client: house.Client) -> Json:
            return await house.call(client, "alpha__put_item", asked, _meta=meta)

        async with running(tmp_path, config, contracts=reviewed) as gateway:
            await gateway.listed("alpha__put_item")
            async with house.client(gateway, era) as client:
                lost = asyncio.ensure_future(put(client))
                await until_async(lambda: sent(alpha, "put_item", asked))
                lost.cancel()
                second = asyncio.ensure_future(put(client))
                await asyncio.wait({lost, second}, timeout=0.3)
                assert not second.done()  # the same call is under way, and it waits for its end
                go.touch()
                answers = [await second, await put(client)]
        async with (
            running(tmp_path, config, contracts=reviewed) as gateway,
            house.client(gateway, era) as client,
        ):
            await house.listed(client, "alpha__put_item")
            answers.append(await put(client))
        assert sent(alpha, "put_item", asked) == 1
    for found in answers:
        assert {key: found[key] for key in answer} == answer
        assert outcome(found)["replayed"] is True
    assert len({outcome(found)["op_id"] for found in answers}) == 1
    assert len(house.operations(tmp_path)) == 1


async def test_a_host_that_starts_its_gateway_anew_gets_the_answer_from_the_store(
    tmp_path: Path,
) -> None:
    """case: IDM-01"""
    alpha = house.stdio(Script(tools=TOOLS, on_call={"put_item": [{"reply": DONE}]}), tmp_path)
    found: list[Json] = []
    for _ in range(2):
        async with house.hosted(
            tmp_path, house.config({"alpha": alpha}), policy=ALLOW, contracts=contracts("alpha")
        ) as host:
            await house.listed(host, "alpha__put_item")
            found.append(await house.call(host, "alpha__put_item", {"v": 1}))
            found.append(await house.call(host, "alpha__put_item", {"v": 1}))
    assert [each["structuredContent"] for each in found] == [DONE["structuredContent"]] * 4
    assert [outcome(each).get("replayed", False) for each in found] == [False, True, True, True]
    assert len(record_of(tmp_path, "alpha").calls()) == 1


async def test_a_host_that_left_in_mid_write_gets_the_answer_when_it_is_back(
    tmp_path: Path,
) -> None:
    """case: IDM-01"""
    go, config = tmp_path / "go", house.config({"alpha": waiting_for(tmp_path / "go", tmp_path)})
    record, asked = record_of(tmp_path, "alpha"), {"v": 1}
    reviewed = contracts("alpha")
    async with house.hosted(tmp_path, config, policy=ALLOW, contracts=reviewed) as host:
        await house.listed(host, "alpha__put_item")
        params = {"name": "alpha__put_item", "arguments": asked}
        await host.send({"id": 99, "method": "tools/call", "params": params})
        await until_async(record.calls, house.WITHIN_S)
        host.leave()
        go.touch()
    async with house.hosted(tmp_path, config, policy=ALLOW, contracts=reviewed) as host:
        await house.listed(host, "alpha__put_item")
        found = await house.call(host, "alpha__put_item", asked)
    assert (found["content"], outcome(found)["replayed"]) == (DONE["content"], True)
    assert len(record.calls()) == 1


# --- something breaks on the way --------------------------------------------------------------

FAULTS: dict[str, list[Step]] = {
    "close_after_commit": [{"drop": True}],
    "http_502_after_commit": [{"http": 502}],
    "half_an_answer": [{"sse": ['data: {"jsonrpc":"2.0","id":$ID,"res']}, {"drop": True}],
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("fault", FAULTS)
async def test_after_a_fault_a_read_may_be_sent_again_and_a_write_is_not(
    place: Place, fault: str, era: str
) -> None:
    """case: IDM-03"""
    fake, asked = place.fake(era), fresh()
    fake.script.on_call = {"*": FAULTS[fault]}
    first = outcome(await place.gateway.call(f"{era}__put_item", asked))
    await place.gateway.call(f"{era}__find", asked)
    fake.script.on_call = {}
    again = outcome(await place.gateway.call(f"{era}__put_item", asked))
    for said in (first, again):
        assert (said["status"], said["executed"]) == ("indeterminate", "unknown")
        assert (said["retryable"], said["op_id"]) == (False, first["op_id"])
        assert "replay_until" not in said
    assert sent(fake, "put_item", asked) == 1
    assert sent(fake, "find", asked) in (1, 2)
    assert outcome(await place.gateway.call(f"{era}__find", asked))["status"] == "ok"


async def test_a_session_that_was_forgotten_before_a_write_ran_costs_nobody_anything(
    place: Place,
) -> None:
    """case: IDM-03"""
    fake, asked = place.fake("legacy"), fresh()
    for name in ("put_item", "find"):
        fake.forget_sessions()
        ran = fake.fake.calls
        assert outcome(await place.gateway.call(f"legacy__{name}", asked))["status"] == "ok"
        assert fake.fake.calls == ran + 1  # the other one was answered with 404, unread


async def test_an_answer_that_comes_too_late_is_what_a_repeated_call_gets(
    place: Place, tmp_path: Path
) -> None:
    """case: IDM-03"""
    fake, asked, go = place.fake("modern"), fresh(), tmp_path / "go"
    fake.script.on_call = {"slow": [{"wait_for_file": str(go)}, {"reply": DONE}]}
    first = outcome(await place.gateway.call("modern__slow", asked))
    again = outcome(await place.gateway.call("modern__slow", asked))
    assert [said["status"] for said in (first, again)] == ["indeterminate"] * 2
    go.touch()
    await until_async(
        lambda: house.operations(place.folder, op_id=first["op_id"], state="succeeded")
    )
    last = await place.gateway.call("modern__slow", asked)
    assert (last["content"], outcome(last)["replayed"]) == (DONE["content"], True)
    assert sent(fake, "slow", asked) == 1


async def test_a_server_that_dies_in_mid_write_is_not_asked_for_it_again(tmp_path: Path) -> None:
    """case: IDM-03"""
    script = Script(tools=TOOLS, on_call={"put_item": [{"exit": 1}]})
    config, reviewed = house.config({"alpha": house.stdio(script, tmp_path)}), contracts("alpha")
    async with running(tmp_path, config, contracts=reviewed) as gateway:
        await gateway.listed("alpha__put_item")
        first = outcome(await gateway.call("alpha__put_item", {"v": 1}))
        again = outcome(await gateway.call("alpha__put_item", {"v": 1}))
    assert [said["status"] for said in (first, again)] == ["indeterminate"] * 2
    assert len(record_of(tmp_path, "alpha").calls()) == 1


async def test_a_pipe_that_breaks_before_all_was_sent_proves_that_nothing_ran(
    tmp_path: Path,
) -> None:
    """case: IDM-03"""
    go, record, asked = tmp_path / "go", record_of(tmp_path, "alpha"), {"text": "x" * 500_000}
    go.touch()
    config = house.config({"alpha": waiting_for(go, tmp_path)})
    async with running(tmp_path, config, contracts=contracts("alpha")) as gateway:
        await gateway.listed("alpha__put_item")
        (pid,) = record.pids()
        os.kill(pid, signal.SIGSTOP)  # it reads nothing: the pipe fills up
        waiting = asyncio.ensure_future(gateway.call("alpha__put_item", asked))
        await until_async(lambda: house.operations(tmp_path, state="dispatching"))
        os.kill(pid, signal.SIGKILL)
        said = outcome(await waiting)
        # Whether the gateway had another process at hand for it, or says that there was none:
        assert said["status"] == "ok" or (said["status"], said["executed"]) == ("unavailable", "no")

        async def done() -> bool:
            return outcome(await gateway.call("alpha__put_item", asked))["status"] == "ok"

        await until_async(done, house.WITHIN_S)
    assert len(record.calls()) == 1
    [kept] = house.operations(tmp_path)
    assert (kept["op_id"], kept["state"]) == (said["op_id"], "succeeded")


# --- keys -------------------------------------------------------------------------------------

Put = Callable[..., Awaitable[Json]]


def keyed(client: house.ModernHttp | house.LegacyHttp, how: str, key: str) -> Put:
    """Return a way to call tools of the server `modern` under a key."""

    async def put(arguments: Json, name: str = "put_item") -> Json:
        if how == "meta":
            return await house.call(client, f"modern__{name}", arguments, _meta={KEY: key})
        client.headers[HEADER] = key
        try:
            return await house.call(client, f"modern__{name}", arguments)
        finally:
            del client.headers[HEADER]

    return put


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["meta", "header"])
async def test_a_key_is_good_for_one_request(place: Place, era: str, how: str) -> None:
    """case: IDM-04"""
    fake, asked, other = place.fake("modern"), fresh() | {"note": "a"}, fresh() | {"note": "a"}
    null: Json = {"w": None, **asked}
    async with house.client(place.gateway, era) as client:
        put = keyed(client, how, f"one-{era}-{how}")
        first = await put(asked)
        refused = [await put(other), await put(null), await put(asked, "del_item")]
        again = await put(dict(reversed(asked.items())))
    for said in map(outcome, refused):
        assert (said["status"], said["executed"]) == ("idempotency_conflict", "no")
        assert "new idempotency key" in said["next"]
    assert outcome(refused[0])["details"] == [{"pointer": "/v"}]
    assert outcome(refused[1])["details"] == [{"pointer": "/w"}]
    assert (again["structuredContent"], outcome(again)["replayed"]) == (
        first["structuredContent"],
        True,
    )
    assert sent(fake, "put_item", asked) == 1
    assert [sent(fake, "put_item", each) for each in (other, null)] == [0, 0]
    assert sent(fake, "del_item", asked) == 0


@pytest.mark.parametrize("era", ERAS)
async def test_a_key_stays_with_its_host_and_is_the_same_in_both_places(
    place: Place, era: str
) -> None:
    """case: IDM-04"""
    fake, asked, key = place.fake("modern"), fresh(), f"both-{era}"
    async with house.client(place.gateway, era) as client:
        await keyed(client, "header", f'"{key}"')(asked)
        again = await keyed(client, "meta", key)(asked)
        assert outcome(again)["replayed"] is True
        client.headers[HEADER] = key
        for given, status in ((key, "ok"), ("another", "invalid_arguments")):
            found = await house.call(client, "modern__put_item", asked, _meta={KEY: given})
            assert outcome(found)["status"] == status
        assert outcome(found)["code"] == "idempotency_key"
    assert sent(fake, "put_item", asked) == 1
    [message] = [each for each in fake.calls() if each["params"]["arguments"] == asked]
    assert HEADER.lower() not in message["headers"]
    assert KEY not in message["params"].get("_meta", {})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["meta", "header"])
@pytest.mark.parametrize("key", ["", "k" * 201, "ä"])
async def test_a_key_that_is_none_is_refused_and_nothing_sent(
    place: Place, era: str, how: str, key: str
) -> None:
    """case: IDM-05"""
    fake, asked = place.fake("modern"), fresh()
    async with house.client(place.gateway, era) as client:
        said = outcome(await keyed(client, how, key)(asked))
    assert (said["status"], said["code"]) == ("invalid_arguments", "idempotency_key")
    assert "idempotency key" in said["reason"]
    assert sent(fake, "put_item", asked) == 0


async def test_one_key_of_different_tenants_callers_and_servers_is_different_keys(
    place: Place,
) -> None:
    """case: IDM-05"""
    place.fake("modern")
    place.fake("legacy")
    calls = [(ANA, "modern"), (BO, "modern"), (CY, "modern"), (ANA, "legacy")]
    arguments = [fresh() for _ in calls]
    for is_repeated in (False, True):
        for (key, server), asked in zip(calls, arguments, strict=True):
            found = await house.call(
                place.by(key), f"{server}__put_item", asked, _meta={KEY: "order-1"}
            )
            assert found["structuredContent"]["arguments"] == asked
            assert outcome(found).get("replayed", False) is is_repeated
    # Nor does a caller learn from a conflict that another one has used a key.
    said = outcome(
        await house.call(place.by(CY), "modern__put_item", arguments[1], _meta={KEY: "order-1"})
    )
    assert said["status"] == "idempotency_conflict"
    own = outcome(await house.call(place.by(CY), "modern__put_item", arguments[1]))
    assert "replayed" not in own


# --- times ------------------------------------------------------------------------------------


async def test_a_write_that_outlasts_its_lease_is_not_sent_again(tmp_path: Path) -> None:
    """case: IDM-06"""
    go = tmp_path / "go"
    steps: list[Step] = [{"wait_for_file": str(go)}, {"reply": DONE}]
    with FakeHttp(Script(tools=TOOLS, on_call={"put_item": steps})) as alpha:
        config = house.config({"alpha": house.http(alpha)}, operations={"lease": "1s"})
        async with running(tmp_path, config, contracts=contracts("alpha")) as gateway:
            await gateway.listed("alpha__put_item")
            calls = [asyncio.ensure_future(gateway.call("alpha__put_item", {"v": 1}))]
            await until_async(lambda: house.operations(tmp_path, state="dispatching"))
            [first] = house.operations(tmp_path)
            outlasted = first["lease_until"] + 1_000_000
            await until_async(lambda: time.time_ns() // 1000 > outlasted)
            [renewed] = house.operations(tmp_path)
            assert (renewed["state"], renewed["epoch"]) == ("dispatching", 1)
            calls.append(asyncio.ensure_future(gateway.call("alpha__put_item", {"v": 1})))
            await asyncio.wait(calls, timeout=0.3)
            assert not any(call.done() for call in calls)
            go.touch()
            found = [await call for call in calls]
        assert [each["content"] for each in found] == [DONE["content"]] * 2
        assert sent(alpha, "put_item", {"v": 1}) == 1


async def test_after_its_window_a_call_is_a_new_one_and_its_answer_said_so(tmp_path: Path) -> None:
    """case: IDM-06"""
    with FakeHttp(Script(tools=TOOLS)) as alpha:
        config = house.config({"alpha": house.http(alpha)}, operations={"window": "2s"})
        async with running(tmp_path, config, contracts=contracts("alpha")) as gateway:
            await gateway.listed("alpha__put_item")

            async def put() -> Json:
                found = await gateway.call("alpha__put_item", {"v": 1}, _meta={KEY: "k1"})
                return outcome(found)

            first, again = await put(), await put()
            assert (again["replayed"], again["replay_until"]) == (True, first["replay_until"])
            until = datetime.fromisoformat(first["replay_until"]).timestamp()
            assert 0 < until - time.time() <= 2
            await until_async(lambda: time.time() > until)
            anew = await put()
        assert "replayed" not in anew
        assert anew["op_id"] != first["op_id"]
        assert anew["replay_until"] > first["replay_until"]
        assert sent(alpha, "put_item", {"v": 1}) == 2


HIDING = """\
rules:
  - id: all
    decision: allow
    match: {tools: ['*']}
    output: {redact: [{path: /iban, as: remove}]}
"""


async def test_an_answer_that_is_told_again_holds_no_more_than_the_policy_of_today_lets_out(
    tmp_path: Path,
) -> None:
    answer: Json = {**text("done"), "structuredContent": {"id": 1, "iban": "DE02"}}
    with FakeHttp(Script(tools=[PUT], on_call={"put_item": [{"reply": answer}]})) as server:
        config, law = house.config({"alpha": house.http(server)}), contracts("alpha")
        async with running(tmp_path, config, contracts=law) as gateway:
            await gateway.listed("alpha__put_item")
            first, key = fresh(), {KEY: "hidden since"}
            before = await gateway.call("alpha__put_item", first, _meta=key)
            assert before["structuredContent"] == {"id": 1, "iban": "DE02"}
            (tmp_path / "policies/policy.yaml").write_text(HIDING)
            gateway.process.send_signal(signal.SIGHUP)
            async with asyncio.timeout(10):
                while "DE02" in str(await gateway.call("alpha__put_item", fresh())):
                    await asyncio.sleep(0.02)
            after = await gateway.call("alpha__put_item", first, _meta=key)
    assert outcome(after)["replayed"] is True
    assert after["structuredContent"] == {"id": 1}
    assert outcome(after)["redactions"] == 1


async def test_a_write_that_nobody_waits_for_any_more_keeps_no_place_of_its_server(
    tmp_path: Path,
) -> None:
    go = tmp_path / "go"
    script = Script(tools=TOOLS, on_call={"slow": [{"wait_for_file": str(go)}, {"reply": DONE}]})
    with FakeHttp(script) as server:
        config = house.config({"alpha": house.http(server, max_calls=1)})
        async with running(tmp_path, config, contracts=contracts("alpha")) as gateway:
            await gateway.listed("alpha__slow", "alpha__find")
            hung = await gateway.call("alpha__slow", fresh())
            read = await gateway.call("alpha__find", fresh())
            go.touch()
    assert outcome(hung)["status"] == "indeterminate"
    assert outcome(read)["status"] == "ok"
