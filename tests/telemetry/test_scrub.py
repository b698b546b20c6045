import pytest
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext
from opentelemetry.trace.status import Status, StatusCode

from gateway.telemetry.scrub import ScrubbingExporter
from gateway.types.outcomes import Status as Outcome

CONTEXT = SpanContext(1, 2, is_remote=False)


def scrubbed(span: ReadableSpan, value_length: int = 100) -> ReadableSpan:
    kept = InMemorySpanExporter()
    exporter = ScrubbingExporter(kept, value_length=value_length)
    exporter.export([span])
    assert exporter.force_flush()
    exporter.shutdown()
    return kept.get_finished_spans()[0]


def test_only_attributes_of_the_table_leave() -> None:
    """case: OBS-01"""
    attributes = {"gateway.status": "ok", "gateway.redactions": 2, "http.header": "Bearer MARK1"}
    span = scrubbed(ReadableSpan("n", CONTEXT, attributes=attributes))
    assert dict(span.attributes or {}) == {"gateway.status": "ok", "gateway.redactions": 2}


def test_events_and_link_attributes_stay_behind() -> None:
    """case: OBS-01"""
    events = [Event("exception", {"exception.message": "bad token MARK7"})]
    links = [Link(CONTEXT, {"why": "MARK"})]
    span = scrubbed(ReadableSpan("n", CONTEXT, events=events, links=links))
    assert span.events == ()
    assert [dict(link.attributes or {}) for link in span.links] == [{}]
    assert span.links[0].context == CONTEXT


@pytest.mark.parametrize("code", ["tool_error", "-32602", Outcome.TIMEOUT.value])
def test_our_codes_stay_in_the_status(code: str) -> None:
    span = scrubbed(ReadableSpan("n", CONTEXT, status=Status(StatusCode.ERROR, code)))
    assert span.status.description == code


def test_free_text_leaves_the_status() -> None:
    """case: OBS-01"""
    span = scrubbed(ReadableSpan("n", CONTEXT, status=Status(StatusCode.ERROR, "IBAN MARK")))
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)


def test_long_values_are_cut() -> None:
    attributes = {"gateway.run.id": "r" * 50, "user.roles": ("a" * 50, "b")}
    span = scrubbed(ReadableSpan("n" * 50, CONTEXT, attributes=attributes), value_length=10)
    assert span.name == "n" * 10
    assert dict(span.attributes or {}) == {
        "gateway.run.id": "r" * 10,
        "user.roles": ("a" * 10, "b"),
    }


def test_a_live_span_with_an_exception_is_clean_too() -> None:
    """case: OBS-01"""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({}), shutdown_on_exit=False)
    processor = SimpleSpanProcessor(
        ScrubbingExporter(kept, value_length=100), meter_provider=NoOpMeterProvider()
    )
    provider.add_span_processor(processor)
    with (
        pytest.raises(ValueError, match="MARK"),
        provider.get_tracer("t").start_as_current_span("s"),
    ):
        raise ValueError("bad token MARK7")
    assert "MARK7" not in kept.get_finished_spans()[0].to_json()
