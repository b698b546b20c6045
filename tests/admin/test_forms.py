import pytest
from starlette.requests import Request
from starlette.types import Message

from gateway.admin import forms
from gateway.admin.forms import FormRefused

FORM = "application/x-www-form-urlencoded"


def a_request(body: bytes, kind: str = FORM, pieces: int = 1) -> Request:
    size = max(1, len(body) // pieces)
    parts = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    messages: list[Message] = [
        {"type": "http.request", "body": part, "more_body": at + 1 < len(parts)}
        for at, part in enumerate(parts)
    ]

    async def receive() -> Message:
        return messages.pop(0)

    headers = [(b"content-type", kind.encode())]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)


async def test_fields_are_read_as_a_browser_sends_them() -> None:
    body = b"choice=deny&reason=zu+viel%2C+f%C3%BCr+mich&empty="
    fields = await forms.read(a_request(body, f"{FORM}; charset=utf-8", pieces=7))
    assert fields == {"choice": "deny", "reason": "zu viel, für mich", "empty": ""}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"choice": "approve"}', "application/json"),
        (b"choice=approve", "text/plain"),
        (b"choice=approve", "multipart/form-data"),
        (b"choice=approve", ""),
        (b"choice=approve&choice=deny", FORM),
        (b"choice=%ff", FORM),
        (b"choice=\xc3\xbc", FORM),
        (b"&".join(b"f%d=1" % number for number in range(1001)), FORM),
        (b"reason=" + b"x" * (600 << 10), FORM),
    ],
)
async def test_what_our_pages_never_send_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(FormRefused):
        await forms.read(a_request(body, kind, pieces=4))
