"""What travels with a message through the SDK, and how exact JSON gets past its models."""

import re
from dataclasses import dataclass, field
from typing import Final

from gateway import ids, jsontext
from gateway.listen.rpc import RequestId
from gateway.types.calls import Principal
from gateway.types.json import JsonObject

ARRIVAL: Final = "weighbridge.arrival"  # key in the ASGI scope
WEIGHED: Final = "weighbridge.weighed"  # also one: set when the gate answered with an error
_TICKET: Final = "weighbridge.answer"
_WRITTEN: Final = re.compile(rb'"weighbridge\.answer":"([^"\\]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What the transport found out about a message before the SDK got it."""

    principal: Principal
    transport: str
    input_error: str = ""
    trace_header: str = ""
    idempotency_key: str | None = None
    run_header: str = ""
    peer: str = ""
    request_id: RequestId | None = None  # as the client wrote it
    stand_in: str = ""  # what the SDK got in the place of an id that is a text
    # Members of objects that the SDK carries by a ticket, so that exact numbers stay exact. None
    # where the transport writes messages itself.
    tickets: dict[bytes, bytes] | None = field(default=None)

    def carried(self, value: JsonObject) -> JsonObject:
        """Return what the SDK is to send: the object, or a ticket that `redeem` exchanges.

        `_meta` stays in sight: the SDK adds the trace context of a request to it.
        """
        members = {key: member for key, member in value.items() if key != "_meta"}
        if self.tickets is None or not members:
            return value
        ticket = ids.new("answer")
        self.tickets[ticket.encode()] = jsontext.dump(members)[1:-1]
        carried: JsonObject = {_TICKET: ticket}
        if "_meta" in value:
            carried["_meta"] = value["_meta"]
        return carried

    def redeem(self, body: bytes) -> bytes:
        """Put what tickets stand for in their place; each is good once."""
        if self.stand_in:
            written = b'"id":"' + self.stand_in.encode() + b'"'
            body = body.replace(written, b'"id":' + jsontext.dump(self.request_id), 1)
        tickets = self.tickets
        if not tickets:
            return body
        return _WRITTEN.sub(lambda found: tickets.pop(found[1], found[0]), body)


def stand_in() -> str:
    """Return what the SDK gets in the place of an id that is a text.

    It takes the texts of numbers for numbers, so that `1` and `"1"` would be one request.
    """
    return ids.new("request")
