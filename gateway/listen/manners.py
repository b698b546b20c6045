"""What those headers say that a client sends alike with each request, judged once for each client.

Host and Origin, the revision, the method, and what is sent and taken: whoever calls again calls in
the same manner, and all of their checks are one look.
"""

from typing import Final

from gateway.listen.headers import HeaderView
from gateway.listen.ladder import serves
from gateway.listen.methods import NAMED_BY
from gateway.listen.origin import OriginCheck
from gateway.protocol.words import HANDSHAKE_VERSIONS
from gateway.types.values import value

_VERSION: Final = b"mcp-protocol-version"
_METHOD: Final = b"mcp-method"
_JUDGED: Final = (b"host", b"origin", _VERSION, b"content-type", b"accept", _METHOD)
_HANDSHAKE: Final = frozenset(version.encode() for version in HANDSHAKE_VERSIONS)
_REMEMBERED: Final = 256
_LONGEST: Final = 1024  # bytes of such headers: strangers send them, too


@value
class Manner:
    """How a request comes in, before anybody knows who sends it and what it says."""

    refusal: tuple[int, str] | None  # by Host and Origin: the status, and why
    is_handshake: bool  # of that era, by the version header alone; the body has to agree later
    is_served: bool  # the version header is the stateless revision that is served
    is_json: bool
    takes: tuple[bool, bool]  # JSON, and event streams
    method: str  # the method header, empty where there is none
    named_by: str | None  # the member of `params` that the name header mirrors for that method


def accepts(header: bytes) -> tuple[bool, bool]:
    """Return whether an Accept header takes JSON, and whether it takes an event stream."""
    ranges = {part.partition(b";")[0].strip().lower() for part in header.split(b",")}
    any_type = b"*/*" in ranges
    return (
        any_type or not ranges.isdisjoint({b"application/json", b"application/*"}),
        any_type or not ranges.isdisjoint({b"text/event-stream", b"text/*"}),
    )


def is_json(content_type: bytes) -> bool:
    """Return whether a Content-Type is exactly JSON; parameters are ignored."""
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


class Manners:
    """Judges how requests come in; a manner that is not refused is known from then on."""

    def __init__(self, check: OriginCheck) -> None:
        self._check = check
        self._known: dict[tuple[bytes | None, ...], Manner] = {}

    def of(self, headers: HeaderView) -> Manner:
        """Return how a request comes in."""
        if not headers.is_plain:  # what came twice is in no key, and has rules of its own
            return self._judged(headers)
        key = tuple(map(headers.values.get, _JUDGED))
        found = self._known.get(key)
        if found is None:
            found = self._judged(headers)
            if found.refusal is None and sum(len(each or b"") for each in key) <= _LONGEST:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[key] = found
        return found

    def _judged(self, headers: HeaderView) -> Manner:
        version = next((value for key, value in headers.raw if key == _VERSION), None)
        method = headers.text(_METHOD)
        return Manner(
            refusal=self._check.refuse(headers.raw),
            is_handshake=version is None or version in _HANDSHAKE,
            is_served=serves(headers.get(_VERSION) or b""),
            is_json=is_json(headers.get(b"content-type") or b""),
            takes=accepts(headers.get(b"accept") or b""),
            method=method,
            named_by=NAMED_BY.get(method),
        )
