"""`/v1`: the programs' side of the admin listener. JSON only, by keys of its own, and no cookie."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateway import jsontext
from gateway.admin import openapi
from gateway.admin.endpoints import ENDPOINTS, OPENAPI, Endpoint
from gateway.admin.guard import peer_of
from gateway.admin.problems import Code, Refused
from gateway.client import wire
from gateway.crossing.run_wishes import Kind, RunRefused
from gateway.errors import StoreUnavailable
from gateway.identity.hosts import Hosts, Unknown
from gateway.types.calls import Principal
from gateway.types.refused import TurnedAway, TurnedAwayFor

_CODES: Final[Mapping[Kind, Code]] = {
    Kind.NOT_FOUND: Code.NOT_FOUND,
    Kind.BLOCKED: Code.CONFLICT,
    Kind.OPEN: Code.CONFLICT,
    Kind.TOO_MANY: Code.CONFLICT,
    Kind.CHANGED: Code.CHANGED,
    Kind.KEY_USED: Code.KEY_USED,
    Kind.INVALID: Code.INVALID,
}
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_SOON: Final = {"Retry-After": "2"}
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="weighbridge"'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request of a host that was let in."""

    request: Request
    principal: Principal


Handler: TypeAlias = Callable[[Asked], Awaitable[wire.Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Lets programs in, and answers them by the table of endpoints."""

    hosts: Hosts
    handlers: Mapping[str, Handler]  # by the id of an endpoint
    note_turned_away: Callable[[TurnedAway], None]

    def app(self) -> ASGIApp:
        """Return the application; whatever it answers is JSON."""
        paths: dict[str, list[Endpoint]] = {}
        for each in ENDPOINTS:
            paths.setdefault(each.path, []).append(each)
        return Starlette(
            routes=[
                Route(OPENAPI, self._described),
                *(
                    Route(path, self._serving(found), methods=_METHODS)
                    for path, found in paths.items()
                ),
                Route("/{rest:path}", self._nowhere, methods=_METHODS),
            ],
            exception_handlers={
                Refused: _refused,
                RunRefused: _run_refused,
                HTTPException: _not_done,
                StoreUnavailable: _away,
                Exception: _failed,
            },
        )

    async def _described(self, request: Request) -> Response:
        """Return the OpenAPI document, for which nobody needs a key."""
        found = self.hosts.authenticate(request.scope["headers"])
        if isinstance(found, Unknown) and found.was_shown:
            raise self._turned_away(request, found)
        return Response(_document(), media_type="application/json")

    async def _nowhere(self, request: Request) -> Response:
        self._let_in(request)
        raise Refused(code=Code.NOT_FOUND, detail=f"see `{OPENAPI}`")

    def _serving(self, found: Sequence[Endpoint]) -> Callable[[Request], Awaitable[Response]]:
        by_method = {each.method: each for each in found}

        async def serve(request: Request) -> Response:
            principal = self._let_in(request)
            endpoint = next(
                (each for name, each in by_method.items() if name == _plain(request.method)), None
            )
            if endpoint is None:
                allowed = ", ".join(sorted(by_method))
                raise Refused(
                    code=Code.NOT_ALLOWED, detail=f"use {allowed}", headers={"Allow": allowed}
                )
            if principal.scopes.isdisjoint(endpoint.scopes):
                scopes = " or ".join(f"`{scope}`" for scope in endpoint.scopes)
                raise Refused(code=Code.FORBIDDEN, detail=f"the key needs the scope {scopes}")
            return await self._answered(endpoint, Asked(request=request, principal=principal))

        return serve

    async def _answered(self, endpoint: Endpoint, asked: Asked) -> Response:
        reply = await self.handlers[endpoint.id](asked)
        headers: dict[str, str] = {}
        if isinstance(reply, wire.RunState):
            headers["ETag"] = f'"{reply.version}"'
            if endpoint.status == 201:
                headers["Location"] = f"{endpoint.path}/{reply.run_id}"
        return Response(
            jsontext.dump(reply.model_dump(mode="json")),
            status_code=endpoint.status,
            media_type="application/json",
            headers=headers,
        )

    def _let_in(self, request: Request) -> Principal:
        found = self.hosts.authenticate(request.scope["headers"])
        if isinstance(found, Unknown):
            raise self._turned_away(request, found)
        return found

    def _turned_away(self, request: Request, found: Unknown) -> Refused:
        """Return the answer to somebody unknown; a wrong credential is worth a note."""
        if found.was_shown:
            self.note_turned_away(
                TurnedAway(
                    reason=TurnedAwayFor.INVALID_CREDENTIAL,
                    transport="admin",
                    peer=peer_of(request.scope),
                    detail=found.reason,
                )
            )
        return Refused(code=Code.UNAUTHENTICATED, detail=found.reason, headers=_CHALLENGE)


@cache
def _document() -> bytes:
    """Return the document as it is sent: anybody may ask for it, so it is made once."""
    return jsontext.dump(openapi.document())


def _plain(method: str) -> str:
    return "GET" if method == "HEAD" else method


async def _refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, Refused)  # noqa: S101 - what it is registered for
    return error.response()


async def _run_refused(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, RunRefused)  # noqa: S101 - what it is registered for
    code = Code.PHASE_BLOCKED if error.missing else _CODES[error.kind]
    return Refused(code=code, detail=str(error), missing=error.missing).response()


async def _not_done(request: Request, error: Exception) -> Response:
    del request
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = {404: Code.NOT_FOUND, 405: Code.NOT_ALLOWED}.get(status, Code.MALFORMED)
    return Refused(code=code, detail=f"see `{OPENAPI}`").response()


async def _away(request: Request, error: Exception) -> Response:
    del request, error
    return Refused(
        code=Code.UNAVAILABLE,
        detail="the store can't be reached; nobody knows whether it was done: look, then try again",
        headers=_SOON,
    ).response()


async def _failed(request: Request, error: Exception) -> Response:
    del request, error  # the server logs it
    return Refused(code=Code.INTERNAL, detail="the gateway's log says why").response()
