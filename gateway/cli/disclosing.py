"""How a command that tells of the event log says so in the log, before it tells anything."""

from gateway.actions.disclosure import Reader, disclosed
from gateway.cli.people import who
from gateway.clock import SystemClock
from gateway.store.store import Store
from gateway.types.json import JsonObject


async def told(
    store: Store,
    how: str,
    asked: JsonObject | None = None,
    *,
    tenant: str = "",
    events: int | None = None,
) -> str:
    """Keep that the user of this machine reads the log; return the event's id.

    Raises StoreUnavailable where that can't be kept: then nothing may be told.
    """
    reader = Reader(account=who("").account)
    return await disclosed(
        store.events, SystemClock(), reader, how=how, asked=asked, tenant=tenant, events=events
    )
