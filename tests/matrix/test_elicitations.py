"""That an elicitation is done reaches the caller that was sent to its URL, after its call too."""

import asyncio
import itertools

import pytest

from tests.matrix.fixtures import CAPABILITIES, Json
from tests.matrix.houses import House
from tests.matrix.wires import Wire, over_http

LEGACY = ["legacy-http", "legacy-stdio"]
COMPLETED = "notifications/elicitation/complete"
_again = itertools.count(1)


async def sent(wire: Wire, server: str, *names: str) -> None:
    """Have a caller sent to a URL for each of these elicitations."""
    accepted: Json = {"result": {"action": "accept"}}
    for name in names:
        call: Json = {"name": f"{server}__ask_url", "arguments": {"elicitation": name}}
        heard = await wire.request("tools/call", call, answer=lambda _: accepted)
        (asked,) = heard.asked
        assert asked["params"]["elicitationId"] == name


def shown(server: str, name: str) -> Json:
    return {"elicitationId": name, "_meta": {"weighbridge/server": server}}


def completed(*names: str) -> Json:
    return {"completed": [*names], "again": next(_again)}


@pytest.mark.parametrize("server", LEGACY)
@pytest.mark.parametrize("caller", LEGACY)
async def test_it_is_told_with_the_servers_own_id(house: House, caller: str, server: str) -> None:
    wire, name = await house.caller(caller, asks=True), f"e-{caller}-{server}"
    await sent(wire, server, name)
    house.change(caller, server, completed("nobodys", name), asks=True)
    assert (await wire.told(COMPLETED))["params"] == shown(server, name)


@pytest.mark.parametrize("server", LEGACY)
async def test_of_two_callers_each_hears_of_its_own_alone(house: House, server: str) -> None:
    url = house.gateway.url
    await house.caller("legacy-http", asks=True)
    async with (
        over_http(url, modern=False, capabilities=CAPABILITIES) as ada,
        over_http(url, modern=False, capabilities=CAPABILITIES) as bob,
        over_http(url, modern=True, capabilities=CAPABILITIES) as stateless,
    ):
        await asyncio.gather(
            sent(ada, server, "e-ada", "last-ada"),
            sent(bob, server, "e-bob", "last-bob"),
            sent(stateless, server, "e-none"),
        )
        names = ("nobodys", "e-none", "e-bob", "e-ada", "e-bob", "last-ada", "last-bob")
        house.change("legacy-http", server, completed(*names), asks=True)
        for wire, own in ((ada, "ada"), (bob, "bob")):
            told = [(await wire.told(COMPLETED))["params"] for _ in range(2)]
            assert told == [shown(server, f"e-{own}"), shown(server, f"last-{own}")]
        assert stateless.news.empty()
