"""Telemetry: the trace context that comes in, and what goes on from it."""

import pytest

from gateway.telemetry.options import IncomingContext, TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from tests.helpers.otlp_receiver import OtlpReceiver
from tests.telemetry.builders import (
    SPAN_ID,
    TRACE_ID,
    TRACEPARENT,
    a_call,
    a_context,
    a_record,
    endpoint,
)

OPTIONS = TelemetryOptions()
STOP_S = 10.0  # a busy machine may need that to import the SDK


@pytest.mark.parametrize(
    ("header", "meta", "parent"),
    [
        (TRACEPARENT, {}, SPAN_ID),
        ("", {"traceparent": TRACEPARENT}, SPAN_ID),
        (f"00-{'1' * 32}-{'2' * 16}-01", {"traceparent": TRACEPARENT}, SPAN_ID),
    ],
    ids=["header", "_meta", "both"],
)
def test_the_gateway_is_a_child_of_the_caller_and_the_parent_of_the_downstream(
    receiver: OtlpReceiver, header: str, meta: dict[str, str], parent: str
) -> None:
    """case: OBS-06"""
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    trace = telemetry.trace_for(a_call(trace_header=header, meta=dict(meta)))
    sent = telemetry.outgoing(trace)
    telemetry.record(
        a_record(
            parent=trace.parent,
            link=trace.link,
            trace_id=trace.trace_id,
            server_span=trace.server_span,
            authorize_span=trace.authorize_span,
            client_span=trace.client_span,
        )
    )
    assert telemetry.shutdown(STOP_S)
    authorize, client, server = receiver.spans
    assert {span.trace_id for span in receiver.spans} == {TRACE_ID}
    assert server.parent_id == parent
    assert authorize.parent_id == client.parent_id == server.span_id
    assert sent == f"00-{TRACE_ID}-{client.span_id}-01"


def test_garbage_starts_a_new_trace_without_an_error(receiver: OtlpReceiver) -> None:
    """case: OBS-06"""
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    trace = telemetry.trace_for(a_call(meta={"traceparent": "garbage"}))
    assert trace.parent is None
    assert telemetry.outgoing(trace) == f"00-{trace.trace_id}-{trace.client_span}-01"
    telemetry.shutdown(STOP_S)


def test_a_surrounding_http_context_becomes_a_link(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    around = a_context(trace_id="1" * 32, span_id="2" * 16)
    telemetry.record(a_record(parent=a_context(state="vendor=1"), link=around))
    assert telemetry.shutdown(STOP_S)
    server = receiver.spans[-1]
    assert server.links == [("1" * 32, "2" * 16)]
    assert server.state == "vendor=1"


def test_an_unsampled_call_leaves_no_span_but_is_counted(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(
        OPTIONS, endpoint(receiver.url, OTEL_TRACES_SAMPLER="parentbased_always_on")
    )
    trace = telemetry.trace_for(a_call(trace_header=TRACEPARENT[:-1] + "0"))
    assert not trace.sampled
    assert telemetry.outgoing(trace).endswith("-00")
    telemetry.record(a_record(sampled=trace.sampled))
    assert telemetry.shutdown(STOP_S)
    assert receiver.spans == []
    assert receiver.named("mcp.server.operation.duration")[0].count == 1


def test_no_propagator_means_no_context_either_way() -> None:
    telemetry = Telemetry.start(OPTIONS, {"OTEL_PROPAGATORS": "none"})
    trace = telemetry.trace_for(a_call(trace_header=TRACEPARENT))
    assert trace.parent is None
    assert telemetry.outgoing(trace) == ""


def test_a_caller_that_is_not_trusted_is_linked_or_ignored() -> None:
    call = a_call(trace_header=TRACEPARENT)
    linked = Telemetry.start(TelemetryOptions(incoming_context=IncomingContext.LINK), {})
    trace = linked.trace_for(call)
    assert (trace.parent, trace.link) == (None, a_context())
    assert trace.trace_id != TRACE_ID
    ignoring = Telemetry.start(TelemetryOptions(incoming_context=IncomingContext.IGNORE), {})
    trace = ignoring.trace_for(call)
    assert (trace.parent, trace.link) == (None, None)
    assert trace.trace_id != TRACE_ID
