"""Reads over HTTP that need nothing but an open connection, a number and their answer.

Most reads are like that: nobody listens to them, nothing is to be said of them twice, and the
answer comes as a whole. Whatever turns out otherwise goes on as any other request does.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from gateway.servers.connection import Spoken, timed_out
from gateway.servers.deadlines import Deadlines
from gateway.servers.entry import Entry
from gateway.servers.heads import Heads
from gateway.servers.letters import Letters
from gateway.servers.reading import Reader
from gateway.servers.replies import read_whole
from gateway.servers.response import Response
from gateway.servers.sending import Sending
from gateway.servers.wire import Connection, Pool
from gateway.types.operations import Delivery
from gateway.types.relay import Outbound

_TRACE: Final = "traceparent"
At: TypeAlias = tuple[Spoken, str]
"""What a request was sent by: what the handshake settled, and the session."""
Rest: TypeAlias = Callable[[Sending, At, Response, Exception | None], Awaitable[Delivery]]


class QuickReads:
    """Sends them, and returns their ends."""

    def __init__(
        self,
        entry: Entry,
        pool: Pool,
        heads: Heads,
        deadlines: Deadlines,
        *,
        rest: Rest,
        cancelled: Callable[[Sending, str], None],
    ) -> None:
        """`rest` goes on with a response that is no whole answer, or with what broke it off.

        `cancelled` tells the server that nobody waits.
        """
        self._name, self._cap = entry.name, entry.caps.message_bytes
        self._reader = Reader(entry.credentials)
        self._pool, self._letters, self._deadlines = pool, Letters(heads), deadlines
        self._rest, self._cancelled = rest, cancelled

    async def read(
        self, connection: Connection, outbound: Outbound, deadline: float, number: int, at: At
    ) -> Delivery:
        """Send a read on a connection that is free, and return its end."""
        head, body = self._letters.written(outbound, number, *at)
        response = connection.send(self._pool.whole(head, body), stays=False)
        response.when, fault = deadline, None
        self._deadlines.add(response)
        try:
            response.news = news = asyncio.get_running_loop().create_future()
            await news
            if not response.began:
                await response.begun()
        except asyncio.CancelledError:
            response.leave()
            self._cancelled(_sending(outbound, number), "the caller went away")
            raise
        except OSError as error:
            response.leave()
            fault = error
        finally:
            self._deadlines.drop(response)
        if fault is None:
            whole = read_whole(response, number, self._reader, self._cap)
            if whole is not None:
                response.free()
                return whole
        return await self._go_on(_sending(outbound, number), deadline, at, response, fault)

    async def _go_on(
        self, call: Sending, deadline: float, at: At, response: Response, fault: OSError | None
    ) -> Delivery:
        try:
            if response.is_late:
                raise TimeoutError
            with self._deadlines.at(deadline):
                return await self._rest(call, at, response, fault)
        except TimeoutError:
            self._cancelled(call, "the deadline passed")
            return timed_out(self._name, call.executed)
        except asyncio.CancelledError:
            self._cancelled(call, "the caller went away")
            raise


def _sending(outbound: Outbound, number: int) -> Sending:
    """Return a read that was sent once as what may be sent again."""
    trace = outbound.traceparent
    return Sending(
        method=outbound.method,
        params=outbound.params,
        traceparent=trace,
        extra={_TRACE: trace} if trace else {},
        number=number,
    )
