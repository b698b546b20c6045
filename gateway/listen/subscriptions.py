"""`subscriptions/listen`: the stream on which a stateless client learns that its tools changed."""

import asyncio
from collections import Counter
from typing import Final

from gateway.listen.gate import Gate
from gateway.listen.rpc import (
    INVALID_PARAMS,
    OVERLOADED,
    RequestId,
    RpcError,
    notification_bytes,
)
from gateway.listen.sse import Exchange
from gateway.types.calls import Principal
from gateway.types.json import JsonObject

SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
TOOLS_CHANGED: Final = "notifications/tools/list_changed"
_ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"


class Subscriptions:
    """The open listen streams; each belongs to one principal, and both counts are capped."""

    def __init__(self, gate: Gate, *, max_streams: int, max_per_principal: int) -> None:
        self._gate = gate
        self._max_streams = max_streams
        self._max_per_principal = max_per_principal
        self._open: Counter[Principal] = Counter()
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End every stream with its final response, and every later one at once."""
        self._closing.set()

    async def listen(
        self, exchange: Exchange, principal: Principal, request_id: RequestId, params: JsonObject
    ) -> JsonObject | RpcError:
        """Acknowledge, then announce changes until the gateway stops; returns the final result."""
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            return RpcError(code=INVALID_PARAMS, message="`notifications` must be an object")
        if (
            self._open.total() >= self._max_streams
            or self._open[principal] >= self._max_per_principal
        ):
            return RpcError(code=OVERLOADED, message="too many open subscriptions")
        meta: JsonObject = {SUBSCRIPTION_KEY: request_id}
        honoured: JsonObject = {}
        if wanted.get("toolsListChanged") is True:
            honoured["toolsListChanged"] = True
        self._open[principal] += 1
        exchange.push(notification_bytes(_ACKNOWLEDGED, {"notifications": honoured, "_meta": meta}))
        try:
            await self._announce(exchange, meta, tools=bool(honoured))
        finally:
            self._open[principal] -= 1
            if not self._open[principal]:
                del self._open[principal]
        return {"_meta": meta}

    async def _announce(self, exchange: Exchange, meta: JsonObject, *, tools: bool) -> None:
        frame = notification_bytes(TOOLS_CHANGED, {"_meta": meta})
        leave = self._gate.on_tools_changed(lambda: exchange.push(frame)) if tools else None
        try:
            await self._closing.wait()
        finally:
            if leave is not None:
                leave()
