"""The admin listener: another address and another audience than the agents' endpoint."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """Whether the gateway can do its work; the texts are short and name no secret."""

    ready: bool
    reasons: tuple[str, ...] = ()  # why it can't
    warnings: tuple[str, ...] = ()  # what only some callers meet: no reason to send them elsewhere


def site(readiness: Callable[[], Readiness]) -> Starlette:
    """Return the application: liveness and readiness, nothing that needs a credential."""

    async def alive(request: Request) -> Response:
        del request
        return JSONResponse({"status": "alive"}, headers=_HEADERS)

    async def ready(request: Request) -> Response:
        del request
        found = readiness()
        return JSONResponse(
            {
                "status": "ready" if found.ready else "not ready",
                "reasons": list(found.reasons),
                "warnings": list(found.warnings),
            },
            status_code=200 if found.ready else 503,
            headers=_HEADERS,
        )

    return Starlette(routes=[Route("/healthz", alive), Route("/readyz", ready)])


_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
