"""Heads of requests: the same whether they were kept or are written anew."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.servers.connection import Spoken
from gateway.servers.entry import Entry
from gateway.servers.heads import Heads
from gateway.servers.wire import head_of
from gateway.types.calls import Era
from gateway.types.json import JsonObject

MODERN = Spoken(era=Era.MODERN, version="2026-07-28", capabilities={}, server="s")
LEGACY = Spoken(era=Era.LEGACY, version="2025-11-25", capabilities={}, server="s")
ENTRY = Entry(name="a", url="http://x/mcp", headers={"X-Own": "1", "Mcp-Name": "forged"})


def call(name: str) -> JsonObject:
    return {"name": name, "arguments": {}}


@pytest.mark.parametrize("spoken", [MODERN, LEGACY])
def test_a_call_has_the_head_that_its_fields_make(spoken: Spoken) -> None:
    heads = Heads(ENTRY)
    for name in ("find", "näme", "find"):
        fields = heads.fields("tools/call", call(name), spoken, "s-1")
        assert heads.written("tools/call", call(name), spoken, "s-1", {}) == head_of(fields)
    lines = heads.written("tools/call", call("find"), spoken, "s-1", {}).decode().splitlines()
    assert "X-Own: 1" in lines
    assert "mcp-session-id: s-1" in lines
    assert f"mcp-protocol-version: {spoken.version}" in lines
    assert ("mcp-name: find" in lines) is (spoken is MODERN)
    assert not [line for line in lines if "forged" in line]


def test_what_is_kept_is_of_the_tool_the_session_and_the_revision() -> None:
    heads = Heads(ENTRY)
    found = {
        heads.written("tools/call", call(name), spoken, session, {})
        for name in ("find", "note")
        for spoken in (MODERN, LEGACY)
        for session in ("", "s-1")
    }
    assert len(found) == 6  # the handshake era does not name the tool


def test_more_fields_are_of_one_call_and_take_the_place_of_others() -> None:
    heads = Heads(ENTRY)
    plain = heads.written("tools/call", call("find"), MODERN, "", {})
    traced = heads.written("tools/call", call("find"), MODERN, "", {"traceparent": "00-a"})
    assert traced == plain + b"traceparent: 00-a\r\n"
    other = heads.written("tools/call", call("find"), MODERN, "", {"X-Own": "2"})
    assert b"X-Own: 2\r\n" in other
    assert b"X-Own: 1" not in other
    assert heads.written("tools/call", call("find"), MODERN, "", {}) == plain


@given(st.text("0aF-\r\n: é\u2028", max_size=5), st.booleans())
def test_a_trace_is_written_like_every_other_field(trace: str, is_own: bool) -> None:
    entry = replace(ENTRY, headers={"traceparent": "own"}) if is_own else ENTRY
    heads, extra = Heads(entry), {"traceparent": trace}
    wanted: Any
    try:
        wanted = head_of({**heads.fields("tools/call", call("find"), MODERN, ""), **extra})
    except ValueError as error:
        wanted = type(error)
    try:
        found: Any = heads.written("tools/call", call("find"), MODERN, "", extra)
    except ValueError as error:
        found = type(error)
    assert found == wanted


def test_one_that_can_not_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="line break"):
        Heads(ENTRY).written("tools/call", call("find"), MODERN, "", {"x": "a\r\nY: 1"})


def test_not_more_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.servers.heads._MOST", 2)
    heads = Heads(ENTRY)
    for number in range(9):
        heads.written("tools/call", call(f"tool-{number}"), MODERN, "", {})
    assert len(heads._kept) <= 2  # pyright: ignore[reportPrivateUsage] - nothing else shows it


def test_before_the_handshake_only_its_question_names_a_revision() -> None:
    heads = Heads(ENTRY)
    assert b"2026-07-28" in heads.written("server/discover", {}, None, "", {})
    assert b"mcp-protocol-version" not in heads.written("initialize", {}, None, "", {})
