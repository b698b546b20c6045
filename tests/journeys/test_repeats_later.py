"""A write that takes longer than anybody thought: its lease, its window, the policy of today."""

import asyncio
import signal
import time
from datetime import datetime
from pathlib import Path

from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import (
    Script,
    Step,
    text,
    until_async,
)
from tests.helpers.gateway import outcome, running
from tests.journeys import house
from tests.journeys.house import Json
from tests.journeys.shop import DONE, KEY, PUT, TOOLS, contracts, fresh, sent


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
