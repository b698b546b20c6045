"""Tool calls as they are sent over HTTP, written from what is kept of earlier ones.

Of the calls of one tool the bytes differ in the request's number, the arguments and the trace. So
the first one is written like any other request, with marks in their places, and taken apart there.
"""

import secrets
from typing import Final

from gateway import jsontext
from gateway.servers.connection import Spoken, request, stamp
from gateway.servers.heads import Heads
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound

_MOST: Final = 1_024  # tools, and sessions that were renewed; all go when there are more
_Key = tuple[object, str, str, bool]  # tool, session, revision, and whether there is a trace
# They stand in nothing that anybody says; that of the trace has the form of one.
_NUMBER: Final = secrets.token_hex(16)
_ARGUMENTS: Final = secrets.token_hex(16)
_TRACE: Final = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
_QUOTED_NUMBER: Final = jsontext.dump(_NUMBER)
_QUOTED_ARGUMENTS: Final = jsontext.dump(_ARGUMENTS)
_WRITTEN_TRACE: Final = _TRACE.encode()


class _Kept:
    """The head and the body of the calls of one tool, apart at what is a call's own."""

    __slots__ = ("after", "before", "between", "head", "trace")

    def __init__(self, head: bytes, body: bytes) -> None:
        self.before, rest = body.split(_QUOTED_NUMBER)
        self.between, rest = rest.split(_QUOTED_ARGUMENTS)
        self.after = rest.split(_WRITTEN_TRACE)  # of one piece where there is no trace
        self.head = head.split(_WRITTEN_TRACE)


class Letters:
    """Writes what one HTTP server is sent; byte for byte what `Heads` and `stamp` make of it."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._kept: dict[_Key, _Kept] = {}

    def written(
        self, outbound: Outbound, number: int, spoken: Spoken, session: str
    ) -> tuple[bytes, bytes]:
        """Return header fields and body of a tool call that has nothing but its arguments.

        Raises ValueError for a field that can't be sent.
        """
        trace = outbound.traceparent
        key = (outbound.params["name"], session, spoken.version, bool(trace))
        kept = self._kept.get(key)
        if kept is None:
            kept = self._made(key, outbound, spoken, session)
        own = trace.encode()
        body = b"%b%d%b%b%b" % (
            kept.before,
            number,
            kept.between,
            outbound.written,
            own.join(kept.after),
        )
        return own.join(kept.head), body

    def _made(self, key: _Key, outbound: Outbound, spoken: Spoken, session: str) -> _Kept:
        trace = _TRACE if outbound.traceparent else ""
        plain: JsonObject = {**outbound.params, "arguments": _ARGUMENTS}
        params = stamp(plain, spoken, None, outbound.capabilities, traceparent=trace)
        message = {**request(0, outbound.method, params), "id": _NUMBER}
        extra = {"traceparent": trace} if trace else {}
        head = self._heads.written(outbound.method, params, spoken, session, extra)
        if len(self._kept) >= _MOST:
            self._kept.clear()
        found = self._kept[key] = _Kept(head, jsontext.dump(message))
        return found
