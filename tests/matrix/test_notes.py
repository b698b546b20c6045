"""Progress, log messages, cancellation and changes find their way through, in every era."""

import asyncio
import itertools
from typing import Any

import pytest

from tests.helpers.fake_server import until_async
from tests.matrix.additions import differences
from tests.matrix.fixtures import LOGS, PROGRESS, Json
from tests.matrix.houses import House, Record, is_modern
from tests.matrix.wires import WITHIN_S, Heard, Wire

_extra = itertools.count(1)


def number(value: Any) -> Any:
    """Read what `exact` makes of numbers; progress may change from 1 to 1.0."""
    return float(value.removesuffix(" (real)")) if isinstance(value, str) else value


@pytest.mark.parametrize("token", ["tok-ü", "7", 0])
async def test_progress_comes_under_the_callers_own_token(
    house: House, caller: str, server: str, token: str | int
) -> None:
    """case: RPC-07"""
    wire = await house.caller(caller)
    heard = await wire.request(
        "tools/call", {"name": f"{server}__progress", "arguments": {}}, progressToken=token
    )
    told = heard.told("notifications/progress")
    assert [type(each["progressToken"]) for each in told] == [type(token)] * len(PROGRESS)
    assert [each["progressToken"] for each in told] == [token] * len(PROGRESS)
    news = [
        {key: number(each[key]) if key != "message" else each[key] for key in keys}
        for each, keys in zip(told, PROGRESS, strict=True)
    ]
    assert news == PROGRESS
    quiet = await wire.request("tools/call", {"name": f"{server}__progress", "arguments": {}})
    assert quiet.notes == []


async def logs(wire: Wire, server: str) -> Heard:
    """Let a server log; over a pipe, words wait for a moment without any other request."""
    for _ in range(50):
        heard = await wire.request("tools/call", {"name": f"{server}__logs", "arguments": {}})
        assert heard.result["content"] == [{"type": "text", "text": "logged"}]
        if heard.notes or server != "modern-stdio" or not wire.log_level:
            return heard
        await asyncio.sleep(0.05)
    raise AssertionError(f"{server} was never heard")


async def test_log_messages_arrive_whole(house: House, caller: str, server: str) -> None:
    direct, wire = await house.direct(server, asks=True), await house.caller(caller, asks=True)
    for each in (direct, wire):
        if each.log_level != "debug":
            await each.set_level("debug")
    own = await direct.request("tools/call", {"name": "logs", "arguments": {}})
    heard = await logs(wire, server)
    wanted = own.told("notifications/message")
    assert len(wanted) == len(LOGS)
    assert differences(wanted, heard.told("notifications/message")) == []


@pytest.mark.parametrize(("level", "expected"), [("error", 1), ("info", 2), ("", 0)])
async def test_stateless_callers_get_the_levels_that_they_ask_for(
    house: House, server: str, level: str, expected: int
) -> None:
    wire = await house.caller("modern-http")
    wire.log_level = level
    heard = await logs(wire, server)
    wire.log_level = ""
    assert len(heard.notes) == expected


async def test_a_cancelled_call_is_cancelled_at_its_server(
    house: House, caller: str, server: str
) -> None:
    """case: RPC-03"""
    wire, mark = await house.caller(caller), f"cancelled by {caller}"
    call: Json = {"name": f"{server}__slow", "arguments": {"mark": mark}}
    work = asyncio.ensure_future(wire.request("tools/call", call))
    record = house.record(caller, server)
    await until_async(lambda: record.call(mark), WITHIN_S)
    work.cancel()
    await asyncio.wait({work})
    await until_async(lambda: cancelled(record, mark), WITHIN_S)
    logging = await house.caller("modern-http")
    logging.log_level = "error"
    for each in {wire, logging}:
        after = await logs(each, server)
        assert after.notes or each is wire
    logging.log_level = ""


def cancelled(record: Record, mark: str) -> bool:
    """Whether a server was told to stop: by a notification, or by a closed response."""
    sent = record.call(mark)
    assert sent is not None
    told = record.messages("notifications/cancelled") + record.messages("disconnected")
    return any(each["params"]["requestId"] == sent["id"] for each in told)


async def names(wire: Wire, method: str, member: str, name: str) -> set[str]:
    return {each[name] for each in (await wire.request(method)).result[member]}


async def test_changes_of_every_list_are_told_and_seen(
    house: House, caller: str, server: str
) -> None:
    """case: LIF-02"""
    wire, extra = await house.caller(caller), next(_extra)
    async with wire.listening():
        while not wire.news.empty():
            wire.news.get_nowait()
        house.change(caller, server, {"extra": extra, "updated": []})
        wanted = {
            f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")
        }
        async with asyncio.timeout(WITHIN_S):
            while wanted:
                wanted.discard((await wire.news.get())["method"])
        last = f"extra_{extra - 1}"
        async with asyncio.timeout(WITHIN_S):  # three lists are read again, each on its own
            while not (
                f"{server}__{last}" in await names(wire, "tools/list", "tools", "name")
                and f"{server}__{last}" in await names(wire, "prompts/list", "prompts", "name")
                and f"mem://{server}/{last}"
                in await names(wire, "resources/list", "resources", "uri")
            ):
                await asyncio.sleep(0.02)


async def test_an_update_is_told_to_whoever_subscribed(
    house: House, caller: str, server: str
) -> None:
    wire, uri = await house.caller(caller), f"mem://{server}/text"
    record = house.record(caller, server)
    before = len(record.messages("resources/unsubscribe"))
    async with wire.listening(uri):
        change: Json = {"extra": 0, "updated": [uri], "again": next(_extra)}
        if not is_modern(server):
            await until_async(lambda: record.messages("resources/subscribe"), WITHIN_S)
        house.change(caller, server, change)
        updated = await wire.told("notifications/resources/updated")
        assert updated["params"]["uri"] == uri
    if not is_modern(server):
        await until_async(lambda: len(record.messages("resources/unsubscribe")) > before, WITHIN_S)
