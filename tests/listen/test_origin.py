"""Host and Origin, without a server."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from gateway.listen.origin import OriginCheck, guarded


def _refusal(check: OriginCheck, host: bytes, origin: bytes | None = None) -> int | None:
    headers = [(b"host", host)] + ([(b"origin", origin)] if origin is not None else [])
    refused = check.refuse(headers)
    return refused[0] if refused else None


@pytest.mark.parametrize(
    "host", [b"localhost", b"LOCALHOST:8700", b"127.0.0.1:1", b"[::1]", b"[::1]:65535"]
)
def test_loopback_names_are_always_served(host: bytes) -> None:
    check = OriginCheck()
    assert _refusal(check, host) is None
    assert _refusal(check, host) is None  # and again, from memory


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"localhost.evil.example", 421),
        (b"127.0.0.1.evil", 421),
        (b"127.0.0.2", 421),
        (b"[::2]", 421),
        (b"localhost:", 400),
        (b"localhost:1:2", 400),
        (b"user@localhost", 400),
        (b"localhost/x", 400),
        (b"\xe9", 400),
        (b".", 400),
    ],
)
def test_other_names_are_not(host: bytes, status: int) -> None:
    assert _refusal(OriginCheck(), host) == status


def test_configured_names_match_with_their_port_or_any() -> None:
    check = OriginCheck(hosts=["gw.example:443", "Any.example:*"], origins=["https://ui.example:*"])
    assert _refusal(check, b"gw.example:443") is None
    assert _refusal(check, b"gw.example") == 421
    assert _refusal(check, b"any.example:9") is None
    assert _refusal(check, b"any.example") is None
    assert _refusal(check, b"localhost", b"https://ui.example:3000") is None
    assert _refusal(check, b"localhost", b"https://ui.example:x") == 403
    assert _refusal(check, b"localhost", b"http://ui.example") == 403


def test_headers_that_come_twice_or_never_are_refused() -> None:
    check = OriginCheck()
    host, origin = (b"host", b"localhost"), (b"origin", b"http://localhost")
    assert check.refuse([]) == (400, "exactly one Host header is required")
    assert check.refuse([host, host]) is not None
    assert check.refuse([host, origin, origin]) == (403, "more than one Origin header")


def test_an_application_behind_the_check_sees_no_request_under_another_name() -> None:
    check = OriginCheck(hosts=["127.0.0.5:*"], host_mend="use another name")
    client = TestClient(guarded(PlainTextResponse("inside"), check))
    assert client.get("/", headers={"host": "127.0.0.5:1"}).text == "inside"
    refused = client.get("/", headers={"host": "rebound.example"})
    assert (refused.status_code, refused.json()["error"]) == (
        421,
        "this Host is not served here; use another name",
    )
    page = {"host": "localhost", "origin": "https://evil.example"}
    assert client.get("/", headers=page).status_code == 403
