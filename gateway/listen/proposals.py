"""Turns the params of a request into a proposed call, the same for both eras."""

from typing import Final

from gateway import ids
from gateway.clock import Clock
from gateway.listen.extensions import NO_TASKS, knows_tasks
from gateway.listen.methods import target
from gateway.listen.rpc import RequestId, RpcError
from gateway.protocol.words import INVALID_PARAMS
from gateway.types.calls import Caller, Method, Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.values import maker, value

_proposed = maker(ProposedCall)

_CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"  # key in `_meta` (MCP 2026-07-28, basic)
_LONGEST_NAME: Final = 128


@value
class Envelope:
    """What the transport knows about a request beside its params."""

    principal: Principal
    request_id: RequestId
    input_error: str = ""
    trace_header: str = ""
    idempotency_key: str | None = None  # the HTTP header
    run_header: str = ""
    peer: str = ""
    client_name: str = ""  # of the handshake; a stateless request brings its own


def propose(
    method: Method, params: JsonObject, envelope: Envelope, caller: Caller, clock: Clock
) -> ProposedCall | RpcError:
    """Return the call; arguments of a wrong shape are left for the pipeline to refuse."""
    name = params.get("name") if method is Method.CALL_TOOL else None
    if not (name and isinstance(name, str)):
        name = target(method, params)
        if isinstance(name, RpcError):
            return name
        if method.is_task and not knows_tasks(caller):
            return NO_TASKS
    meta = params.get("_meta")
    if meta is None:
        meta = {}
    elif not isinstance(meta, dict):
        return RpcError(code=INVALID_PARAMS, message="`params._meta` must be an object")
    arguments = params.get("arguments")
    input_error = envelope.input_error
    if not isinstance(arguments, dict):
        input_error = input_error if arguments is None else "`arguments` must be an object"
        arguments = {}
    return _proposed(
        call_id=ids.new("call"),
        name=name,
        arguments=arguments,
        meta=meta,
        principal=envelope.principal,
        caller=caller,
        received_at=clock.now(),
        request_id=str(envelope.request_id),
        trace_header=envelope.trace_header,
        idempotency_key=envelope.idempotency_key,
        peer=envelope.peer,
        client_name=envelope.client_name or named(meta.get(_CLIENT_INFO)),
        input_error=input_error,
        run_header=envelope.run_header,
        method=method,
        params=params,
    )


def named(info: Json) -> str:
    """Return what a client calls itself, from what it tells of itself."""
    name = info.get("name") if isinstance(info, dict) else None
    return name[:_LONGEST_NAME] if isinstance(name, str) else ""
