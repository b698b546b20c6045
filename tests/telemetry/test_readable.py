from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind as SdkKind
from opentelemetry.trace.status import StatusCode

from gateway import __version__
from gateway.telemetry.facts import facts_of
from gateway.telemetry.readable import readable
from gateway.telemetry.spans import SpanBuilder
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from tests.telemetry.builders import SPAN_ID, START_NS, TRACE_ID, a_context, a_record

RESOURCE = Resource({"service.name": "gw"})


def made(record: CallRecord) -> dict[SdkKind, ReadableSpan]:
    spans = [readable(span, RESOURCE) for span in SpanBuilder(None).build(facts_of(record))]
    return {span.kind: span for span in spans}


def test_a_span_is_the_same_to_the_sdk() -> None:
    record = a_record(parent=a_context(state="vendor=1"), link=a_context(sampled=False))
    spans = made(record)
    assert set(spans) == {SdkKind.SERVER, SdkKind.INTERNAL, SdkKind.CLIENT}
    server = spans[SdkKind.SERVER]
    assert (server.name, server.resource) == ("tools/call find", RESOURCE)
    assert (server.start_time, server.end_time) == (START_NS, START_NS + 53_000_000)
    assert server.parent is not None
    assert server.parent.is_remote
    assert f"{server.parent.span_id:016x}" == SPAN_ID
    assert server.context is not None
    assert f"{server.context.trace_id:032x}" == TRACE_ID
    assert f"{server.context.span_id:016x}" == record.server_span
    assert server.context.trace_state.to_header() == "vendor=1"
    (link,) = server.links
    assert (f"{link.context.span_id:016x}", link.context.trace_flags.sampled) == (SPAN_ID, False)
    assert server.instrumentation_scope is not None
    assert server.instrumentation_scope.name == "weighbridge"
    assert server.instrumentation_scope.version == __version__
    client = spans[SdkKind.CLIENT]
    assert client.parent is not None
    assert not client.parent.is_remote
    assert client.parent.span_id == server.context.span_id


def test_values_that_say_nothing_are_left_out() -> None:
    values = made(a_record(run_id=""))[SdkKind.SERVER].attributes
    assert values is not None
    assert values["gateway.server.name"] == "crm"
    assert "gateway.run.id" not in values


def test_a_failure_is_the_status() -> None:
    spans = made(a_record(status=Status.TIMEOUT, answered_ns=0))
    status = spans[SdkKind.SERVER].status
    assert (status.status_code, status.description) == (StatusCode.ERROR, "timeout")
    assert spans[SdkKind.INTERNAL].status.is_unset
