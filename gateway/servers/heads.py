"""The heads of requests to one HTTP server; those of tool calls are written once and kept."""

import re
from collections.abc import Mapping
from typing import Final

from gateway.protocol.words import MODERN_VERSION, SESSION_HEADER, VERSION_HEADER
from gateway.servers import headers
from gateway.servers.connection import Spoken
from gateway.servers.entry import Entry
from gateway.servers.wire import head_of
from gateway.types.calls import Era, Method
from gateway.types.json import Json, JsonObject

_MOST: Final = 1_024  # tools whose heads are kept

_TRACE: Final = "traceparent"
_IDS: Final = re.compile("[0-9a-f-]+")  # a trace context is made of nothing else
_Key = tuple[Json, str, str]  # tool, session, revision


class Heads:
    """Writes header fields: the entry's own, the session's, and those that mirror the body."""

    def __init__(self, entry: Entry) -> None:
        self._base = headers.of_entry(entry)
        self._kept: dict[_Key, tuple[dict[str, str], bytes]] = {}

    def fields(
        self, method: str, params: JsonObject, spoken: Spoken | None, session: str
    ) -> dict[str, str]:
        """Return the fields of a request, or of a note or a goodbye without params."""
        made = dict(self._base)
        if session:
            made[SESSION_HEADER] = session
        if spoken is not None and spoken.era is Era.LEGACY:
            made[VERSION_HEADER] = spoken.version
        elif spoken is not None:
            made |= headers.of_request(method, params, spoken.version)
        elif method == "server/discover":
            made |= headers.of_request(method, params, MODERN_VERSION)
        return made

    def written(
        self,
        method: str,
        params: JsonObject,
        spoken: Spoken | None,
        session: str,
        extra: Mapping[str, str],
    ) -> bytes:
        """Return the same as bytes; a field of `extra` takes the place of one with its name.

        Raises ValueError for a field that can't be sent.
        """
        if method == Method.CALL_TOOL and spoken is not None:
            key = (params.get("name"), session, spoken.version)
            fields, head = self._kept.get(key) or self._of_tool(key, params, spoken)
        else:
            fields = self.fields(method, params, spoken, session)
            head = head_of(fields)
        if not extra:
            return head
        if len(extra) == 1 and _TRACE in extra and _TRACE not in fields:  # in most calls
            trace = extra[_TRACE]
            if _IDS.fullmatch(trace) is not None:
                return b"%btraceparent: %b\r\n" % (head, trace.encode())
        if fields.keys().isdisjoint(extra):
            return head + head_of(extra)
        return head_of({**fields, **extra})

    def _of_tool(
        self, key: _Key, params: JsonObject, spoken: Spoken
    ) -> tuple[dict[str, str], bytes]:
        """Write the fields of a tool call, and keep them."""
        fields = self.fields(Method.CALL_TOOL, params, spoken, key[1])
        kept = (fields, head_of(fields))
        if len(self._kept) >= _MOST:  # of tools, or of sessions that were renewed
            self._kept.clear()
        self._kept[key] = kept
        return kept
