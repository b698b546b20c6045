"""The policy changes while agents work: all of it or nothing, and everybody can see which."""

import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.helpers.fake_server import Script, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, outcome, running
from tests.journeys import house

DENY = "rules:\n  - {id: none, decision: deny, match: {tools: ['*']}}\n"
BAD = "rules:\n  - {id: all, decision: alow, match: {tools: ['*']}}\n"


@pytest.fixture(scope="module")
async def only_one(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    folder, find = tmp_path_factory.mktemp("reload"), tool("find")
    config = house.config({"alpha": house.stdio(Script(tools=[find]), folder)})
    reviewed = house.contracts(house.contract(find))
    async with running(folder, config, policy=ALLOW, contracts=reviewed) as started:
        await started.listed("alpha__find")
        yield started


@pytest.fixture
async def gateway(only_one: Gateway) -> AsyncGenerator[Gateway]:
    """The gateway with everything allowed, before the test and after it."""
    yield only_one
    (only_one.folder / "policies/policy.yaml").write_text(ALLOW)
    only_one.process.send_signal(signal.SIGHUP)
    await ends_with(only_one, "ok")


@pytest.fixture
def folder(gateway: Gateway) -> Path:
    return gateway.folder


async def ends_with(gateway: Gateway, status: str) -> None:
    """Wait until a call ends in a status."""

    async def holds() -> bool:
        return outcome(await gateway.call("alpha__find"))["status"] == status

    await until_async(holds, house.WITHIN_S)


async def test_a_changed_file_is_in_force_and_every_decision_names_its_revision(
    gateway: Gateway, folder: Path
) -> None:
    first = outcome(await gateway.call("alpha__find"))["call_id"]
    (folder / "policies/policy.yaml").write_text(DENY)
    await ends_with(gateway, "unknown_tool")
    last = outcome(await gateway.call("alpha__find"))["call_id"]
    await house.end(folder, last)
    judged = [
        house.events(folder, kind="authorization", call=call)[0]["body"]["revision"]
        for call in (first, last)
    ]
    activated = house.events(folder, action="policy_activated")[-1]["body"]
    assert judged[0] != judged[1]
    assert (activated["from"], activated["revision"]) == tuple(judged)
    assert await gateway.names() == []


async def test_a_bad_file_leaves_the_old_revision_in_force_and_says_so_until_it_is_mended(
    gateway: Gateway, folder: Path
) -> None:
    path = folder / "policies/policy.yaml"
    path.write_text(BAD)
    refused = await house.event(folder, action="policy_refused")
    assert "policy.yaml:2" in str(refused["body"]["errors"])
    assert outcome(await gateway.call("alpha__find"))["status"] == "ok"
    await until_async(lambda: house.status(folder).get("problem"), house.WITHIN_S)
    assert "policy.yaml:2" in house.status(folder)["problem"]
    assert "policy.yaml:2" in (folder / "log.txt").read_text()
    (said,) = gateway.command("status")
    assert "policy.yaml:2" in said[0]["problem"]
    path.write_text(ALLOW)
    await until_async(lambda: not house.status(folder)["problem"], house.WITHIN_S)


async def test_a_hangup_reloads_at_once_and_ends_nothing(gateway: Gateway, folder: Path) -> None:
    (folder / "policies/policy.yaml").write_text(DENY)
    gateway.process.send_signal(signal.SIGHUP)
    await ends_with(gateway, "unknown_tool")
    assert gateway.process.returncode is None
    await house.event(folder, action="policy_activated", by="told to")
