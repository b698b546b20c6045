"""Errors on their way through the SDK: the gate's own, and those that turn a request away."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from gateway.listen.arrivals import ARRIVAL, Arrival
from gateway.listen.doorstep import of_code
from gateway.listen.gate import Gate
from gateway.protocol.words import INVALID_PARAMS


class WeighedError(MCPError):
    """An error that the gate answered with, and so has recorded."""


def watching(gate: Gate) -> ServerMiddleware[Any]:
    """Return the SDK's middleware that notices errors which travel in a stream or over stdio."""

    async def watch(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except WeighedError:
            raise
        except MCPError as error:
            _tell(gate, ctx, error.error.code)
            raise
        except ValidationError:  # the SDK's models did not fit
            _tell(gate, ctx, INVALID_PARAMS)
            raise

    return watch


def _tell(gate: Gate, ctx: ServerRequestContext[Any, Any], code: int) -> None:
    request: Any = ctx.request
    found: object = request if isinstance(request, Arrival) else request.scope[ARRIVAL]
    assert isinstance(found, Arrival)  # noqa: S101 - our transports set it on each message
    noted = of_code(code, transport=found.transport, peer=found.peer, method=ctx.method)
    if noted is not None:
        gate.turned_away(noted)
