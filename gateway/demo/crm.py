"""The CRM: an ordinary MCP server over stdio that knows nothing of tenants' rights or policies.

`python -m gateway.demo.crm --db PATH`
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field
from typing_extensions import TypedDict  # pydantic reads no other before 3.12

from gateway.demo.helpdesk import Customer, HelpDesk, NotFound

_READ: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_DELETE: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)

TenantName = Annotated[str, Field(description="Only this tenant; empty means all of them")]
CustomerId = Annotated[
    str, Field(description="Id as the search returns it", pattern=r"^[a-z0-9-]+$")
]


class Found(TypedDict):
    """What a search found, and the filter that was applied."""

    tenant: str
    limit: int
    customers: list[Customer]


class Noted(TypedDict):
    """The note that was written."""

    note_id: int
    customer_id: str


class Deleted(TypedDict):
    """The customer that is gone."""

    customer_id: str


def build(desk: HelpDesk) -> MCPServer:
    """Make the server over one file of books."""
    server = MCPServer("crm", version="1.0.0", log_level="WARNING")

    @server.tool(description="Find customers by a part of their name.", annotations=_READ)
    def search_customers(
        query: Annotated[str, Field(description="Part of a name", min_length=1, max_length=80)],
        tenant: TenantName = "",
        limit: Annotated[int, Field(description="At most this many", ge=1, le=1000)] = 20,
    ) -> Found:
        return Found(tenant=tenant, limit=limit, customers=desk.search(query, tenant, limit))

    @server.tool(description="Read one customer's record.", annotations=_READ)
    def get_customer(customer_id: CustomerId, tenant: TenantName = "") -> Customer:
        try:
            return desk.customer(customer_id, tenant)
        except NotFound as error:
            raise ToolError(str(error)) from error

    @server.tool(description="Write a note into a customer's record.", annotations=_WRITE)
    def add_note(
        customer_id: CustomerId,
        text: Annotated[str, Field(description="The note", min_length=1, max_length=2000)],
        tenant: TenantName = "",
    ) -> Noted:
        try:
            number = desk.add_note(customer_id, tenant, text)
        except NotFound as error:
            raise ToolError(str(error)) from error
        return Noted(note_id=number, customer_id=customer_id)

    @server.tool(description="Delete a customer with all notes, for good.", annotations=_DELETE)
    def delete_customer(customer_id: CustomerId, tenant: TenantName = "") -> Deleted:
        try:
            desk.delete(customer_id, tenant)
        except NotFound as error:
            raise ToolError(str(error)) from error
        return Deleted(customer_id=customer_id)

    return server


def main(argv: Sequence[str] | None = None) -> None:
    """Serve on standard input and output until the input ends."""
    parser = argparse.ArgumentParser(prog="python -m gateway.demo.crm", description=__doc__)
    parser.add_argument("--db", type=Path, required=True, help="the help desk's SQLite file")
    build(HelpDesk(parser.parse_args(argv).db)).run("stdio")


if __name__ == "__main__":
    main()
