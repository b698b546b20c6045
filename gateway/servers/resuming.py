"""The rest of an event stream that ended before the answer (MCP 2025-11-25, transports).

A server of the handshake era may close a stream whose events have ids, or lose it; what comes
after the last one is fetched by a GET, after the pause that the server asked for.
"""

import aiohttp
import anyio

from gateway.servers.connection import Reply
from gateway.servers.replies import Exchange, read_events
from gateway.servers.sse import EventTooLarge
from gateway.servers.streams import Open, is_stream
from gateway.types.operations import Failure, Undelivered

_MOST = 16  # times that one answer is fetched; the call's deadline bounds them too
_PAUSE_MS = 1000
_LONGEST_PAUSE_MS = 30_000


async def finish(reply: Reply, exchange: Exchange, open_get: Open) -> Reply:
    """Return the end of a request whose stream may have ended too early; `reply` is what it gave.

    A server that does not offer the rest leaves the reply as it is.
    """
    for _ in range(_MOST):
        if not exchange.last_id or exchange.modern or not _is_open(reply):
            return reply
        pause = exchange.retry_ms if exchange.retry_ms is not None else _PAUSE_MS
        await anyio.sleep(min(pause, _LONGEST_PAUSE_MS) / 1000)
        try:
            async with open_get(exchange.last_id) as response:
                if not is_stream(response):
                    return reply
                reply = await read_events(response.content.iter_any(), exchange)
        except (aiohttp.ClientError, OSError):
            continue
        except (EventTooLarge, ValueError):  # also for an id that no header can carry
            return reply
    return reply


def _is_open(reply: Reply) -> bool:
    return isinstance(reply, Undelivered) and reply.failure is Failure.CLOSED
