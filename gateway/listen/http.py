"""The HTTP listener that agents reach: checks, routing by protocol era, and orderly closing."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send

from gateway.clock import Clock
from gateway.identity import metadata
from gateway.identity.challenge import Challenge
from gateway.identity.shown import Shown
from gateway.listen.crowd import introduce
from gateway.listen.doorstep import WatchedSend, of_challenge, of_scope
from gateway.listen.gate import Authenticator, Gate, ServerInfo
from gateway.listen.handshaking import Handshaking
from gateway.listen.headers import HeaderView
from gateway.listen.manners import Manner, Manners
from gateway.listen.modern import Elsewhere, ModernFront
from gateway.listen.options import HttpOptions
from gateway.listen.origin import OriginCheck
from gateway.listen.owned import Owner
from gateway.listen.repeats import seen_of
from gateway.listen.replies import Asgi, send_empty, send_error, send_json
from gateway.listen.rpc import OVERLOADED, UNAUTHENTICATED, RpcError
from gateway.listen.shares import Shares
from gateway.types.refused import TurnedAwayFor

_BUSY: Final = RpcError(code=OVERLOADED, message="too many requests in flight; try again shortly")
_SHARE_USED: Final = RpcError(
    code=OVERLOADED,  # and status 429: others are served
    message="your requests under way take up your share of the places; wait for one to end "
    "(`listen.max_concurrency_per_principal`)",
)
_CLOSING: Final = RpcError(code=OVERLOADED, message="the gateway is shutting down")

# The headers of a request, how it comes in, and the credential where that may be shown again.
_Seen: TypeAlias = tuple[HeaderView, Manner, Shown | None]

# By the status that the check of the headers answers with.
_HEADER_REASONS: Final = {
    400: TurnedAwayFor.HOST_REFUSED,
    421: TurnedAwayFor.HOST_REFUSED,
    403: TurnedAwayFor.ORIGIN_REFUSED,
}


class HttpFront:
    """The ASGI application; run it under `serve`, which tells it when to close."""

    def __init__(
        self,
        gate: Gate,
        authenticator: Authenticator,
        *,
        clock: Clock,
        options: HttpOptions | None = None,
        info: ServerInfo | None = None,
        elsewhere: Elsewhere = lambda body: None,
    ) -> None:
        options = options or HttpOptions()
        self._path, self._most = options.path, options.max_requests
        info = info or ServerInfo()
        self._gate = gate
        self._authenticator = authenticator
        self._run_header = options.run_header.lower().encode("latin-1")
        self._manners = Manners(
            OriginCheck(hosts=options.allowed_hosts, origins=options.allowed_origins)
        )
        self._document = authenticator.metadata()
        resource = urlsplit(str(self._document.get("resource", "")))
        self._metadata_paths = {*metadata.paths(options.path), *metadata.paths(resource.path)}
        self._legacy = Handshaking(gate, info=info, options=options, clock=clock)
        self._modern = ModernFront(
            gate,
            authenticator,
            info=info,
            options=options,
            clock=clock,
            handshake=self._legacy.negotiate,
            elsewhere=elsewhere,
        )
        self._in_flight = 0
        self._shares = Shares(options.max_requests_per_principal)
        self.is_closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._other(scope, receive, send)
            return
        headers, manner, shown = self._seen(scope)
        if (
            manner.refusal is not None
            or scope["path"] != self._path
            or self.is_closing
            or self._in_flight >= self._most
        ):
            await self._aside(scope, send, manner)
            return
        # A GET is the one stream of a session, and sessions have a cap of their own.
        is_counted = scope["method"] != "GET"
        self._in_flight += is_counted
        held: Owner | None = None  # whoever has a place now
        try:
            who = self._authenticator.at_once(headers.values, shown) if headers.is_plain else None
            if who is None:  # hardly ever: most are known, and nothing has to be waited for
                who = await self._authenticator.authenticate(headers.raw)
            if isinstance(who, Challenge):
                self._gate.turned_away(of_challenge(who, scope))
                await _challenge(send, who)
                return
            introduce(scope)
            if is_counted:
                owner = who.owner
                if not self._shares.take(owner):
                    self._gate.turned_away(of_scope(scope, TurnedAwayFor.OVERLOADED))
                    again = [(b"retry-after", b"1")]
                    await send_error(send, _SHARE_USED, status=429, headers=again)
                    return
                held = owner
            front = self._legacy if manner.is_handshake else self._modern
            http = Asgi(scope, receive, WatchedSend(send, scope, self._gate))
            await front(http, headers, manner, who)
        finally:
            self._in_flight -= is_counted
            if held is not None:
                self._shares.give_back(held)

    def _seen(self, scope: Scope) -> _Seen:
        """Return what the headers of a request say by themselves; what comes again is seen once."""
        raw, seen = scope["headers"], seen_of(scope)
        known: _Seen | None = None if seen is None else seen.found
        if known is not None and known[0].raw is raw:
            return known
        headers = HeaderView(raw, self._run_header)
        shown = None if seen is None else Shown() if known is None else known[2]
        found = headers, self._manners.of(headers), shown
        if seen is not None:
            seen.found = found
        return found

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep sessions for as long as the context is open, for whoever answers lifespans himself.

        They end with it.
        """
        return self._legacy.running()

    async def close_streams(self) -> None:
        """Stop taking requests and end streams that would stay open for ever."""
        self.is_closing = True
        self._modern.subscriptions.close()
        await self._legacy.close_streams()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            await receive()
            await stack.enter_async_context(self.running())
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _aside(self, scope: Scope, send: Send, manner: Manner) -> None:
        """Answer a request that nobody has to be known for."""
        if manner.refusal is not None:
            self._gate.turned_away(of_scope(scope, _HEADER_REASONS[manner.refusal[0]]))
            await send_json(send, manner.refusal[0], {"error": manner.refusal[1]})
        elif scope["path"] == self._path:
            error = _CLOSING if self.is_closing else _BUSY
            if error is _BUSY:
                self._gate.turned_away(of_scope(scope, TurnedAwayFor.OVERLOADED))
            await send_error(send, error, headers=[(b"retry-after", b"1")])
        elif scope["path"] in self._metadata_paths and scope["method"] in {"GET", "HEAD"}:
            await send_json(send, 200, self._document)
        else:
            await send_empty(send, 404)

    async def _other(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:  # there are no WebSockets here
            await send({"type": "websocket.close", "code": 1000})


async def _challenge(send: Send, challenge: Challenge) -> None:
    """Say which credential would do, in the header for clients and in the body for people."""
    error = RpcError(code=UNAUTHENTICATED, message=challenge.description)
    headers = [(b"www-authenticate", challenge.www_authenticate().encode("latin-1"))]
    if challenge.retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % max(1, round(challenge.retry_after_s))))
    await send_error(send, error, status=challenge.status, headers=headers)
