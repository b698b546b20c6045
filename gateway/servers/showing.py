"""A way by which a server shows what it shows only to clients that can be asked (ADR-0011)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.servers.connection import Spoken
from gateway.servers.lanes import Lanes
from gateway.servers.listing import Answering
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.operations import Delivery, Undelivered
from gateway.types.relay import Outbound


@asynccontextmanager
async def showing(
    lanes: Lanes | None, spoken: Spoken | None, capabilities: JsonObject
) -> AsyncGenerator[Answering | None]:
    """Open a way by which a server shows what it shows only to clients with these capabilities.

    None where it shows the same to everybody: in the stateless era, or when nobody may be asked.
    """
    if lanes is None or spoken is None or spoken.era is Era.MODERN or not capabilities:
        yield None
        return
    outbound = Outbound(
        method=Method.CALL_TOOL,  # stands in for the lists, which nobody is asked in
        params={},
        deadline_s=0,
        is_read=True,
        capabilities=capabilities,
        lane="lists",
    )
    try:
        yield _Showing(lanes, outbound)
    finally:
        lanes.release(outbound)


class _Showing:
    """A lane that lists are asked for by."""

    def __init__(self, lanes: Lanes, outbound: Outbound) -> None:
        self._lanes = lanes
        self._outbound = outbound

    async def call(
        self, method: str, params: JsonObject, *, deadline: float, is_read: bool = False
    ) -> Delivery:
        """Ask for one page."""
        async with self._lanes.lent(self._outbound, deadline) as connection:
            if isinstance(connection, Undelivered):
                return connection
            return await connection.call(method, params, deadline=deadline, is_read=is_read)
