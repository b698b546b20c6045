"""The desk as a process of its own, asked by the official client."""

import contextlib
import re
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.shared.subscriptions import ToolsListChanged

from gateway.demo import desk
from gateway.demo.helpdesk import HelpDesk
from gateway.demo.processes import Running, running

_REFUND = {"customer_id": "c-1001", "amount": 25, "currency": "EUR", "reason": "charged twice"}


_TICKET = {"customer_id": "c-1002", "subject": "Wrong size", "reference": "r-1"}


@dataclass(frozen=True)
class Desk:
    """A running desk, and its books."""

    url: str
    books: HelpDesk
    process: Running

    async def plan(self, path: str) -> httpx2.Response:
        async with httpx2.AsyncClient() as http:
            return await http.post(f"{self.url}/demo/{path}")

    async def lost(self, tool: str, arguments: dict[str, object]) -> None:
        """Make a call whose answer must not come."""
        with pytest.RaisesGroup(httpx2.RemoteProtocolError, flatten_subgroups=True):
            async with Client(f"{self.url}/mcp") as client:
                with contextlib.suppress(MCPError):
                    await client.call_tool(tool, arguments)


@contextlib.asynccontextmanager
async def a_desk(folder: Path) -> AsyncGenerator[Desk]:
    books, port_file = HelpDesk.create(folder / "db"), folder / "port"
    command = [sys.executable, "-m", "gateway.demo.desk", "--db", str(books.path)]
    with running("desk", [*command, "--port-file", str(port_file)], folder) as process:
        port = await process.until(re.compile(r"\d+"), port_file)
        yield Desk(f"http://127.0.0.1:{port[0]}", books, process)


@pytest.fixture(scope="module")
async def running_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Desk]:
    async with a_desk(tmp_path_factory.mktemp("desk")) as started:
        yield started


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_desk_lists_tickets_and_pays_in_both_eras(running_desk: Desk, mode: str) -> None:
    before = running_desk.books.totals()
    async with Client(f"{running_desk.url}/mcp", mode=mode) as client:
        listed = await client.call_tool("list_tickets", {"tenant": "globex"})
        paid = await client.call_tool("refund", _REFUND)
    assert [ticket["id"] for ticket in listed.structured_content["tickets"]] == ["t-3"]
    assert paid.structured_content == {
        "refund_id": before.refunds + 1,
        "customer_id": "c-1001",
        "amount": 25.0,
        "currency": "EUR",
        "status": "booked",
    }
    assert running_desk.books.totals().refunded_cents == before.refunded_cents + 2500


@pytest.mark.parametrize(
    ("change", "said"), [({"customer_id": "c-9"}, "`c-9`"), ({"amount": 0.001}, "two decimals")]
)
async def test_a_refund_that_the_desk_refuses_books_nothing(
    running_desk: Desk, change: dict[str, object], said: str
) -> None:
    before = running_desk.books.totals()
    async with Client(f"{running_desk.url}/mcp") as client:
        answer = await client.call_tool("refund", {**_REFUND, **change})
    assert answer.is_error
    assert said in answer.content[0].model_dump()["text"]
    assert running_desk.books.totals() == before


async def test_a_rewrite_changes_one_description_and_tells_the_listeners(
    running_desk: Desk,
) -> None:
    url = running_desk.url
    async with Client(f"{url}/mcp", cache=None) as client:
        before = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        async with client.listen(tools_list_changed=True) as changes, httpx2.AsyncClient() as http:
            (await http.post(f"{url}/demo/rewrite")).raise_for_status()
            with anyio.fail_after(15):
                event = await anext(aiter(changes))
        after = {tool.name: tool.description for tool in (await client.list_tools()).tools}
    assert isinstance(event, ToolsListChanged)
    assert before["list_tickets"] == desk.LIST_TICKETS
    assert after == {**before, "list_tickets": desk.POISONED}


async def test_what_was_refunded_is_found_and_cancelled_by_its_reference(
    running_desk: Desk,
) -> None:
    of_it = {"customer_id": "c-1004", "reference": "r-7"}
    async with Client(f"{running_desk.url}/mcp") as client:
        await client.call_tool("refund", {**_REFUND, **of_it})
        found = await client.call_tool("find_refunds", of_it)
        cancelled = await client.call_tool("cancel_refund", of_it)
        again = await client.call_tool("cancel_refund", of_it)
        unknown = await client.call_tool("cancel_refund", {**of_it, "reference": "r-8"})
    assert [each["status"] for each in found.structured_content["refunds"]] == ["booked"]
    assert [each["status"] for each in cancelled.structured_content["refunds"]] == ["cancelled"]
    assert again.structured_content == cancelled.structured_content
    assert unknown.is_error


async def test_a_lost_answer_leaves_a_ticket_that_the_same_reference_finds(
    running_desk: Desk,
) -> None:
    before = running_desk.books.totals().opened
    (await running_desk.plan("lose-answer/open_ticket")).raise_for_status()
    await running_desk.lost("open_ticket", {**_TICKET})
    assert running_desk.books.totals().opened == before + 1
    async with Client(f"{running_desk.url}/mcp") as client:
        again = await client.call_tool("open_ticket", {**_TICKET})
        found = await client.call_tool(
            "find_tickets", {"customer_id": "c-1002", "reference": "r-1"}
        )
    assert found.structured_content["tickets"] == [again.structured_content]
    assert running_desk.books.totals().opened == before + 1


async def test_an_accident_that_nobody_knows_is_not_planned(running_desk: Desk) -> None:
    assert (await running_desk.plan("explode/refund")).status_code == 404


async def test_a_desk_that_dies_has_booked_before(tmp_path: Path) -> None:
    async with a_desk(tmp_path) as own:  # of its own: the others need theirs alive
        before = own.books.totals().refunds
        (await own.plan("die/refund")).raise_for_status()
        await own.lost("refund", {**_REFUND})
        assert own.process.process.wait(15) == 70
        assert own.books.totals().refunds == before + 1
