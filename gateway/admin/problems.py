"""Why a request to `/v1` was not carried out: problem details (RFC 9457)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from starlette.responses import Response

from gateway import jsontext
from gateway.client.wire import Fault, Problem
from gateway.errors import WeighbridgeError

MEDIA_TYPE: Final = "application/problem+json"


class Code(StrEnum):
    """What went wrong, for programs; each has one HTTP status."""

    MALFORMED = "malformed"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    PHASE_BLOCKED = "phase_blocked"
    CHANGED = "changed"
    TOO_LARGE = "too_large"
    NOT_JSON = "unsupported_media_type"
    INVALID = "invalid"
    KEY_USED = "key_used"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    status: int
    title: str


KINDS: Final[Mapping[Code, _Kind]] = {
    Code.MALFORMED: _Kind(status=400, title="The request can't be read"),
    Code.UNAUTHENTICATED: _Kind(status=401, title="No key that is known here"),
    Code.FORBIDDEN: _Kind(status=403, title="The key may not do this"),
    Code.NOT_FOUND: _Kind(status=404, title="There is no such thing"),
    Code.NOT_ALLOWED: _Kind(status=405, title="This can't be done here"),
    Code.CONFLICT: _Kind(status=409, title="The run does not allow it"),
    Code.PHASE_BLOCKED: _Kind(status=409, title="Something is missing for that phase"),
    Code.CHANGED: _Kind(status=412, title="The run has changed"),
    Code.TOO_LARGE: _Kind(status=413, title="The body is too large"),
    Code.NOT_JSON: _Kind(status=415, title="The body is no JSON"),
    Code.INVALID: _Kind(status=422, title="The request does not hold what it should"),
    Code.KEY_USED: _Kind(status=422, title="The key was used for something else"),
    Code.INTERNAL: _Kind(status=500, title="The gateway failed"),
    Code.UNAVAILABLE: _Kind(status=503, title="The store is away"),
}


@dataclass(slots=True, kw_only=True)
class Refused(WeighbridgeError):
    """A request that is answered with a problem."""

    code: Code
    detail: str
    missing: Sequence[str] = ()
    errors: Sequence[Fault] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return self.detail

    def response(self) -> Response:
        """Return the answer."""
        kind = KINDS[self.code]
        problem = Problem(
            type=f"urn:weighbridge:problem:{self.code}",
            title=kind.title,
            status=kind.status,
            detail=self.detail,
            code=str(self.code),
            missing=list(self.missing),
            errors=list(self.errors),
        )
        return Response(
            jsontext.dump(problem.model_dump(mode="json")),
            status_code=kind.status,
            media_type=MEDIA_TYPE,
            headers=dict(self.headers),
        )
