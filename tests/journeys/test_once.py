"""The same write, asked for at many gateways at once."""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.forked import Forked
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.postgres import own_postgres
from tests.journeys import house

pytestmark = pytest.mark.postgres

TOOL = tool("put")
CALLS = 50


@pytest.fixture
def url() -> Generator[str]:
    with own_postgres() as server:
        yield server.create("once")


@pytest.fixture
def alpha(tmp_path: Path) -> Generator[FakeHttp]:
    """One server for all gateways; it answers once the file `go` is there."""
    held = [{"wait_for_file": str(tmp_path / "go")}, {"reply": text("done")}]
    with FakeHttp(Script(tools=[TOOL], on_call={"put": held})) as fake:
        yield fake


async def begin(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Forked:
    return forked.begin(words, log, environ)


async def started(stack: AsyncExitStack, folder: Path, alpha: FakeHttp, url: str) -> Gateway:
    """Start one of the gateways."""
    write = house.contract(TOOL, effect=Effect.WRITE, risk=Risk.MEDIUM)
    gateway = await stack.enter_async_context(
        running(
            folder,
            house.config({"alpha": house.http(alpha)}),
            contracts=house.contracts(write),
            store=f'"{url}"',
            begin=begin,
        )
    )
    await gateway.listed("alpha__put")
    return gateway


async def test_fifty_equal_calls_at_three_gateways_are_sent_once_and_answered_equally(
    tmp_path: Path, alpha: FakeHttp, url: str
) -> None:
    """case: IDM-01"""
    async with AsyncExitStack() as stack:
        gateways = await asyncio.gather(
            *(started(stack, tmp_path / name, alpha, url) for name in ("one", "two", "three"))
        )
        under_way = [
            asyncio.ensure_future(gateways[number % 3].call("alpha__put", {"n": 1}))
            for number in range(CALLS)
        ]
        await until_async(alpha.calls, house.WITHIN_S)
        (tmp_path / "go").touch()
        results = await asyncio.gather(*under_way)
    assert len(alpha.calls()) == 1
    assert [each["content"] for each in results] == [text("done")["content"]] * CALLS
    said = [outcome(each) for each in results]
    assert {each["status"] for each in said} == {"ok"}
    assert len({each["op_id"] for each in said}) == 1
    assert sorted(each.get("replayed", False) for each in said) == [False] + [True] * (CALLS - 1)
