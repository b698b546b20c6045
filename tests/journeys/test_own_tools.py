"""The gateway's own tools, as agents find and use them beside those of servers."""

import signal
from pathlib import Path

import pytest

from gateway.types.guarantees import Idempotency, Repeat
from gateway.types.tools import Effect, Risk
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, tool, until_async
from tests.helpers.gateway import outcome, running
from tests.journeys import house

PUT = tool("put_item")
ANA, ANA_ENTRY = house.key("ana", "t1", "ana")
BO, BO_ENTRY = house.key("bo", "t1", "bo")


def contracts(repeat: Repeat) -> str:
    """Return the contract of a write that may be repeated on purpose, or may not."""
    promised = Idempotency(repeat=repeat, is_declared=True)
    return house.contracts(
        house.contract(PUT, effect=Effect.WRITE, risk=Risk.LOW, idempotency=promised)
    )


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_an_agent_repeats_a_write_on_purpose_and_the_log_says_why(
    tmp_path: Path, era: str
) -> None:
    asked = {"v": 1}
    with FakeHttp(Script(tools=[PUT])) as alpha:
        config = house.config({"alpha": house.http(alpha)})
        async with (
            running(tmp_path, config, contracts=contracts(Repeat.ALLOW)) as gateway,
            house.client(gateway, era) as client,
        ):
            await house.listed(client, "alpha__put_item", "gateway_repeat")
            first = outcome(await house.call(client, "alpha__put_item", asked))
            said = {"op_id": first["op_id"], "reason": "the customer wants two"}
            again = outcome(await house.call(client, "gateway_repeat", said))
            assert (again["status"], again["op_id"] != first["op_id"]) == ("ok", True)
            assert [call["params"]["arguments"] for call in alpha.calls()] == [asked, asked]
            event = await house.event(tmp_path, kind="authorization", call=again["call_id"])
            reason = "the customer wants two"
            assert event["body"]["repeats"] == {"op": first["op_id"], "reason": reason}


async def test_who_may_not_repeat_a_call_is_told_so_and_nobody_elses_can_be(tmp_path: Path) -> None:
    with FakeHttp(Script(tools=[PUT])) as alpha:
        config = house.config(
            {"alpha": house.http(alpha)}, identity={"api_keys": [ANA_ENTRY, BO_ENTRY]}
        )
        async with running(
            tmp_path,
            config,
            contracts=contracts(Repeat.ALLOW),
            headers={"Authorization": f"Bearer {ANA}"},
        ) as gateway:
            await gateway.listed("alpha__put_item", "gateway_repeat")
            op_id = outcome(await gateway.call("alpha__put_item", {"v": 1}))["op_id"]
            other = house.as_modern(gateway, Authorization=f"Bearer {BO}")
            said = {"op_id": op_id, "reason": "why not"}
            refused = outcome(await house.call(other, "gateway_repeat", said))
            assert refused["status"] == "invalid_arguments"
            (tmp_path / "policies/contracts/tools.yaml").write_text(contracts(Repeat.DENY))
            gateway.process.send_signal(signal.SIGHUP)
            await until_async(lambda: house.events(tmp_path, action="policy_activated")[1:])
            hidden = await gateway.call("gateway_repeat", said)
            assert "gateway_repeat" not in await gateway.names()
            assert outcome(hidden)["status"] == "unknown_tool"
            assert len(alpha.calls()) == 1
