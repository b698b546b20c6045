"""What a request to `/v1` holds, read strictly: JSON as everywhere, and what is declared of it."""

import re
from typing import Final, TypeVar

from pydantic import ValidationError
from starlette.requests import Request

from gateway import jsontext
from gateway.admin.problems import Code, Refused
from gateway.client import wire
from gateway.errors import JsonError
from gateway.jsontext import escape
from gateway.operations import keys
from gateway.types.json import Json
from gateway.yamltext.models import suggest

_T = TypeVar("_T", bound=wire.Request)
_MAX_BYTES: Final = 256 << 10
_MOST_FAULTS: Final = 20
_ETAG: Final = re.compile(r'"(\d{1,18})"', re.ASCII)


async def body(request: Request, model: type[_T]) -> _T:
    """Return the body as a model says; an empty one is an empty object. Raises Refused."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > _MAX_BYTES:
            raise Refused(code=Code.TOO_LARGE, detail=f"send at most {_MAX_BYTES} bytes")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if data and kind != "application/json":
        raise Refused(code=Code.NOT_JSON, detail="send `Content-Type: application/json`")
    try:
        value = jsontext.parse(bytes(data), max_bytes=_MAX_BYTES) if data else {}
    except JsonError as error:
        fault = wire.Fault(pointer=error.pointer, detail=error.message)
        raise Refused(
            code=Code.MALFORMED, detail="the body is no JSON that is taken here", errors=[fault]
        ) from error
    return _checked(value, model)


def query(request: Request, model: type[_T]) -> _T:
    """Return the parameters as a model says; each may be there once. Raises Refused."""
    pairs = request.query_params.multi_items()
    found: dict[str, Json] = dict(pairs)
    if len(found) < len(pairs):
        raise Refused(code=Code.MALFORMED, detail="a parameter is there twice")
    return _checked(found, model)


def version(request: Request) -> int | None:
    """Return the version that `If-Match` asks for (RFC 9110, 13.1.1); None for any."""
    given = request.headers.get("if-match")
    if given is None or given.strip() == "*":
        return None
    found = _ETAG.fullmatch(given.strip())
    if found is None:
        raise Refused(
            code=Code.MALFORMED, detail='`If-Match` takes the `ETag` of a run, such as `"3"`'
        )
    return int(found[1])


def key(request: Request) -> str:
    """Return the `Idempotency-Key` of a request; empty without one. Raises Refused."""
    given = request.headers.getlist("idempotency-key")
    try:  # two are one list (RFC 9110, 5.3), and a list is no key
        return keys.of_header(", ".join(given)) if given else ""
    except keys.KeyRefused as error:
        raise Refused(code=Code.MALFORMED, detail=str(error)) from None


def _checked(value: Json, model: type[_T]) -> _T:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = [
            wire.Fault(
                pointer="".join(f"/{escape(str(step))}" for step in each["loc"]),
                detail=_told(each["type"], each["loc"], model) or each["msg"],
            )
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise Refused(
            code=Code.INVALID,
            detail="correct what is named and send it again",
            errors=faults[:_MOST_FAULTS],
        ) from error


def _told(fault: str, place: tuple[int | str, ...], model: type[wire.Request]) -> str:
    """Say in words of ours what is wrong with a member as such; empty for anything else."""
    match fault:
        case "missing":
            return "has to be there"
        case "extra_forbidden":
            known = [*model.model_fields] if len(place) == 1 else []
            return f"is not known here{suggest(str(place[-1]), known)}"
        case _:
            return ""
