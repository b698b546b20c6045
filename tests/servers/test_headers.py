"""Headers that go to a server."""

from gateway.servers import headers
from gateway.servers.entry import Entry


def test_an_entry_cannot_say_what_a_request_is() -> None:
    own = {"Mcp-Name": "x", "MCP-Session-Id": "x", "Accept-Encoding": "gzip", "X-Own": "1"}
    assert headers.of_entry(Entry(name="a", url="http://x", headers=own)) == {
        "X-Own": "1",
        "accept": "application/json, text/event-stream",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }


def test_only_calls_carry_a_name() -> None:
    assert "mcp-name" not in headers.of_request("tools/list", {"name": "x"}, "2026-07-28")
    assert headers.of_request("tools/call", {"name": "x"}, "2026-07-28")["mcp-name"] == "x"
