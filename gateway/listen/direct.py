"""The short way between an application and its server, for a request and an answer that are whole.

ASGI hands over bodies in pieces, by coroutines; most requests are in one piece and have arrived
before they are looked at, and so are most answers when they leave.
"""

from typing import Final, Protocol

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from gateway.listen.joined import Joined

_DIRECT: Final = "weighbridge.direct"  # key in an ASGI scope

Headers = list[tuple[bytes, bytes]]


class Direct(Protocol):
    """What a server can do at once, and in one step."""

    def take(self) -> bytes | None:
        """Return the body, once, if all of it has arrived; else None, and ASGI gives it."""
        ...

    def answer(self, body: bytes) -> bool:
        """Send a JSON body as the whole answer, status 200; False where only ASGI can."""
        ...

    @property
    def is_left(self) -> bool:
        """Whether the client has gone, so that nobody gets the answer."""
        ...


class CycleDirect:
    """The short way of one request of uvicorn's."""

    __slots__ = ("_cycle", "_is_taken", "_transport")

    def __init__(self, cycle: RequestResponseCycle, transport: Joined) -> None:
        self._cycle = cycle
        self._transport = transport
        self._is_taken = False

    def take(self) -> bytes | None:
        """Return the body, once, if all of it has arrived."""
        cycle = self._cycle
        if self._is_taken or cycle.more_body or cycle.disconnected:
            return None
        self._is_taken = True
        body = bytes(cycle.body)
        # As after `receive`: who asks again waits for the client's leaving.
        cycle.body = bytearray()
        cycle.message_event.clear()
        if cycle.flow.read_paused:
            cycle.flow.resume_reading()
        return body

    def answer(self, body: bytes) -> bool:
        """Send a JSON body as the whole answer, unless it needs any more than that."""
        cycle = self._cycle
        if (
            cycle.response_started
            or cycle.disconnected
            or not cycle.keep_alive
            or cycle.flow.write_paused
            or cycle.scope["method"] == "HEAD"  # whose answer has no body
        ):
            return False
        cycle.waiting_for_100_continue = False  # or `receive` would say so after the answer
        cycle.response_started = cycle.response_complete = True
        self._transport.write_whole(
            b"%b%d\r\n\r\n%b" % (_head(cycle.default_headers), len(body), body)
        )
        cycle.message_event.set()
        cycle.on_response()
        return True

    @property
    def is_left(self) -> bool:
        """Whether the connection is closed, and its request not answered."""
        return self._cycle.disconnected


class _Head:
    """The head of such an answer, up to the length of its body; the last one is kept.

    It changes when the server's `Date` does: uvicorn makes the list of its own headers anew then.
    """

    __slots__ = ("_made", "_server")

    def __init__(self) -> None:
        self._server: Headers = []
        self._made = b""

    def __call__(self, server: Headers) -> bytes:
        if server is not self._server:
            lines = [*server, (b"content-type", b"application/json")]
            said = b"".join(b"%b: %b\r\n" % line for line in lines)
            self._made = STATUS_LINE[200] + said + b"content-length: "
            self._server = server
        return self._made


_head: Final = _Head()


def let_pass(scope: Scope, direct: Direct) -> None:
    """Let the application of a request take the short way."""
    scope[_DIRECT] = direct


def let_go(scope: Scope) -> None:
    """Forget the short way of a request that is answered.

    It knows the request, and the request's scope knows it: all that belongs to them would be left
    for the collector of cycles, which stops everybody for milliseconds to find it.
    """
    scope.pop(_DIRECT, None)


def direct_of(scope: Scope) -> Direct | None:
    """Return the short way of a request, if its server has one."""
    found: Direct | None = scope.get(_DIRECT)
    return found
