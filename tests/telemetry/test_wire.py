"""What is written by hand, held against what the official encoder makes of the same spans."""

import dataclasses
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from gateway.telemetry import wire
from gateway.telemetry.attributes import SPAN_ATTRIBUTES
from gateway.telemetry.facts import CODES, approval_facts, facts_of
from gateway.telemetry.moulds import Shared
from gateway.telemetry.readable import readable
from gateway.telemetry.scrub import ScrubbingExporter
from gateway.telemetry.spans import Span, SpanBuilder, SpanKind
from gateway.telemetry.wire import SpanEncoder
from gateway.types.records import CallRecord
from tests.helpers.approvals import an_approval
from tests.telemetry.builders import (
    START_NS,
    a_call,
    a_context,
    a_denied_record,
    a_record,
    a_tool,
)
from tests.telemetry.generated import contexts, records, span_ids, states, times, trace_ids, words

RESOURCE = {"service.name": "gw", "service.version": "1", "team": "a b"}
LIMIT = 40
NOTHING = Shared(values={})
BUILDER = SpanBuilder(lambda tenant, user: f"h:{tenant}:{user}")


class Official(SpanExporter):
    """The official encoder behind the gate of the SDK's exporters."""

    def __init__(self) -> None:
        self.request = ExportTraceServiceRequest()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.request = encode_spans(spans)
        return SpanExportResult.SUCCESS


def official(spans: Sequence[Span], value_length: int = LIMIT) -> ExportTraceServiceRequest:
    exporter, resource = Official(), Resource(RESOURCE)
    gate = ScrubbingExporter(exporter, value_length=value_length)
    gate.export([readable(span, resource) for span in spans])
    return exporter.request


def ours(spans: Sequence[Span], encoder: SpanEncoder | None = None) -> ExportTraceServiceRequest:
    encoder = encoder or SpanEncoder(RESOURCE, LIMIT)
    body = encoder.request([encoder.span(span) for span in spans])
    return ExportTraceServiceRequest.FromString(body)


def a_span(**changes: Any) -> Span:
    fields: dict[str, Any] = {
        "name": "tools/call find",
        "kind": SpanKind.SERVER,
        "trace_id": "1" * 32,
        "span_id": "2" * 16,
        "start_ns": START_NS,
        "end_ns": START_NS + 1,
        "shared": NOTHING,
        "values": {},
    }
    return Span(**(fields | changes))


numbers = {key for key in SPAN_ATTRIBUTES if key.endswith((".port", ".size", ".quorum"))}


def values() -> st.SearchStrategy[Any]:
    """Attributes by key, those of no table too; what one key says is always of one type."""

    def of(key: str) -> st.SearchStrategy[Any]:
        if key in numbers:
            return st.integers(min_value=-(2**64), max_value=2**64)
        if key.endswith("wait_s"):
            return st.floats(allow_nan=False)
        if key.endswith("roles"):
            return st.lists(words, max_size=3).map(tuple)
        return words

    every = {key: of(key) for key in [*SPAN_ATTRIBUTES, "http.header", "exception.message"]}
    return st.fixed_dictionaries({}, optional=every)


spans = st.builds(
    Span,
    name=words,
    kind=st.sampled_from(SpanKind),
    trace_id=trace_ids,
    span_id=span_ids,
    parent=span_ids,
    is_parent_remote=st.booleans(),
    state=states,
    start_ns=times,
    end_ns=times,
    shared=st.just(NOTHING),
    values=values(),
    failure=st.one_of(st.sampled_from(["", "-32602", *sorted(CODES)]), words),
    links=st.lists(contexts, max_size=3).map(tuple),
)
shares = values().map(lambda found: Shared(values=found))


def parted(span: Span, shared: Shared) -> Span:
    """The same span with some of its values shared."""
    own = {key: value for key, value in span.values.items() if key not in shared.values}
    return dataclasses.replace(span, shared=shared, values=own)


roots = spans.map(lambda span: dataclasses.replace(span, parent="", is_parent_remote=False))


@given(found=st.lists(records(), min_size=1, max_size=4), content=words)
def test_calls_leave_as_the_official_encoder_writes_them(
    found: list[CallRecord], content: str
) -> None:
    built = [span for each in found for span in BUILDER.build(facts_of(each, content))]
    encoder = SpanEncoder(RESOURCE, LIMIT)
    assert ours(built, encoder) == official(built)
    assert ours(built, encoder) == official(built)  # now out of what it kept


@given(found=st.lists(st.builds(parted, spans | roots, shares), min_size=1, max_size=4))
def test_any_span_leaves_as_the_official_encoder_writes_what_the_gate_lets_through(
    found: list[Span],
) -> None:
    """case: OBS-01"""
    encoder = SpanEncoder(RESOURCE, LIMIT)
    assert ours(found, encoder) == official(found)
    assert ours(found, encoder) == official(found)


def test_a_request_for_approval_leaves_as_the_official_encoder_writes_it() -> None:
    approval = an_approval(created_at=5_000_000)
    facts = approval_facts(
        approval, ended_at=95_500_000, asked_by=a_context(), ids=("a" * 32, "b" * 16)
    )
    built = BUILDER.build(facts)
    assert ours(built) == official(built)


def test_the_resource_and_the_scope_are_said_once_for_many_spans() -> None:
    built = [span for _ in range(700) for span in BUILDER.build(facts_of(a_record()))]
    request = ours(built)
    assert request == official(built)
    (about,) = request.resource_spans
    assert {pair.key: pair.value.string_value for pair in about.resource.attributes} == RESOURCE
    (scope,) = about.scope_spans
    assert (scope.scope.name, len(scope.spans)) == ("weighbridge", 2100)


def test_only_attributes_of_the_table_leave() -> None:
    """case: OBS-01"""
    span = a_span(values={"gateway.status": "ok", "http.header": "Bearer MARK1"})
    for body in (SpanEncoder({}, 100).span(span), SpanEncoder({}, 100).request([])):
        assert b"MARK1" not in body
        assert b"http.header" not in body
    (sent,) = ours([span]).resource_spans[0].scope_spans[0].spans
    assert [pair.key for pair in sent.attributes] == ["gateway.status"]


def test_free_text_leaves_the_status() -> None:
    """case: OBS-01"""
    (sent,) = ours([a_span(failure="IBAN MARK")]).resource_spans[0].scope_spans[0].spans
    assert (sent.status.code, sent.status.message) == (2, "")


def test_half_a_surrogate_pair_loses_no_span() -> None:
    span = a_span(name="n\ud800", values={"jsonrpc.request.id": "7\udfff"})
    (sent,) = ours([span]).resource_spans[0].scope_spans[0].spans
    assert (sent.name, sent.attributes[0].value.string_value) == ("n?", "7?")


@pytest.mark.parametrize(
    "changes", [{"trace_id": "not hex"}, {"trace_id": "ab"}, {"span_id": "1" * 32}]
)
def test_ids_that_are_none_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"hex|wrong length"):
        SpanEncoder(RESOURCE, LIMIT).span(a_span(**changes))


def test_what_is_kept_is_bounded_and_stays_right() -> None:
    encoder = SpanEncoder(RESOURCE, LIMIT)
    kept: dict[Any, bytes] = encoder._kept  # pyright: ignore[reportPrivateUsage]
    names: dict[str, bytes] = encoder._names  # pyright: ignore[reportPrivateUsage]
    with patch.object(wire, "_MOST_KEPT", 50):
        for number in range(40):
            record = a_denied_record(
                call=a_call(call_id=f"call_{number}"), tool=a_tool(name=f"t{number}")
            )
            built = BUILDER.build(facts_of(record))
            built.append(dataclasses.replace(built[0], name=f"n{number}" * 200))
            assert ours(built, encoder) == official(built)
            assert max(len(kept), len(names)) <= 50
            assert max(map(len, names)) < 257
