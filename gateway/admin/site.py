"""The admin listener: another address and another audience than the agents' endpoint."""

import logging
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.admin.readiness import Readiness
from gateway.admin.rendering import STYLE_PATH, Pages, style
from gateway.errors import StoreUnavailable

_log = logging.getLogger("weighbridge")


def site(
    readiness: Callable[[], Readiness], rooms: Sequence[BaseRoute] = (), pages: Pages | None = None
) -> Starlette:
    """Return the application: liveness, readiness, and the pages for people (`rooms`)."""
    shown = pages or Pages()

    async def alive(request: Request) -> Response:
        del request
        return JSONResponse({"status": "alive"})

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
        )

    async def styled(request: Request) -> Response:
        del request
        return style()

    async def top(request: Request) -> Response:
        del request
        return RedirectResponse("/approvals", status_code=303)

    async def refused(request: Request, error: Exception) -> Response:
        del request
        status = error.status_code if isinstance(error, HTTPException) else 500
        title = {404: "Not found", 405: "Not done"}.get(status, "Not possible")
        text = {404: "there is nothing here", 405: "that can't be done here"}.get(status, "")
        headers = error.headers if isinstance(error, HTTPException) else None
        answer = shown.message(title, text, status=status, back="/approvals")
        answer.headers.update(headers or {})
        return answer

    async def away(request: Request, error: Exception) -> Response:
        del request
        _log.warning("a page could not be shown: %s", error)
        text = "the store can't be reached right now, so nothing was done; try again in a moment"
        return shown.message("Not done", text, status=503, back="/approvals")

    async def failed(request: Request, error: Exception) -> Response:
        del request, error  # the server logs it
        text = "this page failed; the gateway's log says why"
        return shown.message("Not possible", text, status=500, back="/approvals")

    return Starlette(
        routes=[
            Route("/healthz", alive),
            Route("/readyz", ready),
            Route(STYLE_PATH, styled),
            *([Route("/", top)] if rooms else []),
            *rooms,
        ],
        exception_handlers={HTTPException: refused, StoreUnavailable: away, Exception: failed},
    )
