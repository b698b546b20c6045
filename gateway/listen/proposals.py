"""Turns the params of a request into a proposed call, the same for both eras."""

from gateway import ids
from gateway.clock import Clock
from gateway.listen.methods import target
from gateway.listen.rpc import INVALID_PARAMS, RequestId, RpcError
from gateway.types.calls import Caller, Method, Principal, ProposedCall
from gateway.types.json import JsonObject
from gateway.types.values import value


@value
class Envelope:
    """What the transport knows about a request beside its params."""

    principal: Principal
    request_id: RequestId
    input_error: str = ""
    trace_header: str = ""
    idempotency_key: str | None = None  # the HTTP header
    peer: str = ""


def propose(
    method: Method, params: JsonObject, envelope: Envelope, caller: Caller, clock: Clock
) -> ProposedCall | RpcError:
    """Return the call; arguments of a wrong shape are left for the pipeline to refuse."""
    name = target(method, params)
    if isinstance(name, RpcError):
        return name
    meta = params.get("_meta")
    if meta is not None and not isinstance(meta, dict):
        return RpcError(code=INVALID_PARAMS, message="`params._meta` must be an object")
    arguments = params.get("arguments")
    input_error = envelope.input_error
    if arguments is not None and not isinstance(arguments, dict):
        arguments, input_error = None, "`arguments` must be an object"
    return ProposedCall(
        call_id=ids.new("call"),
        name=name,
        arguments=arguments or {},
        meta=meta or {},
        principal=envelope.principal,
        caller=caller,
        received_at=clock.now(),
        request_id=str(envelope.request_id),
        trace_header=envelope.trace_header,
        idempotency_key=envelope.idempotency_key,
        peer=envelope.peer,
        input_error=input_error,
        method=method,
        params=params,
    )
