"""Requests whose head is that of an earlier one on their connection, but for the body's length.

A client sends the same head with each request, and to parse it anew takes several times what it
takes to see that. So the heads that came first on a connection are kept, as they were sent and as
the parser read them. Only heads are kept of which nothing but their bytes decides how they are
read, and only of clients whose credential was accepted; all others are the parser's.
"""

from typing import Any, Final, Self

from starlette.types import Scope

_MOST: Final = 8  # heads of one connection: of an agent, one for each tool that it uses
_LONGEST: Final = 4096  # bytes of one
_DIGITS: Final = 10
_LENGTH: Final = b"content-length"
_END: Final = b"\r\n\r\n"
# What changes how a body is read, or what the connection is for.
_OTHERS: Final = frozenset({b"transfer-encoding", b"upgrade", b"expect", b"trailer"})
_STAYS: Final = b"keep-alive"  # all that may be said of the connection; it says nothing in HTTP/1.1
_SEEN: Final = "weighbridge.seen"  # key in an ASGI scope

Headers = list[tuple[bytes, bytes]]


class Seen:
    """What an application found out about the headers of a request, for when they come again.

    It is the application's, and empty at first. Headers that are the same list are the same.
    """

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: Any = None


def seen_of(scope: Scope) -> Seen | None:
    """Return what is known of the head of a request, if it may come again."""
    found: Seen | None = scope.get(_SEEN)
    return found


class Head:
    """A head as it was sent, and the scope that it led to."""

    __slots__ = ("_after", "_before", "_length", "_place", "_scope", "_seen", "_tail")

    def __init__(self, before: bytes, length: bytes, after: bytes, scope: Scope) -> None:
        """Split a head at the length of its body; `scope` is that of its first request."""
        self._before, self._after = before, after
        self._tail = len(after)
        self._length = length
        self._place = [name for name, _ in scope["headers"]].index(_LENGTH)
        own = {key: scope[key] for key in scope if not key.startswith("weighbridge.")}
        self._scope: Scope = {**own, "headers": [*scope["headers"]]}
        self._seen = Seen()

    @classmethod
    def of(cls, data: bytes, scope: Scope) -> Self | None:
        """Return the head at the beginning of what was received; None for one that isn't kept.

        `scope` is what it was read as, by the parser, in HTTP/1.1.
        """
        end = data.find(_END, 0, _LONGEST)
        if end < 0 or scope["http_version"] != "1.1":
            return None
        first, *lines = data[:end].split(b"\r\n")
        read: Headers = scope["headers"]
        names = [name for name, _ in read]
        if names.count(_LENGTH) != 1 or not _OTHERS.isdisjoint(names):
            return None
        if any(name == b"connection" and value.lower() != _STAYS for name, value in read):
            return None
        # As the parser has it: nothing that it joins, leaves out or ends a line by.
        split = [line.partition(b":") for line in lines]
        if [(name.lower(), value.strip(b" \t")) for name, _, value in split] != read:
            return None
        at = names.index(_LENGTH)
        length = read[at][1]
        if not (length.isdigit() and len(length) <= _DIGITS) or not split[at][2].endswith(length):
            return None
        before = b"\r\n".join([first, *lines[: at + 1]])[: -len(length)]
        return cls(before, length, data[len(before) + len(length) : end] + _END, scope)

    def body_of(self, data: bytes) -> bytes | None:
        """Return the body of a request that is here as a whole and has this head; else None."""
        before = self._before
        if not data.startswith(before):
            return None
        start = len(before)
        end = data.find(b"\r", start, start + _DIGITS + 1)
        length = data[start:end] if end > 0 else b""
        if not length.isdigit() or not data.startswith(self._after, end):
            return None
        body = data[end + self._tail :]
        if len(body) != int(length):
            return None
        if length != self._length:
            self._length = length
            headers = [*self._scope["headers"]]
            headers[self._place] = (_LENGTH, length)
            self._scope["headers"] = headers
        return body

    def scope(self, state: dict[str, Any]) -> Scope:
        """Return the scope of the request whose body was just found."""
        return {**self._scope, "state": state, _SEEN: self._seen}


class Heads:
    """The heads that are known on one connection."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: list[Head] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._known)

    @property
    def has_room(self) -> bool:
        """Whether more are kept."""
        return len(self._known) < _MOST

    def learn(self, data: bytes, scope: Scope) -> None:
        """Keep the head at the beginning of what was received, if it can be told when it comes."""
        head = Head.of(data, scope)
        if head is not None:
            self._known.append(head)

    def find(self, data: bytes) -> tuple[Head, bytes] | None:
        """Return the head that a whole request has, and its body; None for what is not known."""
        for head in self._known:
            body = head.body_of(data)
            if body is not None:
                return head, body
        return None
