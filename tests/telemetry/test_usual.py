"""What is written at once is, byte for byte, what the spans encoded one by one are."""

from dataclasses import fields, replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.telemetry import usual
from gateway.telemetry.facts import CallFacts, approval_facts, facts_of
from gateway.telemetry.spans import SpanBuilder
from gateway.telemetry.usual import CallWriter
from gateway.telemetry.wire import SpanEncoder
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect, ShadowDecision
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from gateway.types.tools import Kind
from tests.helpers.approvals import an_approval
from tests.telemetry.builders import a_call, a_context, a_denied_record, a_record, a_tool, an_actor
from tests.telemetry.generated import records

RESOURCE, LIMIT = {"service.name": "gw"}, 40


class Both:
    """A writer, and what it would take the long way."""

    def __init__(self) -> None:
        self.builder = SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}")
        self.encoder = SpanEncoder(RESOURCE, LIMIT)
        self.writer = CallWriter(self.builder, self.encoder, LIMIT)

    def holds(self, facts: CallFacts) -> list[bytes]:
        other = SpanEncoder(RESOURCE, LIMIT)
        found = self.writer.written(facts)
        assert found == [other.span(span) for span in self.builder.build(facts)]
        return found


USED = Both()  # by all examples: what is kept of one must not get into another


def plain(record: CallRecord) -> CallRecord:
    """Return the record of a call that has nothing to say but the usual."""
    parent = replace(record.parent, state="") if record.parent is not None else None
    return replace(record, parent=parent, link=None, asked_by="", approval_id="", redactions=0)


@given(records(), st.booleans())
def test_spans_of_any_call_are_the_same_either_way(record: CallRecord, is_plain: bool) -> None:
    USED.holds(facts_of(plain(record) if is_plain else record))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"parent": a_context()},
        {"parent": a_context(state="a=1")},
        {"parent": None},
        {"link": a_context()},
        {"asked_by": f"00-{'1' * 32}-{'2' * 16}-01"},
        {"approval_id": "apr_1"},
        {"redactions": 2},
        {"run_id": "run_1"},
        {"run_id": "r" * 100},
        {"result_size": 0},
        {"result_size": 2**40},
        {"judged_ns": 0},
        {"sent_ns": 0},
        {"answered_ns": 0},
        {"status": Status.TIMEOUT},
        {"tool_error": True},
        {"error_code": -32602, "status": Status.TOOL_FAILED},
        {"tool": None},
        {"tool": a_tool(kind=Kind.RESOURCE), "resource": "crm://1"},
        {"call": a_call(method=Method.READ_RESOURCE), "tool": None, "resource": "crm://1"},
        {"arguments_digest": ""},
        {"call": a_call(call_id="é" * 50, request_id="\ud800", peer="[::1]:80")},
        {"call": a_call(request_id="", peer="")},
        {"call": a_call(peer="a name without a port")},
    ],
)
def test_spans_of_a_call_that_says_so_are_the_same_either_way(changes: dict[str, Any]) -> None:
    both = Both()
    for each in ({}, changes, {}, changes):
        both.holds(facts_of(a_record(**each)))
    both.holds(facts_of(a_denied_record()))


def test_arguments_are_written_where_they_are_wanted() -> None:
    assert b"the arguments" in b"".join(Both().holds(facts_of(a_record(), "the arguments")))


ALIKE_BY: dict[str, Any] = {
    "method": Method.GET_TASK,
    "tool": a_tool(name="other"),
    "cause": "lookup",
    "transport": "stdio",
    "protocol": "2025-06-18",
    "actor": an_actor(user="ann@example.com"),
    "phase": "planning",
    "effect": "write",
    "risk": "high",
    "verdict": "deny",
    "code": "other",
    "rule": "another",
    "revision": "sha256:78",
    "shadow": (ShadowDecision(effect=DecisionEffect.DENY, rule="r", code="c"),),
    "observed": "deny",
    "status": Status.TIMEOUT,
    "reason": "other",
    "executed": "unknown",
    "tool_error": True,
    "error_code": 7,
    "answered_ns": 0,
    "downstream_transport": "stdio",
    "downstream_address": "other:1",
    "downstream_version": "2025-06-18",
}


@pytest.mark.parametrize("name", ALIKE_BY)
def test_calls_that_differ_in_one_thing_have_spans_of_their_own(name: str) -> None:
    both, first = Both(), facts_of(a_record(status=Status.TOOL_FAILED))
    both.holds(first)
    other = replace(first, **{name: ALIKE_BY[name]})
    assert both.holds(other) != both.holds(first)


def test_every_field_of_a_call_is_its_own_or_tells_calls_apart() -> None:
    own = {
        *("trace_id", "server_span", "authorize_span", "client_span", "parent", "link"),
        *("asked_by", "sampled", "received_ns", "judged_ns", "sent_ns", "closed_ns", "call_id"),
        *("request_id", "peer", "resource", "run_id", "approval_id", "digest", "result_size"),
        *("redactions", "content"),
    }
    assert own | ALIKE_BY.keys() == {each.name for each in fields(CallFacts)}


def test_usual_calls_have_no_spans_made_and_odd_ones_do() -> None:
    both, record = Both(), a_record()
    both.writer.written(facts_of(record))
    with (
        patch.object(both.builder, "build", side_effect=both.builder.build) as build,
        patch.object(both.builder, "mould", side_effect=both.builder.mould) as mould,
    ):
        both.writer.written(facts_of(replace(record, call=a_call(call_id="call_2"))))
        assert not build.called
        assert not mould.called
        both.writer.written(facts_of(a_record(link=a_context())))
        assert build.called


@pytest.mark.parametrize(
    "changes", [{"link": a_context()}, {"approval_id": "apr_1"}, {"redactions": 1}]
)
def test_only_usual_calls_are_written_at_once(changes: dict[str, Any]) -> None:
    both, facts = Both(), facts_of(a_record())
    assert both.writer.at_once(facts) == both.holds(facts)
    assert both.writer.at_once(facts_of(a_record(**changes))) is None


def test_requests_for_approval_are_written_too() -> None:
    both = Both()
    facts = approval_facts(an_approval(), ended_at=2, asked_by=None, ids=("1" * 32, "2" * 16))
    assert both.writer.written(facts) == [
        both.encoder.span(span) for span in both.builder.build(facts)
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("trace_id", "1" * 30),
        ("trace_id", "1" * 30 + "  "),
        ("trace_id", "g" * 32),
        ("server_span", "2" * 15 + " "),
        ("authorize_span", ""),
        ("client_span", "no id" * 4),
    ],
)
def test_an_id_that_is_none_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"id of the wrong length|non-hexadecimal"):
        Both().writer.written(facts_of(a_record(**{name: text})))


def test_what_is_kept_is_bounded() -> None:
    both = Both()
    with patch.object(usual, "_MOST_KEPT", 3):
        for number in range(10):
            call = a_call(call_id="x" * number, peer=f"host:{number}")
            both.holds(facts_of(a_record(call=call, tool=a_tool(name=f"t{number}"))))
    writer: Any = both.writer
    for kept in (writer._usual, writer._heads, writer._peers):
        assert 0 < len(kept) <= 3


@given(records(), records())
def test_calls_that_are_known_to_be_alike_are_written_the_same(
    record: CallRecord, other: CallRecord
) -> None:
    facts = facts_of(plain(record))
    write = USED.writer.writer_for(facts)
    spans = USED.writer.at_once(facts)
    assert (write is None) is (spans is None)
    if write is not None:
        assert write(facts) == spans
        # Of a call that is like it, but for what is its own.
        own = facts_of(plain(other))
        like = replace(facts, **{name: getattr(own, name) for name in OWN})
        assert write(like) == USED.holds(like)


OWN = (
    *("trace_id", "server_span", "authorize_span", "client_span", "parent", "received_ns"),
    *("judged_ns", "sent_ns", "closed_ns", "call_id", "request_id", "peer", "run_id", "digest"),
    "result_size",
)


@pytest.mark.parametrize(
    "changes",
    [
        {"link": a_context()},
        {"approval_id": "apr_1"},
        {"redactions": 1},
        {"tool": a_tool(kind=Kind.RESOURCE), "resource": "crm://1"},
    ],
)
def test_what_says_more_has_nobody_who_writes_it_at_once(changes: dict[str, Any]) -> None:
    both = Both()
    assert both.writer.writer_for(facts_of(a_record())) is not None
    assert both.writer.writer_for(facts_of(a_record(**changes))) is None
