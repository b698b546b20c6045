"""The CRM as a process of its own, asked by the official client in both eras."""

import sys
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from gateway.demo.helpdesk import HelpDesk
from gateway.demo.workspace import ROOT

Crm = tuple[Client, HelpDesk]


@pytest.fixture(scope="module", params=["auto", "legacy"])
async def crm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Crm]:
    books = HelpDesk.create(tmp_path_factory.mktemp("crm") / "db")
    args = ["-m", "gateway.demo.crm", "--db", str(books.path)]
    program = StdioServerParameters(command=sys.executable, args=args, cwd=ROOT)
    async with Client(program, mode=request.param) as client:
        yield client, books


async def test_the_crm_searches_and_writes(crm: Crm) -> None:
    client, books = crm
    found = await client.call_tool("search_customers", {"query": "mara", "tenant": "acme"})
    noted = await client.call_tool("add_note", {"customer_id": "c-1001", "text": "called"})
    customers: Any = found.structured_content["customers"]
    assert "mara@lindqvist.example" in {customer["email"] for customer in customers}
    assert noted.structured_content == {"note_id": 1, "customer_id": "c-1001"}
    assert books.totals().notes == 1


async def test_the_crm_says_which_customer_it_does_not_know(crm: Crm) -> None:
    client, _ = crm
    for tool, arguments in (
        ("get_customer", {"customer_id": "c-9"}),
        ("add_note", {"customer_id": "c-9", "text": "called"}),
        ("delete_customer", {"customer_id": "c-9"}),
    ):
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        assert "`c-9`" in answer.content[0].model_dump()["text"]


async def test_the_crm_deletes_whom_it_is_told_to_delete(crm: Crm) -> None:
    client, books = crm
    before = await client.call_tool("get_customer", {"customer_id": "c-1002"})
    await client.call_tool("delete_customer", {"customer_id": "c-1002"})
    assert before.structured_content["name"] == "Tomas Marek"
    assert books.totals().customers == 5
