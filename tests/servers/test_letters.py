"""Tool calls over HTTP: the bytes are those of a request that is written like any other."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.servers import letters
from gateway.servers.connection import Spoken, request, stamp
from gateway.servers.entry import Entry
from gateway.servers.heads import Heads
from gateway.servers.letters import Letters
from gateway.types.calls import Era, Method
from gateway.types.json import JsonObject
from gateway.types.relay import Outbound

MODERN = Spoken(era=Era.MODERN, version="2026-07-28", capabilities={}, server="s")
LEGACY = Spoken(era=Era.LEGACY, version="2025-11-25", capabilities={}, server="s")
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ENTRY = Entry(name="a", url="http://x/mcp", headers={"X-Own": "1"})
TRACED = Entry(name="a", url="http://x/mcp", headers={"traceparent": "00-ab-cd-01"})

json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
arguments_of: Any = st.dictionaries(st.text(max_size=8), json_values, max_size=4)


def an_outbound(arguments: JsonObject, name: str = "find", trace: str = TRACE) -> Outbound:
    return Outbound(
        method=Method.CALL_TOOL,
        params={"name": name, "arguments": arguments},
        deadline_s=1,
        is_read=True,
        traceparent=trace,
        written=jsontext.dump(arguments),
    )


def like_any(
    heads: Heads, outbound: Outbound, number: int, spoken: Spoken, session: str
) -> tuple[bytes, bytes]:
    trace = outbound.traceparent
    params = stamp(outbound.params, spoken, None, traceparent=trace)
    extra = {"traceparent": trace} if trace else {}
    head = heads.written(outbound.method, params, spoken, session, extra)
    return head, jsontext.dump(request(number, outbound.method, params))


@given(
    calls=st.lists(
        st.tuples(
            arguments_of,
            st.sampled_from(["find", "nöte", '"%d" \\']),
            st.sampled_from(["", TRACE, TRACE.replace("a", "b")]),
            st.sampled_from([MODERN, LEGACY]),
            st.sampled_from(["", "s-1", "s-2"]),
        ),
        min_size=1,
        max_size=6,
    ),
    entry=st.sampled_from([ENTRY, TRACED]),
)
def test_a_letter_is_written_like_any_request(calls: list[Any], entry: Entry) -> None:
    heads = Heads(entry)
    written = Letters(heads)
    for number, (arguments, name, trace, spoken, session) in enumerate(calls, 7):
        outbound = an_outbound(arguments, name, trace)
        found = written.written(outbound, number, spoken, session)
        assert found == like_any(heads, outbound, number, spoken, session)


def test_the_kept_ones_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "_MOST", 3)
    heads = Heads(ENTRY)
    written = Letters(heads)
    for number in range(8):
        outbound = an_outbound({}, f"tool-{number}")
        assert written.written(outbound, 1, MODERN, "") == like_any(heads, outbound, 1, MODERN, "")
        assert len(written._kept) <= 3  # pyright: ignore[reportPrivateUsage] - nothing else shows
