"""A write is carried out once, whoever repeats its call, and whatever goes wrong on the way."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import (
    Script,
    Step,
    record_of,
    until_async,
)
from tests.helpers.gateway import ALLOW, outcome, running
from tests.journeys import house
from tests.journeys.house import Json
from tests.journeys.shop import (
    DONE,
    ERAS,
    FAILED,
    KEY,
    TOOLS,
    Place,
    contracts,
    fresh,
    place,
    sent,
    waiting_for,
)

__all__ = ["place"]


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
