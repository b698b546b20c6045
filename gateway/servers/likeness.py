"""Heads of responses that one server has sent before, but for the length and the date.

Most answers of a server come with the same head. Read by the parser, each field of it is a step
into Python and back; found here, it costs one search. The parser stays the rule: a head is known
here only once the parser has read one like it, and whatever is not known goes through the parser.
"""

import re
from typing import Final, NamedTuple

from gateway.servers.response import Headers, Response

_MOST: Final = 16  # heads of one server that are known: of its kinds of answers, and of proxies
_LONGEST: Final = 8 << 10  # bytes of one
_LONGEST_HELD: Final = 64 << 10  # bytes of an answer that wait for its last chunk
_END: Final = b"\r\n\r\n"
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"
# The two fields that differ between answers. Only in the form that nearly every server writes, in
# which one value is as good to the parser as another: no 0, no leading zeros, no further blanks.
_VARYING: Final = re.compile(
    rb"\r\n(?:(date: )[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d gmt"
    rb"|(content-length: )[1-9]\d{0,14})(?=\r\n)",
    re.IGNORECASE,
)
# Lines whose ends nobody could see elsewhere.
_PLAIN: Final = re.compile(
    rb"HTTP/1\.1 200 [ -~]*\r\n(?:[!#$%&'*+.^_`|~0-9a-z-]+:[\t -~]*\r\n)+\r\n", re.IGNORECASE
)
_LENGTH: Final = re.compile(rb"\r\ncontent-length: ", re.IGNORECASE)
_CHUNK: Final = re.compile(rb"([1-9a-f][0-9a-f]{0,7})\r\n", re.IGNORECASE)


class Known(NamedTuple):
    """What the parser made of a head."""

    headers: Headers  # without the length and the date, of which nobody asks any more
    length: bytes  # the field with the length, as a template; empty for a body in chunks


class Likeness:
    """The heads of one server's JSON answers that leave their connection open."""

    def __init__(self) -> None:
        # By the pieces of a head between the two values, and whose values those are.
        self._known: dict[tuple[bytes | None, ...], Known] = {}

    def look(self, data: bytes) -> tuple[Headers, bytes] | None:
        """Return headers and body of an answer whose head is known and that is here as a whole.

        With an empty body when nothing but the head is here, or all but the end of a body in a
        chunk: more is to come, and nobody can do anything with it before.
        """
        if not self._known:  # as long as a server answers with streams alone
            return None
        end = data.find(_END) + 4
        head = data[:end]
        known = self._known.get(tuple(_VARYING.split(head)))
        if known is None:
            return None
        headers, length = known
        if length:
            size = len(data) - end
            return (headers, data[end:]) if not size or length % size in head else None
        chunk = _CHUNK.match(data, end)  # what comes in one piece was written in one chunk
        if chunk is None:
            return (headers, b"") if len(data) == end else None
        begin = chunk.end()
        stop = begin + int(chunk[1], 16)
        rest = data[stop:]
        if rest == _LAST_CHUNK:
            return headers, data[begin:stop]
        is_ending = stop <= len(data) <= _LONGEST_HELD and _LAST_CHUNK.startswith(rest)
        return (headers, b"") if is_ending else None

    def learn(self, begun: bytes, response: Response) -> None:
        """Keep the head of a response that the parser has read, if others may be like it.

        Only of one whose connection is to be used again; `begun` is what came of it at first.
        """
        body = response.plain
        if not body:
            return
        head, headers = begun[: begun.find(_END) + 4], response.headers
        key = tuple(_VARYING.split(head))
        if key in self._known or len(head) > _LONGEST or _PLAIN.fullmatch(head) is None:
            return
        if headers.count != head.count(b"\r\n") - 2:  # there were trailers
            return
        coding, length = headers.getall("transfer-encoding", []), b""
        if not coding:
            found = _LENGTH.search(head)
            length = found[0] + b"%d\r\n" if found is not None else b""
            if not length or length % len(body) not in head:  # it is written in another form
                return
        elif coding != ["chunked"]:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        kept = headers.without("content-length", "date")
        self._known[key] = Known(kept, length)
