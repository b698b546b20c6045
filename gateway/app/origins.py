"""Where a call stands in its trace, so that what is done for its sake can be linked to it."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from gateway.errors import StoreUnavailable
from gateway.store.events import EventFilter, StoredEvent
from gateway.types.events import EventKind

_log = logging.getLogger("weighbridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """Reads in the log where a call stands: it may be long ago, or another gateway's."""

    query: Callable[[EventFilter], Awaitable[Sequence[StoredEvent]]]
    is_traced: Callable[[], bool]
    """Whether spans are exported: without that nobody needs to know."""

    async def of(self, call_id: str) -> str:
        """Return the `traceparent` of a call's own span; empty when it is not known."""
        if not self.is_traced():
            return ""
        wanted = EventFilter(call=call_id, kind=EventKind.TOOL_CALL.value, limit=1)
        try:
            found = await self.query(wanted)
        except StoreUnavailable as error:  # a link is no reason to leave a call unmade
            _log.debug("%s: its trace can't be read: %s", call_id, error)
            return ""
        for event in found:
            said = event.json()
            trace_id, span_id = said.get("trace_id"), said.get("span_id")
            if trace_id and span_id:
                return f"00-{trace_id}-{span_id}-01"
        return ""
