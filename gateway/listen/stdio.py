"""The stdio front: one client, whose messages are read strictly, one a line, within a cap.

The SDK's own transport has no cap, joins long lines in quadratic time and rounds numbers; only its
protocol engine is used. EOF lets requests under way finish for a moment; a signal doesn't.
"""

import asyncio
from typing import Final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from gateway import jsontext
from gateway.bursts import CROWD
from gateway.clock import Clock
from gateway.listen import responses
from gateway.listen.arrivals import Arrival, stand_in
from gateway.listen.doorstep import of_code
from gateway.listen.gate import Gate, ServerInfo
from gateway.listen.legacy import SdkFront
from gateway.listen.lines import LineReader, LineTooLong, LineWriter, claimed_stdio
from gateway.listen.methods import CANCELLED
from gateway.listen.piped import PipedCalls
from gateway.listen.rpc import RequestId, RpcError, error_bytes, result_bytes
from gateway.listen.strict import check_request, decode
from gateway.listen.weighed import watching
from gateway.protocol.words import INVALID_REQUEST
from gateway.types.calls import Principal
from gateway.types.json import JsonObject

_GRACE_S: Final = 2.0  # after EOF; hosts wait about that long before they send a signal
_IN_A_ROW: Final = 8  # lines, after which those who answer have their turn
_TOO_LONG: Final = RpcError(code=INVALID_REQUEST, message="the message is too long")


async def serve_stdio(
    gate: Gate,
    principal: Principal,
    *,
    clock: Clock,
    stop: anyio.Event,
    info: ServerInfo | None = None,
    max_line_bytes: int = 1024 * 1024,
) -> None:
    """Serve the client on stdin and stdout until it leaves or `stop` is set."""
    front = SdkFront(gate, info=info or ServerInfo(), clock=clock)
    with claimed_stdio() as (stdin, stdout):
        await serve_descriptors(
            front, gate, principal, stdin, stdout, stop=stop, max_line_bytes=max_line_bytes
        )


async def serve_descriptors(
    front: SdkFront,
    gate: Gate,
    principal: Principal,
    stdin: int,
    stdout: int,
    *,
    stop: anyio.Event,
    max_line_bytes: int = 1024 * 1024,
) -> None:
    """Serve a client on two non-blocking descriptors, which stay the caller's."""
    front.server.middleware.insert(0, watching(gate))
    link = _Link(gate, front, stdin, stdout, principal, max_line_bytes=max_line_bytes)
    async with anyio.create_task_group() as tasks:

        async def leave_when_told() -> None:
            await stop.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(leave_when_told)
        async with front.announcing():
            await link.run()
        tasks.cancel_scope.cancel()


class _Link:
    """The wire between two descriptors and the SDK's engine."""

    def __init__(
        self,
        gate: Gate,
        front: SdkFront,
        stdin: int,
        stdout: int,
        principal: Principal,
        *,
        max_line_bytes: int,
    ) -> None:
        self._gate = gate
        self._front = front
        self._reader = LineReader(stdin, max_bytes=max_line_bytes)
        self._out = LineWriter(stdout)
        self._max_line_bytes = max_line_bytes
        self._principal = principal
        self._open: set[str] = set()  # ids of requests under way
        self._names: dict[str, str] = {}  # what stands for each id that is a text
        self._texts: dict[str, str] = {}  # the other way round
        self._all_answered = anyio.Event()
        self._piped = PipedCalls(
            gate, front.answers, principal, send=self._send, settled=self._settle
        )

    async def run(self) -> None:
        """Carry messages both ways until the client leaves."""
        to_engine, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_engine = anyio.create_memory_object_stream[SessionMessage](0)
        server, is_over = self._front.server, False
        options = server.create_initialization_options()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, to_engine)
                tasks.start_soon(self._write, from_engine)
                tasks.start_soon(self._out.run)
                await server.run(incoming, outgoing, options)
                is_over = True
                await self._piped.close(tells=True)
                with anyio.move_on_after(_GRACE_S):
                    await self._out.drained()
                tasks.cancel_scope.cancel()
        except* (BrokenPipeError, ConnectionResetError):
            pass  # the client has left without closing stdin
        finally:
            self._out.leave()
            if not is_over:
                with anyio.CancelScope(shield=True):
                    await self._piped.close(tells=False)

    async def _read(self, to_engine: ObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_engine:
            short = 0  # lines that needed nobody else
            while True:
                try:
                    line = await self._reader.read()
                except LineTooLong:
                    await self._refuse(_TOO_LONG)
                    continue
                if line is None:
                    break
                message = await self._understand(line)
                if message is not None:
                    await to_engine.send(message)
                    continue
                short += 1
                if short % _IN_A_ROW == 0:
                    await asyncio.sleep(0)
            if self._open:
                with anyio.move_on_after(_GRACE_S):
                    await self._all_answered.wait()

    async def _understand(self, line: bytes) -> SessionMessage | None:
        if not line.strip():
            return None
        incoming = decode(line, max_bytes=self._max_line_bytes)
        if isinstance(incoming, RpcError):
            await self._refuse(incoming)
            return _in_place_of(responses.question_in(line))
        message = incoming.message
        if responses.is_response(message):
            answer = responses.read(message)
            if not isinstance(answer, RpcError):
                return SessionMessage(answer)
            return _in_place_of(responses.question_of(message))
        malformed = check_request(message)
        if malformed is not None:
            await self._refuse(malformed, message.get("method"))
            return None
        request_id = incoming.request_id
        self._note(message)
        if request_id is not None and self._piped.begin(incoming, request_id):
            return None
        if self._is_cut(message):
            return None
        self._piped.passes(message, request_id)
        arrival = Arrival(
            principal=self._principal,
            transport="stdio",
            input_error=incoming.input_error,
            request_id=request_id,
        )
        kind = JSONRPCRequest if "id" in message else JSONRPCNotification
        return SessionMessage(
            kind.model_validate(self._named(message)),
            metadata=ServerMessageMetadata(request_context=arrival),
        )

    def _is_cut(self, message: JsonObject) -> bool:
        """Whether a message cancels a call that the SDK doesn't know."""
        params = message.get("params")
        if message["method"] != CANCELLED or "id" in message or not isinstance(params, dict):
            return False
        return self._piped.cut(params.get("requestId"))

    def _named(self, message: JsonObject) -> JsonObject:
        """Return the message with the ids that the SDK knows in the place of those of texts."""
        request_id, params = message.get("id"), message.get("params")
        if isinstance(request_id, str):
            name = self._names[request_id] = stand_in()
            self._texts[name] = request_id
            return {**message, "id": name}
        if message["method"] != CANCELLED or not isinstance(params, dict):
            return message
        cancelled = params.get("requestId")
        if not isinstance(cancelled, str):
            return message
        name = self._names.pop(cancelled, "")
        self._texts.pop(name, None)
        return {**message, "params": {**params, "requestId": name}}

    def _id_of(self, answer: JSONRPCResponse | JSONRPCError) -> RequestId | None:
        """Return the id under which the client waits for the answer."""
        if not isinstance(answer.id, str):
            return answer.id
        text = self._texts.pop(answer.id, None)
        if text is not None and self._names.get(text) == answer.id:
            del self._names[text]
        return text

    def _note(self, message: JsonObject) -> None:
        """Keep count of what has to be answered before leaving."""
        params = message.get("params")
        if message["method"] == CANCELLED and isinstance(params, dict):
            self._settle(params.get("requestId"))
        elif "id" in message and message["method"] != "subscriptions/listen":
            self._open.add(repr(message["id"]))

    def _settle(self, request_id: object) -> None:
        self._open.discard(repr(request_id))
        if not self._open:
            self._all_answered.set()
            self._all_answered = anyio.Event()

    async def _write(self, from_engine: ObjectReceiveStream[SessionMessage]) -> None:
        async with from_engine:
            async for item in from_engine:
                message = item.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    answered = self._id_of(message)
                    if answered is None:
                        continue  # it was cancelled, so nobody waits
                    self._settle(answered)
                    is_result = isinstance(message, JSONRPCResponse)
                    self._piped.answered(answered, self._front.served if is_result else None)
                    text = _answer(message, answered)
                else:
                    text = jsontext.dump(_body(message))
                await self._send(text)

    async def _refuse(self, error: RpcError, method: object = "") -> None:
        noted = of_code(error.code, transport="stdio", method=method)
        if noted is not None:
            self._gate.turned_away(noted)
        await self._send(error_bytes(None, error))

    async def _send(self, text: bytes) -> None:
        await self._out.write(text, at_once=len(self._open) < CROWD)


def _answer(message: JSONRPCResponse | JSONRPCError, request_id: RequestId) -> bytes:
    if isinstance(message, JSONRPCResponse):
        return result_bytes(request_id, message.result)  # as it is: no model looks at it
    return jsontext.dump({**_body(message), "id": request_id})


def _body(message: JSONRPCMessage) -> JsonObject:
    # Not as JSON text: the SDK would round what its own models never looked at.
    return message.model_dump(exclude_unset=True)


def _in_place_of(question: RequestId | None) -> SessionMessage | None:
    """Return what ends the question whose answer is none, if it can be told."""
    if question is None:
        return None
    return SessionMessage(JSONRPCError.model_validate(responses.instead(question)))
