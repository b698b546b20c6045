import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.telemetry.options import IncomingContext, TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.outcomes import Status
from tests.helpers.otlp_receiver import OtlpReceiver, otlp_receiver
from tests.telemetry.builders import (
    DENIED,
    SPAN_ID,
    TRACE_ID,
    TRACEPARENT,
    a_call,
    a_context,
    a_denied_record,
    a_record,
    a_tool,
    endpoint,
)

OPTIONS = TelemetryOptions()
STOP_S = 2.0  # what a stop may take


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with otlp_receiver() as receiver:
        yield receiver


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if "elemetry" in thread.name}


def test_five_calls_of_different_outcome_arrive_with_what_happened(receiver: OtlpReceiver) -> None:
    """case: OBS-07"""
    telemetry = Telemetry.start(
        OPTIONS,
        endpoint(
            receiver.url,
            OTEL_SERVICE_NAME="gw",
            OTEL_RESOURCE_ATTRIBUTES="deployment.environment=x,team=a%20b",
        ),
    )
    telemetry.record(a_record())
    telemetry.record(a_denied_record())
    telemetry.record(a_record(tool_error=True, status=Status.TOOL_FAILED))
    telemetry.record(a_record(status=Status.TIMEOUT, answered_ns=0))
    telemetry.record(a_denied_record(tool=None, status=Status.UNKNOWN_TOOL, code="unknown"))
    assert telemetry.shutdown(STOP_S)

    servers = [span for span in receiver.spans if span.kind == "SERVER"]
    assert [span.attributes["gateway.status"] for span in servers] == [
        "ok",
        "denied",
        "tool_failed",
        "timeout",
        "unknown_tool",
    ]
    assert {span.resource["service.name"] for span in receiver.spans} == {"gw"}
    assert receiver.spans[0].resource["deployment.environment"] == "x"
    assert receiver.spans[0].resource["team"] == "a b"
    assert all(span.attributes["mcp.method.name"] == "tools/call" for span in servers)
    assert servers[0].attributes["gateway.server.name"] == "crm"
    assert servers[0].attributes["gen_ai.tool.name"] == "find"
    total = sum(point.count for point in receiver.named("mcp.server.operation.duration"))
    assert total == 5
    assert receiver.log_records == 0


def test_names_that_no_server_has_share_one_label(receiver: OtlpReceiver) -> None:
    """case: OBS-07"""
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    for number in range(50):
        call = a_call(name=f"made_up_{number}")
        telemetry.record(a_denied_record(call=call, tool=None, status=Status.UNKNOWN_TOOL))
    assert telemetry.shutdown(STOP_S)
    labels = {
        point.labels["gen_ai.tool.name"]
        for point in receiver.named("mcp.server.operation.duration")
    }
    assert labels == {"_unknown"}
    assert b"made_up" not in b"".join(request.body for request in receiver.requests)


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


@pytest.mark.parametrize("environ", [{}, {"OTEL_SDK_DISABLED": "true"}])
def test_without_a_destination_there_is_no_thread_and_context_still_passes(
    environ: dict[str, str],
) -> None:
    before = threads()
    telemetry = Telemetry.start(OPTIONS, environ | {"OTEL_SERVICE_NAME": "gw"})
    trace = telemetry.trace_for(a_call(trace_header=TRACEPARENT))
    telemetry.record(a_record())
    assert telemetry.outgoing(trace).startswith(f"00-{TRACE_ID}-")
    assert threads() == before
    assert telemetry.flush()
    assert telemetry.shutdown()
    assert telemetry.state().traces.exporter == "none"


def test_nothing_of_the_sdk_is_imported_until_something_is_exported() -> None:
    code = (
        "import sys; from gateway.telemetry.telemetry import Telemetry;"
        "from gateway.telemetry.options import TelemetryOptions;"
        "Telemetry.start(TelemetryOptions(), {'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:1'});"
        "print(sorted(m for m in sys.modules if m.startswith(('opentelemetry.sdk', 'requests'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "[]"


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


def dead_collectors(receiver: OtlpReceiver, kind: str) -> str:
    match kind:
        case "closed port":
            return "http://127.0.0.1:1"
        case "black hole":
            receiver.hang = True
        case "503":
            receiver.answer = 503
        case _:
            return receiver.url.replace("http:", "https:")
    return receiver.url


@pytest.mark.parametrize("kind", ["closed port", "black hole", "503", "no TLS there"])
def test_a_dead_collector_costs_no_call_anything_and_stop_ends_in_time(
    receiver: OtlpReceiver, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """case: OBS-02"""
    url = dead_collectors(receiver, kind)
    before = time.monotonic()
    telemetry = Telemetry.start(OPTIONS, endpoint(url, OTEL_EXPORTER_OTLP_TIMEOUT="10"))
    records = [a_record() for _ in range(100)]
    calls = time.monotonic()
    for record in records:
        telemetry.record(record)
    recorded = time.monotonic()
    telemetry.flush(0.2)
    stopping = time.monotonic()
    telemetry.shutdown(STOP_S)
    stopped = time.monotonic()
    assert calls - before < 0.5
    assert recorded - calls < 0.1
    assert stopped - stopping < STOP_S + 0.5
    assert len(caplog.records) <= 2  # one line a signal
    assert telemetry.state().traces.exported == 0


def test_a_refusing_collector_is_told_of_once_by_host_only(
    receiver: OtlpReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    """case: OBS-02"""
    receiver.answer = 400  # not retried
    environ = endpoint(
        receiver.url.replace("//", "//u:MARK1@") + "/MARK2",
        OTEL_EXPORTER_OTLP_HEADERS="x-key=MARK3%20a",
        OTEL_METRICS_EXPORTER="none",
    )
    with caplog.at_level(logging.DEBUG):
        telemetry = Telemetry.start(OPTIONS, environ)
        for count in range(1, 4):
            telemetry.record(a_record())
            assert telemetry.flush(5)
            assert len(receiver.requests) == count
        telemetry.shutdown(STOP_S)
    assert receiver.requests[0].headers["x-key"] == "MARK3 a"
    assert receiver.requests[0].path == "/MARK2/v1/traces"
    ours = [record for record in caplog.records if record.name.startswith("gateway")]
    assert len(ours) == 1
    assert "(HTTP 400)" in ours[0].getMessage()
    assert receiver.url.removeprefix("http://") in ours[0].getMessage()
    assert "MARK" not in caplog.text
    state = telemetry.state().traces
    assert (state.exported, state.dropped, state.last_error) == (0, 3, "HTTP 400")
    assert "MARK" not in repr(telemetry.state())


def test_memory_is_bounded_while_the_collector_hangs_and_drops_are_counted(
    receiver: OtlpReceiver,
) -> None:
    """case: OBS-02"""
    receiver.hang = True
    telemetry = Telemetry.start(
        OPTIONS,
        endpoint(
            receiver.url,
            OTEL_BSP_MAX_QUEUE_SIZE="10",
            OTEL_BSP_MAX_EXPORT_BATCH_SIZE="5",
            OTEL_METRICS_EXPORTER="none",
        ),
    )
    telemetry.record(a_record())
    telemetry.flush(0.001)
    receiver.wait_for(lambda: len(receiver.requests) == 1)
    for _ in range(100):
        telemetry.record(a_record())
    state = telemetry.state().traces
    assert (state.waiting, state.dropped) == (10, 90)
    telemetry.shutdown(0.1)


def test_export_recovers_when_the_collector_does(receiver: OtlpReceiver) -> None:
    receiver.answer = 400
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url, OTEL_METRICS_EXPORTER="none"))
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert telemetry.state().traces.last_error == "HTTP 400"
    receiver.requests.clear()
    receiver.answer = 200
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert len(receiver.spans) == 3
    state = telemetry.state().traces
    assert (state.exported, state.last_error) == (1, "")
    telemetry.shutdown(STOP_S)


def test_an_exporter_that_cannot_be_made_leaves_the_gateway_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """case: OBS-02"""
    missing = str(tmp_path / "key.pem")
    environ = endpoint("https://127.0.0.1:1", OTEL_EXPORTER_OTLP_CLIENT_KEY=missing)
    environ["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"] = missing
    telemetry = Telemetry.start(OPTIONS, environ)
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert telemetry.state().traces.last_error == "OSError"
    assert telemetry.state().traces.dropped == 1
    assert telemetry.shutdown(STOP_S)
    assert "Traceback" not in caplog.text
    assert len(caplog.records) <= 2


def test_a_record_that_cannot_be_read_is_counted_not_raised(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url, OTEL_METRICS_EXPORTER="none"))
    record = a_record()
    record.call = None  # type: ignore[assignment]
    telemetry.record(record)
    telemetry.record(a_record(trace_id="not hex"))
    telemetry.record(a_record())
    assert telemetry.flush(5)
    assert telemetry.state().traces.dropped == 2
    assert len(receiver.spans) == 3
    telemetry.shutdown(STOP_S)


def test_users_are_named_by_a_keyed_hash_only(receiver: OtlpReceiver) -> None:
    """case: OBS-01"""
    telemetry = Telemetry.start(
        OPTIONS,
        endpoint(receiver.url),
        pseudonym=lambda tenant, user: f"hmac-sha256:{len(tenant)}{len(user)}",
    )
    telemetry.record(a_record())
    assert telemetry.shutdown(STOP_S)
    assert receiver.spans[-1].attributes["user.id"] == "hmac-sha256:415"
    bodies = b"".join(request.body for request in receiver.requests)
    assert b"sam@example.com" not in bodies


def test_without_a_hash_no_user_is_named(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    telemetry.record(a_record())
    assert telemetry.shutdown(STOP_S)
    assert "user.id" not in receiver.spans[-1].attributes


MARKED = {"password": "MARK1", "nested": {"list": [{"apiKey": "MARK2"}]}}


def test_no_argument_value_leaves_by_default(receiver: OtlpReceiver) -> None:
    """case: OBS-01"""
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url), redacted=lambda _: "MARK3")
    call = a_call(arguments=dict(MARKED), meta={"secret": "MARK4", "baggage": "k=MARK5"})
    telemetry.record(a_record(call=call))
    telemetry.record(a_denied_record(call=call))
    assert telemetry.shutdown(STOP_S)
    assert len(receiver.spans) == 5
    assert b"MARK" not in b"".join(request.body for request in receiver.requests)


def test_captured_content_is_the_redacted_form_and_cut(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(
        TelemetryOptions(capture_content=True, value_length=12),
        endpoint(receiver.url),
        redacted=lambda record: '{"password":"[masked]","more":1}',
    )
    telemetry.record(a_record(call=a_call(arguments=dict(MARKED))))
    assert telemetry.shutdown(STOP_S)
    assert receiver.spans[-1].attributes["gen_ai.tool.call.arguments"] == '{"password":'


def test_capturing_without_a_redactor_captures_nothing(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(TelemetryOptions(capture_content=True), endpoint(receiver.url))
    telemetry.record(a_record(call=a_call(arguments=dict(MARKED))))
    assert telemetry.shutdown(STOP_S)
    assert "gen_ai.tool.call.arguments" not in receiver.spans[-1].attributes


def test_what_is_no_call_is_counted_too(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    telemetry.watch_backlog(lambda: 7)
    telemetry.schema_changed("crm")
    telemetry.policy_reloaded(activated=True)
    telemetry.policy_reloaded(activated=False)
    assert telemetry.flush(5)
    assert receiver.named("gateway.upstream.schema_changes", gateway__server__name="crm")
    outcomes = {
        point.labels["gateway.policy.reload.outcome"]
        for point in receiver.named("gateway.policy.reloads")
    }
    assert outcomes == {"activated", "refused"}
    assert receiver.named("gateway.audit.backlog")[0].value == 7
    assert len(receiver.named("gateway.telemetry.dropped")) == 2
    telemetry.shutdown(STOP_S)


def test_signals_go_where_their_own_variables_say(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(
        OPTIONS,
        {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": receiver.url + "/v1/traces",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_HEADERS": "x-team=a",
        },
    )
    telemetry.record(a_record())
    assert telemetry.shutdown(STOP_S)
    assert len(receiver.spans) == 3
    assert {request.path for request in receiver.requests} == {"/v1/traces"}
    assert receiver.requests[0].headers["content-encoding"] == "gzip"
    assert receiver.requests[0].headers["x-team"] == "a"
    assert telemetry.state().metrics.exporter == "none"


def test_the_console_is_standard_error_because_standard_output_speaks_mcp() -> None:
    code = (
        "from gateway.telemetry.telemetry import Telemetry;"
        "from gateway.telemetry.options import TelemetryOptions;"
        "from tests.telemetry.builders import a_record;"
        "t = Telemetry.start(TelemetryOptions(),"
        "    {'OTEL_TRACES_EXPORTER': 'console', 'OTEL_METRICS_EXPORTER': 'console'});"
        "t.record(a_record()); t.shutdown(20)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=os.getcwd(),
    )
    assert done.stdout == ""
    assert '"name": "tools/call find"' in done.stderr
    assert "mcp.server.operation.duration" in done.stderr


def test_what_is_wrong_with_the_environment_is_said(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry.start(OPTIONS, {"OTEL_TRACES_EXPORTER": "zipkin"})
    assert "`OTEL_TRACES_EXPORTER=zipkin`" in caplog.text
    assert telemetry.state().warnings


def test_a_denial_is_neither_success_nor_failure(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    telemetry.record(a_denied_record(tool=a_tool()))
    assert telemetry.shutdown(STOP_S)
    authorize, server = receiver.spans
    assert server.status == "UNSET"
    assert "error.type" not in server.attributes
    assert server.attributes["gateway.decision"] == "deny"
    assert server.attributes["gateway.status"] == "denied"
    assert authorize.attributes["gateway.policy.rule.id"] == DENIED.rule
