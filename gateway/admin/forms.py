"""Forms as browsers send them, read strictly."""

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from gateway.errors import WeighbridgeError

_KIND: Final = "application/x-www-form-urlencoded"
_MAX_BYTES: Final = 512 << 10  # a proposal of 64 KiB, each byte written as `%XX`, and the rest
_MAX_FIELDS: Final = 1000  # one for each long value: some 350 where 64 KiB hide all they can


class FormRefused(WeighbridgeError):
    """What was sent is no form of ours."""


async def read(request: Request) -> dict[str, str]:
    """Return the fields of a form; raises FormRefused for anything that our pages don't send."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise FormRefused("this is no form of our pages")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MAX_BYTES:
            raise FormRefused(f"the form is larger than {_MAX_BYTES} bytes")
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError:  # not ASCII, not UTF-8, or too many
        raise FormRefused("this is no form of our pages") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise FormRefused("a field is there twice")
    return fields
