"""Telemetry: calls that are known to be like others are told of as any call is."""

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.telemetry.facts import facts_of
from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.records import CallRecord
from tests.helpers.otlp_receiver import OtlpReceiver
from tests.telemetry.builders import a_call, a_context, a_record, endpoint

OPTIONS = TelemetryOptions()
STOP_S = 10.0  # a busy machine may need that to import the SDK


def spanned(record: CallRecord) -> Any:
    """Return what is told of one call: of its facts, those that are its own."""
    facts = facts_of(record)
    own = (
        *("trace_id", "server_span", "authorize_span", "client_span", "parent", "received_ns"),
        *("judged_ns", "sent_ns", "answered_ns", "closed_ns", "call_id", "run_id", "request_id"),
        *("peer", "digest", "result_size"),
    )
    return SimpleNamespace(**{name: getattr(facts, name) for name in own})


def warm(receiver: OtlpReceiver, options: TelemetryOptions = OPTIONS, **redacted: Any) -> Telemetry:
    """Return telemetry whose export thread has begun."""
    telemetry = Telemetry.start(options, endpoint(receiver.url), **redacted)
    telemetry.record(a_record())
    assert telemetry.flush(STOP_S)
    receiver.requests.clear()
    return telemetry


def test_spans_and_metrics_are_the_same_as_of_any_call(receiver: OtlpReceiver) -> None:
    telemetry = warm(receiver)
    first = a_record()
    stencil = telemetry.stencil(first)
    assert stencil is not None
    calls = [
        a_record(call=a_call(call_id="call_2", request_id="8", peer="[::1]:8"), result_size=3),
        a_record(parent=a_context(), run_id="", received_ns=first.received_ns - 10**9),
    ]
    for record in calls:
        telemetry.record(record)
    assert telemetry.flush(STOP_S)
    told, counts = receiver.spans, points(receiver)
    receiver.requests.clear()
    for record in calls:
        telemetry.record_alike(spanned(record), stencil, sampled=True)
    assert telemetry.flush(STOP_S)
    assert receiver.spans == told
    assert len(told) == 6
    after = points(receiver)
    grown = {name: after[name] - counts[name] for name in counts}
    assert grown == dict.fromkeys(counts, 2)
    assert telemetry.state().traces.exported == 5
    telemetry.shutdown(STOP_S)


def points(receiver: OtlpReceiver) -> dict[str, float]:
    """Return how often each histogram was last said to be recorded."""
    names = ("mcp.server.operation.duration", "mcp.client.operation.duration")
    found: dict[str, float] = {}
    for name in (*names, "gateway.authorization.duration"):
        found[name] = max(point.count for point in receiver.named(name))
    return found


def test_a_call_that_is_not_sampled_is_counted_alone(receiver: OtlpReceiver) -> None:
    telemetry = warm(receiver)
    stencil = telemetry.stencil(a_record())
    assert stencil is not None
    telemetry.record_alike(spanned(a_record()), stencil, sampled=False)
    assert telemetry.flush(STOP_S)
    assert receiver.spans == []
    assert set(points(receiver).values()) == {2}
    telemetry.shutdown(STOP_S)


def test_an_odd_call_costs_nobody_an_answer(receiver: OtlpReceiver) -> None:
    telemetry = warm(receiver)
    stencil = telemetry.stencil(a_record())
    assert stencil is not None
    telemetry.record_alike(spanned(a_record(trace_id="g" * 32)), stencil, sampled=True)
    telemetry.record_alike(spanned(a_record(trace_id="3" * 32)), stencil, sampled=True)
    assert telemetry.flush(STOP_S)
    assert {span.trace_id for span in receiver.spans} == {"3" * 32}
    assert telemetry.state().traces.dropped == 1
    telemetry.shutdown(STOP_S)


def test_there_are_no_stencils_until_somebody_can_write_their_spans(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    if not telemetry.has_stencils:  # or the export thread was faster
        assert telemetry.stencil(a_record()) is None
    telemetry.record(a_record())
    assert telemetry.flush(STOP_S)
    assert telemetry.has_stencils
    telemetry.shutdown(STOP_S)


def shows(record: CallRecord) -> str:
    return record.call.name


@pytest.mark.parametrize("captures", [True, False])
def test_calls_whose_spans_show_arguments_have_no_stencil(
    receiver: OtlpReceiver, captures: bool
) -> None:
    options = TelemetryOptions(capture_content=captures)
    telemetry = warm(receiver, options, redacted=shows)
    assert telemetry.has_stencils is not captures
    assert (telemetry.stencil(a_record()) is None) is captures
    telemetry.shutdown(STOP_S)


@pytest.mark.parametrize(
    "changes", [{"link": a_context()}, {"redactions": 1}, {"parent": a_context(state="a=1")}]
)
def test_calls_that_say_more_have_no_stencil(
    receiver: OtlpReceiver, changes: dict[str, Any]
) -> None:
    telemetry = warm(receiver)
    assert telemetry.stencil(a_record()) is not None
    assert telemetry.stencil(a_record(**changes)) is None
    telemetry.shutdown(STOP_S)


def test_where_nothing_is_exported_a_stencil_writes_nothing() -> None:
    telemetry = Telemetry.start(OPTIONS, {})
    assert telemetry.has_stencils
    stencil = telemetry.stencil(a_record())
    assert stencil is not None
    assert stencil.write is None
    telemetry.record_alike(spanned(a_record()), stencil, sampled=True)
    assert telemetry.shutdown(STOP_S)
