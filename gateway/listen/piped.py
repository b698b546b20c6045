"""The short way of tool calls over stdio: to the gate and back, past the SDK's streams and tasks.

The SDK decides in which era a client speaks, and whether it may call. What it has answered once, in
the same `_meta`, it would answer again; so calls that are like an earlier one are the gate's alone.
Whatever may change how calls are answered goes by the SDK, and so does the first call after it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from mcp.server.connection import Connection
from mcp.shared.exceptions import NoBackChannelError
from mcp_types import CONNECTION_CLOSED

from gateway.listen.answering import Answers, Request, in_session, meta_of
from gateway.listen.backchannel import ChannelCaller
from gateway.listen.clients import Client
from gateway.listen.doorstep import of_code
from gateway.listen.gate import Gate
from gateway.listen.methods import CANCELLED, LISTS, PROGRESS
from gateway.listen.proposals import Envelope
from gateway.listen.rpc import (
    RequestId,
    RpcError,
    error_bytes,
    notification_bytes,
    result_bytes,
)
from gateway.listen.strict import Incoming
from gateway.protocol.words import CAPABILITIES_KEY, LOG_LEVEL_KEY
from gateway.types.calls import Era, Method, Principal
from gateway.types.json import JsonObject
from gateway.types.values import maker

_envelope = maker(Envelope)

_CALL: Final = Method.CALL_TOOL.value
STDIO: Final = "stdio"  # the transport, and the one session that it has
# After these, calls are answered as before.
_HARMLESS: Final = frozenset({_CALL, "ping", CANCELLED, PROGRESS, *LISTS})
_CLOSED: Final = RpcError(code=CONNECTION_CLOSED, message="Connection closed")

Send = Callable[[bytes], Awaitable[None]]


class Served(NamedTuple):
    """Whom the SDK has let a request through for."""

    version: str
    connection: Connection
    client: Client | None  # of the handshake era


class _Known(NamedTuple):
    """What calls that may go the short way have in common."""

    meta: JsonObject
    served: Served


class _Own:
    """What goes to the client beside the answer to one call; silent once that is answered."""

    __slots__ = ("_connection", "_send", "is_open")

    def __init__(self, connection: Connection, send: Send) -> None:
        self._connection = connection
        self._send = send
        self.is_open = True

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report nothing: calls with a token for it go by the SDK."""

    async def notify(self, method: str, params: JsonObject | None) -> None:
        """Tell something before the answer."""
        if self.is_open:
            await self._send(notification_bytes(method, params or {}))

    async def send_raw_request(self, method: str, params: JsonObject | None) -> dict[str, Any]:
        """Ask something, and return the result; raises MCPError."""
        if not self.is_open:
            raise NoBackChannelError(method)
        return await self._connection.send_raw_request(method, params)


class PipedCalls:
    """Serves the calls of one client that are like earlier ones."""

    def __init__(
        self,
        gate: Gate,
        answers: Answers,
        principal: Principal,
        *,
        send: Send,
        settled: Callable[[RequestId], None],
    ) -> None:
        """`send` writes a message; `settled` is told which request nobody waits for any more."""
        self._gate = gate
        self._answers = answers
        self._principal = principal
        self._send = send
        self._settled = settled
        self._known: _Known | None = None
        self._turn = 0  # counts what may have changed how calls are answered
        self._asked: dict[RequestId, tuple[int, JsonObject]] = {}  # calls that the SDK has
        self._tasks: dict[RequestId, asyncio.Task[None]] = {}

    def passes(self, message: JsonObject, request_id: RequestId | None) -> None:
        """Take note of a message that the SDK gets."""
        method, params = message["method"], message.get("params")
        if method not in _HARMLESS:
            self._turn += 1
            self._known = None
        elif method == _CALL and request_id is not None and isinstance(params, dict):
            self._asked[request_id] = self._turn, meta_of(params)

    def answered(self, request_id: RequestId, served: Served | None) -> None:
        """Take note that the SDK has answered a request; `served` is None for an error."""
        turn, meta = self._asked.pop(request_id, (-1, {}))
        if served is None or turn != self._turn:
            return
        if "progressToken" not in meta and LOG_LEVEL_KEY not in meta:
            self._known = _Known(meta, served)

    def begin(self, incoming: Incoming, request_id: RequestId) -> bool:
        """Serve a call in a task of its own; False, with nothing done, for what is the SDK's."""
        known, message = self._known, incoming.message
        if known is None or message["method"] != _CALL:
            return False
        params = message.get("params")
        if not isinstance(params, dict) or params.get("_meta", {}) != known.meta:
            return False
        if request_id in self._tasks or request_id in self._asked:
            return False
        request, own = self._request(known, params, incoming, request_id)
        work = self._serve(request, own, request_id)
        self._tasks[request_id] = asyncio.get_running_loop().create_task(work)
        return True

    def cut(self, request_id: object) -> bool:
        """Cancel a call that was begun here; nobody waits for its answer any more."""
        if isinstance(request_id, bool) or not isinstance(request_id, str | int):
            return False
        task = self._tasks.pop(request_id, None)
        if task is not None:
            task.cancel()
        return task is not None

    async def close(self, *, tells: bool) -> None:
        """End what is still under way; with `tells`, its caller hears of it."""
        left, self._tasks = self._tasks, {}
        for task in left.values():
            task.cancel()
        await asyncio.gather(*left.values(), return_exceptions=True)
        if tells:
            for request_id in left:
                await self._send(error_bytes(request_id, _CLOSED))

    def _request(
        self, known: _Known, params: JsonObject, incoming: Incoming, request_id: RequestId
    ) -> tuple[Request, _Own]:
        version, connection, client = known.served
        own = _Own(connection, self._send)
        envelope = _envelope(
            principal=self._principal,
            request_id=request_id,
            input_error=incoming.input_error,
            client_name=client.name if client is not None else "",
        )
        if client is not None:
            request = in_session(
                _CALL,
                params,
                envelope,
                client=client,
                version=version,
                session=connection.session_id or STDIO,
                transport=STDIO,
                wants_progress=False,
                channel=own,
                carried=_as_it_is,
            )
            return request, own
        declared = known.meta.get(CAPABILITIES_KEY)
        caller = ChannelCaller(
            era=Era.MODERN,
            protocol_version=version,
            transport=STDIO,
            wants_progress=False,
            channel=own,
            carried=_as_it_is,
            capabilities=declared if isinstance(declared, dict) else {},
        )
        return Request(method=_CALL, params=params, caller=caller, envelope=envelope), own

    async def _serve(self, request: Request, own: _Own, request_id: RequestId) -> None:
        answer = await self._answers.answer(request)
        own.is_open = False
        # Whoever was cut short is answered no more, and his id may be another call's by now.
        if self._tasks.get(request_id) is not asyncio.current_task():
            return
        del self._tasks[request_id]
        if isinstance(answer, RpcError):
            noted = (
                None if answer.is_weighed else of_code(answer.code, transport=STDIO, method=_CALL)
            )
            if noted is not None:
                self._gate.turned_away(noted)
            text = error_bytes(request_id, answer)
        else:
            text = result_bytes(request_id, answer)
        self._settled(request_id)
        await self._send(text)


def _as_it_is(value: JsonObject) -> JsonObject:
    return value
