"""Headers that go to a server."""

from typing import Any

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


def test_arguments_are_mirrored_in_a_form_that_cannot_break_out() -> None:
    schema: Any = {"properties": {"r": {"type": "string", "x-mcp-header": "Region"}}}
    assert headers.fault_of(schema) is None
    tool_map = headers.map_of(schema)
    assert headers.mirrored(tool_map, {"r": "eu"}) == {"Mcp-Param-Region": "eu"}
    (value,) = headers.mirrored(tool_map, {"r": "a\r\nX-Evil: 1"}).values()
    assert value.startswith("=?base64?")
    assert headers.mirrored(tool_map, {}) == {}


def test_only_calls_carry_a_name() -> None:
    assert "mcp-name" not in headers.of_request("tools/list", {"name": "x"}, "2026-07-28")
    assert headers.of_request("tools/call", {"name": "x"}, "2026-07-28")["mcp-name"] == "x"
