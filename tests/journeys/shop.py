"""What journeys of repeated calls share: tools that write, three callers, a gateway before them."""

import itertools
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.types.tools import Contract, Effect, Risk
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import (
    LEGACY_VERSION,
    Script,
    Step,
    text,
    tool,
)
from tests.helpers.gateway import Gateway, running
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
