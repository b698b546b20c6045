"""One HTTP response read as the end of one request: JSON, an event stream, or a plain no."""

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass, field, replace

from gateway.errors import JsonError
from gateway.servers.connection import (
    CANCELLED,
    MESSAGE,
    NOTHING,
    PROGRESS,
    NotMcp,
    Reply,
    malformed,
    outcome_of,
)
from gateway.servers.entry import Entry
from gateway.servers.frames import id_in
from gateway.servers.hearing import Hearing
from gateway.servers.reading import Reader
from gateway.servers.response import JSON, Response
from gateway.servers.rising import Rising
from gateway.servers.sse import EventReader, EventTooLarge, StreamEvent
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    Rejected,
    Undelivered,
)
from gateway.types.relay import Ear
from gateway.types.values import maker

_delivered = maker(Delivered)
_USUAL = frozenset({"jsonrpc", "id", "result"})  # members of an answer
_REFUSAL_BYTES = 64 * 1024  # of an error page that are read to find a JSON-RPC error
_MOST_BAD_EVENTS = 10
# A stream may bring so many times the size of one message: a server that never comes to its answer
# is otherwise read as long as somebody could wait for it, and for a write that is long.
_MESSAGES_OF_A_STREAM = 2

# Answers that a server gives instead of acting (RFC 9110, 15.4 and 15.5): it wants the request
# elsewhere, or in another form. A 400, 409 or 422 may stem from the tool itself, 301 to 303 are how
# a POST is answered that was carried out, and a 5xx proves nothing.
_NOT_ACTED = frozenset({307, 308, 401, 404, 405, 406, 411, 413, 414, 415, 421, 426, 429, 431})
_FORBIDDEN = 403  # with a challenge it is about the credential; without, a filter may have said it


class AnswerTooLarge(Exception):
    """A body is larger than the cap, counted as it is on the wire."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request under way: what its response is matched with, and where by-products go."""

    entry: Entry
    number: int
    reader: Reader
    modern: bool
    in_session: bool
    take: Callable[[JsonObject], None]  # requests and notes that the server sends by itself
    ear: Ear | None = None
    hearing: Hearing | None = None  # on a connection whose server may ask
    capabilities: JsonObject = field(default_factory=lambda: NOTHING)  # that the request declared
    rising: Rising = field(default_factory=Rising)
    received: int = 0  # bytes of its event streams so far
    last_id: str = ""  # of the last event, where events have ids
    retry_ms: int | None = None  # how long to wait before asking for what comes after it

    @property
    def server(self) -> str:
        """The server's name."""
        return self.entry.name

    @property
    def cap(self) -> int:
        """The bytes that one message may have."""
        return self.entry.caps.message_bytes

    @property
    def stream_cap(self) -> int:
        """The bytes that all event streams of the request may have."""
        return _MESSAGES_OF_A_STREAM * self.cap


def read_whole(response: Response, number: int, reader: Reader, cap: int) -> Delivered | None:
    """Return the result of a request as `read_reply` does, if it is here already: most are.

    None for whatever is not a plain JSON answer, all of it there, with a complete result.
    """
    body = response.plain
    if body is None or len(body) > cap:
        return None
    try:
        message, redactions = reader.read(body)
    except JsonError:
        return None
    if not isinstance(message, dict) or message.keys() != _USUAL:
        return None
    answers, result = message["id"], message["result"]
    if type(answers) is not int or answers != number or not isinstance(result, dict):
        return None
    if result.get("resultType", "complete") != "complete":
        return None
    return _delivered(result=result, size=len(body), redactions=redactions)


async def read_reply(response: Response, exchange: Exchange) -> Reply:
    """Return the end of a request; raises ConnectionError when the connection breaks."""
    if response.encoding not in ("", "identity"):
        return malformed(exchange.server, "in an encoding that was not asked for")
    if not 200 <= response.status < 300:
        return await _refusal(response, exchange)
    try:
        if response.content_type == "text/event-stream":
            return await read_events(response.iter_any(), exchange)
        if response.content_type == JSON:
            return _message(await read_capped(response, exchange.cap), exchange)
    except (AnswerTooLarge, EventTooLarge):
        return Undelivered(
            failure=Failure.TOO_LARGE,
            executed=Execution.UNKNOWN,
            detail=f"the answer of `{exchange.server}` is too large: "
            f"the limit is {exchange.cap} bytes",
        )
    return malformed(exchange.server, "that is neither JSON nor an event stream")


async def read_capped(response: Response, cap: int) -> bytes:
    """Read a body of at most `cap` bytes; raises AnswerTooLarge without reading the rest."""
    declared = response.content_length
    if declared is not None:
        if declared > cap:
            raise AnswerTooLarge
        return await response.read()
    pieces: list[bytes] = []
    size = 0
    async for piece in response.iter_any():
        size += len(piece)
        if size > cap:
            raise AnswerTooLarge
        pieces.append(piece)
    return b"".join(pieces)


async def _refusal(response: Response, exchange: Exchange) -> Reply:
    server, status = exchange.server, response.status
    if status in (401, _FORBIDDEN):  # the server's challenge is for us, and goes no further
        is_unread = status != _FORBIDDEN or bool(response.headers.get("WWW-Authenticate"))
        return Undelivered(
            failure=Failure.UNAUTHORIZED,
            executed=Execution.NO if is_unread else Execution.UNKNOWN,
            status=status,
            detail=f"`{server}` refused the gateway's own credential (HTTP {status}); "
            f"the credential for `{server}` needs renewal",
        )
    if status == 429:
        return Undelivered(
            failure=Failure.RATE_LIMITED,
            executed=Execution.NO,
            detail=f"`{server}` asks for fewer calls (HTTP 429)",
            retry_after_s=_retry_after(response),
        )
    if not (status == 404 and exchange.in_session):  # that one always means: session unknown
        rejected = await _rejection(response, exchange)
        if rejected is not None:
            return rejected
    redirected = 300 <= status < 400
    return NotMcp(
        status=status,
        detail=f"`{server}` answered HTTP {status}"
        + ("; redirects are not followed, set the final `url`" if redirected else ""),
        executed=Execution.NO if status in _NOT_ACTED else Execution.UNKNOWN,
        retry_after_s=_retry_after(response),
    )


async def _rejection(response: Response, exchange: Exchange) -> Reply | None:
    """Return the JSON-RPC error in the body of an HTTP error, if there is one."""
    try:
        body = await read_capped(response, _REFUSAL_BYTES)
        read = exchange.reader.read(body)
    except (AnswerTooLarge, JsonError):
        return None
    message = read.message
    if not isinstance(message, dict) or not isinstance(message.get("error"), dict):
        return None
    # Who could not read the request can't name it, and says so with a 4xx (JSON-RPC 2.0, 5).
    unnamed = (None,) if 400 <= response.status < 500 else ()
    if message.get("id") not in (exchange.number, *unnamed):
        return None
    outcome = _outcome(message, len(body), exchange, read.redactions)
    return replace(outcome, status=response.status) if isinstance(outcome, Rejected) else outcome


def _outcome(message: JsonObject, size: int, exchange: Exchange, redactions: int) -> Delivery:
    return outcome_of(
        message,
        server=exchange.server,
        size=size,
        modern=exchange.modern,
        capabilities=exchange.capabilities,
        redactions=redactions,
    )


def _message(body: bytes, exchange: Exchange) -> Reply:
    try:
        read = exchange.reader.read(body)
    except JsonError as error:
        return malformed(exchange.server, f"that is not JSON: {error.message}")
    message = read.message
    if not isinstance(message, dict):
        return malformed(exchange.server, "that is not a JSON-RPC message")
    if not _answers(message, exchange):
        return malformed(exchange.server, "to another request")
    return _outcome(message, len(body), exchange, read.redactions)


def _answers(message: JsonObject, exchange: Exchange) -> bool:
    number = message.get("id")
    return type(number) is int and number == exchange.number and "method" not in message


async def read_events(pieces: AsyncIterable[bytes], exchange: Exchange) -> Reply:
    """Return the answer on an event stream; notes how far it got. Raises EventTooLarge."""
    reader = EventReader(exchange.cap)
    bad = 0
    try:
        async for piece in pieces:
            exchange.received += len(piece)
            for event in reader.feed(piece):
                reply = await _event(event, exchange)
                if reply is _BAD:
                    bad += 1
                    if bad >= _MOST_BAD_EVENTS:
                        what = "as a stream of things that are no messages"
                        return malformed(exchange.server, what)
                elif reply is not None:
                    return reply
            if exchange.received > exchange.stream_cap:
                return _endless(exchange)
    except OSError:
        if not reader.last_id:  # nothing that the rest could be asked for by
            raise
    finally:
        exchange.last_id = reader.last_id or exchange.last_id
        exchange.retry_ms = reader.retry_ms if reader.retry_ms is not None else exchange.retry_ms
    return Undelivered(
        failure=Failure.CLOSED,
        executed=Execution.UNKNOWN,
        detail=f"`{exchange.server}` ended the event stream without an answer",
    )


def _endless(exchange: Exchange) -> Undelivered:
    return Undelivered(
        failure=Failure.TOO_LARGE,
        executed=Execution.UNKNOWN,
        detail=f"`{exchange.server}` sent {exchange.stream_cap} bytes of events and no answer",
    )


_BAD = NotMcp(status=200, detail="not a message", executed=Execution.UNKNOWN)


async def _event(event: StreamEvent, exchange: Exchange) -> Reply | None:
    """Return the answer if this event is it, `_BAD` for a thing that is no message, else None."""
    try:
        read = exchange.reader.read(event.data)
    except JsonError as error:
        if id_in(event.data[:512], event.data[-512:]) == exchange.number:
            return malformed(exchange.server, f"that is not JSON: {error.message}")
        return _BAD
    message = read.message
    if not isinstance(message, dict):
        return _BAD
    if _answers(message, exchange):
        return _outcome(message, len(event.data), exchange, read.redactions)
    if "method" in message and not await _heard(message, exchange):
        exchange.take(message)
    return None


async def _heard(message: JsonObject, exchange: Exchange) -> bool:
    """Hand on what belongs to this call: it came on the stream that answers it."""
    method, params, ear = message["method"], message.get("params"), exchange.ear
    if "id" in message:
        if exchange.hearing is None:
            return False
        exchange.hearing.asked(message)
    elif method == PROGRESS:
        await _progress(params, exchange)
    elif method == MESSAGE:
        if ear is not None and isinstance(params, dict):
            await ear.log(params)
    elif method == CANCELLED:
        if exchange.hearing is not None:
            exchange.hearing.withdrawn(params)
    else:
        return False
    return True


async def _progress(params: Json, exchange: Exchange) -> None:
    ear = exchange.ear
    if ear is None or not ear.wants_progress or not isinstance(params, dict):
        return
    token = params.get("progressToken")
    if type(token) is int and token == exchange.number:
        news = exchange.rising.accept(params)
        if news is not None:
            await ear.progress(*news)


def _retry_after(response: Response) -> float | None:
    """Return `Retry-After` in seconds; the form with a date is rare and left out."""
    value = response.headers.get("Retry-After", "").strip()
    return float(value) if value.isdecimal() and len(value) < 8 else None
