"""Reading the log is itself in the log: one `log_read` event for each act, before anything is told.

An act is one question, whatever number of pages its answer takes. Where the event can't be kept, as
in a store that may only be read, nothing is given out.
"""

from dataclasses import dataclass

from gateway import ids
from gateway.clock import Clock
from gateway.errors import StoreUnavailable
from gateway.events import admin
from gateway.store.events import EventLog
from gateway.types.json import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who reads: a user of this machine, or somebody who is logged in."""

    account: str = ""
    by: str = ""


async def disclosed(
    log: EventLog,
    clock: Clock,
    reader: Reader,
    *,
    how: str,
    asked: JsonObject | None = None,
    tenant: str = "",
    events: int | None = None,
) -> str:
    """Keep that the log is read, by which command or page; return the event's id.

    `asked` is what was asked for, by the names of the options; what is empty is left out. Only with
    a `tenant` whose events alone are read is it among that one's. Raises StoreUnavailable: then
    nothing may be told.
    """
    event = admin.log_read(
        id=ids.ulid(),
        at=clock.now(),
        how=how,
        account=reader.account,
        by=reader.by,
        tenant=tenant,
        asked={name: value for name, value in (asked or {}).items() if _says_something(value)},
        events=events,
    )
    try:
        log.append([event], durable=True)
        await log.kept()
    except StoreUnavailable as error:
        raise StoreUnavailable(
            "nothing is told, since who reads the log has to be in the log, and that can't be "
            f"written now: {error}"
        ) from error
    return event.id


def _says_something(value: Json) -> bool:
    return value not in ("", None, False) and value != []
