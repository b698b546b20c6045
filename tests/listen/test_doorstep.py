"""What is noticed of requests that are turned away, on every front."""

import pytest

from gateway import jsontext
from gateway.listen.options import HttpOptions
from gateway.types.refused import TurnedAway
from tests.listen.house import House, Place, call_body, serving
from tests.listen.raw import Headers, changed, exchange, post, standard

SECRET = "hunter2-in-a-body"


def legacy(place: Place, **headers: str | None) -> list[tuple[str, str]]:
    return changed(standard(place, None), MCP_Protocol_Version="2025-11-25", **headers)


async def noticed(place: Place, headers: Headers, body: bytes, method: str = "POST") -> TurnedAway:
    """Send one request that is turned away, and return the one note about it."""
    place.house.forget()
    await exchange(place, headers, body, method=method)
    (only,) = place.house.turned
    assert SECRET not in repr(only)
    return only


MALFORMED = {
    "parse_error": b'{"a": "' + SECRET.encode(),
    "invalid_request": jsontext.dump({"jsonrpc": "1.0", "id": 1, "method": SECRET}),
}


@pytest.mark.parametrize("reason", MALFORMED)
async def test_a_malformed_message_is_noticed_without_its_body(place: Place, reason: str) -> None:
    """case: OBS-05"""
    found = await noticed(place, standard(place, None), MALFORMED[reason])
    assert found == TurnedAway(reason=found.reason, transport="http", peer="127.0.0.1")
    assert found.reason == reason


async def test_an_old_message_that_is_malformed_is_noticed_too(place: Place) -> None:
    """case: OBS-05"""
    found = await noticed(place, legacy(place), MALFORMED["parse_error"])
    assert (found.reason, found.peer) == ("parse_error", "127.0.0.1")


async def test_a_method_is_named_when_mcp_knows_it_and_never_otherwise(place: Place) -> None:
    message = call_body("echo")
    wrong = changed(standard(place, message), Mcp_Name="another")
    found = await noticed(place, wrong, jsontext.dump(message))
    assert (found.reason, found.method) == ("header_mismatch", "tools/call")
    message = {**call_body("echo"), "method": SECRET}
    found = await noticed(place, standard(place, message), jsontext.dump(message))
    assert (found.reason, found.method) == ("method_not_found", "")


@pytest.mark.parametrize(
    ("headers", "method", "reason"),
    [
        ({}, "PUT", "http_method"),
        ({"Accept": "text/html"}, "POST", "not_acceptable"),
        ({"Content_Type": "text/plain"}, "POST", "invalid_request"),
        ({"MCP_Protocol_Version": "1999-01-01"}, "POST", "header_mismatch"),
        ({"Host": "evil.example"}, "POST", "host_refused"),
        ({"Origin": "https://evil.example"}, "POST", "origin_refused"),
    ],
)
async def test_headers_that_do_not_do_are_noticed(
    place: Place, headers: dict[str, str], method: str, reason: str
) -> None:
    message = call_body("echo")
    sent = changed(standard(place, message), **headers)
    assert (await noticed(place, sent, jsontext.dump(message), method)).reason == reason


@pytest.mark.parametrize(
    ("credential", "reason"),
    [(None, "no_credential"), (f"Bearer {SECRET}", "invalid_credential")],
)
async def test_a_rejected_credential_is_noticed_without_the_credential(
    place: Place, credential: str | None, reason: str
) -> None:
    """case: OBS-05"""
    message = call_body("echo")
    sent = changed(standard(place, message), Authorization=credential)
    found = await noticed(place, sent, jsontext.dump(message))
    assert (found.reason, found.detail) == (reason, "send a credential")
    assert found.reason.is_about_credential


async def test_a_session_that_is_not_there_is_noticed(place: Place) -> None:
    found = await noticed(
        place,
        legacy(place, Mcp_Session_Id="gone"),
        jsontext.dump({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    )
    assert found.reason == "unknown_session"


async def test_what_is_answered_leaves_no_note(place: Place) -> None:
    assert (await post(place, call_body("echo"))).status == 200
    assert (await post(place, call_body("no_such_tool"))).status == 200
    assert place.house.turned == []


async def test_too_much_at_once_and_too_large_are_noticed() -> None:
    async with serving(House(), HttpOptions(max_requests=0)) as place:
        message = call_body("echo")
        found = await noticed(place, standard(place, message), jsontext.dump(message))
        assert found.reason == "overloaded"
    async with serving(House(), HttpOptions(max_body_bytes=10)) as place:
        found = await noticed(place, standard(place, message), jsontext.dump(message))
        assert found.reason == "too_large"
