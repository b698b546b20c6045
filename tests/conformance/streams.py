"""What was said on each stream, for clients that come back."""

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage


class Events(EventStore):
    """What was said on each stream, for clients that come back (SSE, `Last-Event-ID`)."""

    def __init__(self) -> None:
        self._said: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep one event; its id is its place."""
        self._said.append((stream_id, message))
        return str(len(self._said) - 1)

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """Say again what was said after an event of the same stream."""
        if not last_event_id.isdigit() or int(last_event_id) >= len(self._said):
            return None
        stream, _ = self._said[int(last_event_id)]
        for place, (owner, said) in list(enumerate(self._said))[int(last_event_id) + 1 :]:
            if owner == stream and said is not None:
                await send_callback(EventMessage(said, str(place)))
        return stream
