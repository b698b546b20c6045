"""The host of the demo's agents, before a real listener."""

from pathlib import Path

from gateway.client import AsyncClient, Package, RunState
from gateway.demo.host import Host
from gateway.demo.scene import Request, Surprise
from gateway.types.runs import Phase
from tests.admin.hosting import HOST, open_desk


async def _start(client: AsyncClient, run: str) -> RunState:
    return await client.start(objective=f"after {run}")


async def _show(client: AsyncClient, run: str) -> RunState:
    return await client.show(run)


async def _package(client: AsyncClient, run: str) -> Package:
    return await client.package(run)


def _told(reply: RunState | Package) -> str:
    return reply.objective


def _surprised(reply: RunState | Package) -> str:
    raise Surprise(f"it is {reply.phase}")


async def test_what_came_of_a_request_names_its_run(tmp_path: Path) -> None:
    start = Request(shows="", asks="", ask=_start, status=Phase.CREATED, observe=_told)
    package = Request(shows="", asks="", ask=_package, status=Phase.CREATED, observe=_surprised)
    async with open_desk(tmp_path) as desk:
        host = Host(url=desk.house.url, key=HOST)
        said = await host.ask(start, "another")
        assert (said.status, said.reason, said.surprise) == ("created", "after another", "")
        assert said.run.startswith("run_")
        again = await host.ask(package, said.run)
        assert (again.run, again.op_id, again.surprise) == (said.run, "", "it is created")


async def test_a_refusal_is_what_came_of_it(tmp_path: Path) -> None:
    show = Request(shows="", asks="", ask=_show, status=Phase.CREATED, observe=_told)
    async with open_desk(tmp_path) as desk:
        said = await Host(url=desk.house.url, key=HOST).ask(show, f"run_{'0' * 26}")
    assert said.status == "not_found"
    assert "there is no run" in said.reason
