"""The desk as a process of its own, asked by the official client."""

import re
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.shared.subscriptions import ToolsListChanged

from gateway.demo import desk
from gateway.demo.helpdesk import HelpDesk
from gateway.demo.processes import running

_REFUND = {"customer_id": "c-1001", "amount": 25, "currency": "EUR", "reason": "charged twice"}


@dataclass(frozen=True)
class Desk:
    """A running desk, and its books."""

    url: str
    books: HelpDesk


@pytest.fixture(scope="module")
async def running_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    books, port_file = HelpDesk.create(folder / "db"), folder / "port"
    command = [sys.executable, "-m", "gateway.demo.desk", "--db", str(books.path)]
    with running("desk", [*command, "--port-file", str(port_file)], folder) as process:
        port = await process.until(re.compile(r"\d+"), port_file)
        yield Desk(f"http://127.0.0.1:{port[0]}", books)


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
