"""One response over HTTP/1.1, handed on piece by piece as it arrives."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Final, Protocol, Self

_WINDOW: Final = 256 << 10  # bytes of a body that may wait to be read
JSON: Final = "application/json"
_STREAM: Final = "text/event-stream"


class Line(Protocol):
    """The connection that a response comes over."""

    def finish(self, response: "Response") -> None:
        """Be free for another request, or close."""
        ...

    def drift(self) -> None:
        """Stay open until the server ends the response, of which nobody hears any more."""
        ...

    def close(self) -> None:
        """End now; the server sees its response closed."""
        ...

    def pause(self) -> None:
        """Read no further until somebody has caught up."""
        ...

    def resume(self) -> None:
        """Read on."""
        ...


class Headers:
    """Header fields of a response; a name may come several times, in any case.

    Kept as they came: of most responses two or three are ever looked at.
    """

    __slots__ = ("_fields",)

    def __init__(self) -> None:
        self._fields: dict[bytes, list[bytes]] = {}

    def add(self, name: bytes, value: bytes) -> None:
        """Add one field."""
        self._fields.setdefault(name.lower(), []).append(value)

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a name."""
        values = self._fields.get(_name(name))
        return values[0].decode("latin-1") if values else default

    def getall(self, name: str, default: list[str]) -> list[str]:
        """Return every value of a name."""
        values = self._fields.get(_name(name))
        return default if values is None else [value.decode("latin-1") for value in values]

    @property
    def count(self) -> int:
        """How many fields there are."""
        return sum(map(len, self._fields.values()))

    def without(self, *names: str) -> "Headers":
        """Return the others."""
        left = Headers()
        dropped = {_name(name) for name in names}
        left._fields = {name: each for name, each in self._fields.items() if name not in dropped}
        return left


@lru_cache(maxsize=64)  # our own words
def _name(name: str) -> bytes:
    return name.lower().encode("latin-1")


class Response:
    """One response; leaving its context gives the connection back, or closes it if unread."""

    # As it begins: set where something happens, which of most of these is never.
    status: int = 0
    content_type: str = ""  # the media type, without parameters
    encoding: str = ""  # of the body; empty: none
    began: bool = False  # enough is here to say what kind of answer it is
    is_complete: bool = False  # all of it arrived
    is_read: bool = False  # it has said what it was asked for; what is missing is its end
    plain: bytes | None = None  # the body of a JSON answer that is here as a whole, in one piece
    _waiting: int = 0
    _fault: Exception | None = None
    news: "asyncio.Future[None] | None" = None  # done once there is something new
    when: float = math.inf  # on the loop's clock, when it comes too late
    is_late: bool = False
    headers = Headers()  # nobody adds to these: they are replaced when the first is read

    def __init__(self, connection: Line, *, stays: bool) -> None:
        self._connection = connection
        self._stays = stays
        self._pieces: deque[bytes] = deque()

    @property
    def content_length(self) -> int | None:
        """The declared length of the body."""
        text = self.headers.get("content-length")
        return int(text) if text.isdecimal() and len(text) < 16 else None

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; raises ConnectionError when it breaks off."""
        while True:
            if self._pieces:
                piece = self._pieces.popleft()
                self._waiting -= len(piece)
                if self._waiting < _WINDOW // 2:
                    self._connection.resume()
                yield piece
            elif self._fault is not None:
                raise self._fault
            elif self.is_complete:
                return
            else:
                await self._more()

    def whole(self) -> bytes | None:
        """Return the whole body if it arrived in one piece, and leave it to be read."""
        return self._pieces[0] if self.is_complete and len(self._pieces) == 1 else None

    async def read(self) -> bytes:
        """Return the whole body; for bodies whose declared length was looked at."""
        if self.is_complete and len(self._pieces) == 1:
            return self._pieces.popleft()
        return b"".join([piece async for piece in self.iter_any()])

    async def _more(self) -> None:
        self.news = asyncio.get_running_loop().create_future()
        await self.news

    def passed(self) -> None:
        """End the wait: its time is over."""
        self.is_late = True
        self.fail(TimeoutError())

    async def begun(self) -> None:
        """Wait until it can be handled; a short JSON answer is then here as a whole."""
        loop = asyncio.get_running_loop()
        while not self.began:
            if self._fault is not None:
                raise self._fault
            self.news = loop.create_future()
            await self.news

    def take(self, piece: bytes) -> None:
        """Add a piece of the body."""
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting > _WINDOW:
            self._connection.pause()
            self.began = True
        if self.began:
            self.tell()

    def headed(self) -> None:
        """Note that the headers are here: only a stream, or a large body, is handled before its
        end.
        """
        self.content_type = self.headers.get("content-type").partition(";")[0].strip().lower()
        self.encoding = self.headers.get("content-encoding").strip().lower()
        if self.content_type == _STREAM:
            self.began = True
            self.tell()

    def arrived(self, headers: Headers, body: bytes) -> None:
        """Take all of a JSON answer at once, which is in no encoding."""
        self.status, self.headers, self.content_type = 200, headers, JSON
        self._pieces.append(body)
        self._waiting = len(body)
        self.plain, self.is_complete, self.began = body, True, True
        self.tell()

    def end(self) -> None:
        """Note that all of it is here."""
        self.is_complete = self.began = True
        if self.status == 200 and self.content_type == JSON and not self.encoding:
            self.plain = self.whole()
        self.tell()

    def fail(self, fault: Exception) -> None:
        """Note that no more will come."""
        if not self.is_complete:
            self._fault = fault
            self.tell()

    def tell(self) -> None:
        """Wake whoever waits."""
        news = self.news
        if news is not None and not news.done():
            news.set_result(None)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *unused: object) -> None:
        """Give the connection back if it can be used again."""
        if kind is asyncio.CancelledError:
            self.leave()
        else:
            self._connection.finish(self)

    def free(self) -> None:
        """Give the connection back; all that came was read."""
        self._connection.finish(self)

    def leave(self) -> None:
        """Wait no longer: the server sees that, unless the response was to stay open."""
        if self._stays and not self.is_complete:
            self._pieces.clear()
            self._connection.drift()
        else:
            self._connection.close()
