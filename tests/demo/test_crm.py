"""The CRM as a process of its own, asked by the official client."""

import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from gateway.demo.helpdesk import HelpDesk
from gateway.demo.workspace import ROOT


def _crm(db: Path) -> StdioServerParameters:
    args = ["-m", "gateway.demo.crm", "--db", str(db)]
    return StdioServerParameters(command=sys.executable, args=args, cwd=ROOT)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_crm_searches_and_writes_in_both_eras(tmp_path: Path, mode: str) -> None:
    books = HelpDesk.create(tmp_path / "db")
    async with Client(_crm(books.path), mode=mode) as client:
        found = await client.call_tool("search_customers", {"query": "mara", "tenant": "acme"})
        noted = await client.call_tool("add_note", {"customer_id": "c-1001", "text": "called"})
    assert found.structured_content["customers"][1]["email"] == "mara@lindqvist.example"
    assert noted.structured_content == {"note_id": 1, "customer_id": "c-1001"}
    assert books.totals().notes == 1


async def test_the_crm_says_which_customer_it_does_not_know(tmp_path: Path) -> None:
    books = HelpDesk.create(tmp_path / "db")
    async with Client(_crm(books.path)) as client:
        for tool, arguments in (
            ("get_customer", {"customer_id": "c-9"}),
            ("add_note", {"customer_id": "c-9", "text": "called"}),
            ("delete_customer", {"customer_id": "c-9"}),
        ):
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert "`c-9`" in answer.content[0].model_dump()["text"]


async def test_the_crm_deletes_whom_it_is_told_to_delete(tmp_path: Path) -> None:
    books = HelpDesk.create(tmp_path / "db")
    async with Client(_crm(books.path)) as client:
        before = await client.call_tool("get_customer", {"customer_id": "c-1002"})
        await client.call_tool("delete_customer", {"customer_id": "c-1002"})
    assert before.structured_content["name"] == "Tomas Marek"
    assert books.totals().customers == 5
