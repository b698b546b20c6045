"""Telemetry: what arrives, where, and what is not even begun without a destination."""

import os
import subprocess
import sys
import threading
from unittest.mock import patch

import pytest

from gateway.telemetry import usual
from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from gateway.types.outcomes import Status
from tests.helpers.approvals import an_approval
from tests.helpers.otlp_receiver import OtlpReceiver, Span
from tests.telemetry.builders import (
    DENIED,
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
STOP_S = 10.0  # a busy machine may need that to import the SDK


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if "elemetry" in thread.name}


def test_a_worker_names_itself_in_what_it_exports(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(TelemetryOptions(worker=2), endpoint(receiver.url))
    telemetry.record(a_record())
    assert telemetry.shutdown(STOP_S)
    assert {span.resource["gateway.worker"] for span in receiver.spans} == {"2"}
    assert {point.resource["gateway.worker"] for point in receiver.points} == {"2"}


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


def test_spans_arrive_alike_whoever_wrote_them(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    calls = (
        a_record(),
        a_denied_record(),
        a_record(link=a_context()),
        a_record(tool_error=True, status=Status.TOOL_FAILED),
    )
    found: list[list[Span]] = []
    written = usual.CallWriter.written
    with patch.object(usual.CallWriter, "written", autospec=True, side_effect=written) as late:
        for _ in range(2):  # by the export thread, which had to begin; then where they are recorded
            for record in calls:
                telemetry.record(record)
            assert telemetry.flush(STOP_S)
            found.append(receiver.spans)
            receiver.requests.clear()
    assert found[0] == found[1]
    assert [len(spans) for spans in found] == [11, 11]
    # The second time it wrote the one with a link only, which has more to say than others.
    assert [each.args[1].link for each in late.call_args_list[len(calls) :]] == [a_context()]
    assert telemetry.state().traces.exported == 2 * len(calls)
    telemetry.shutdown(STOP_S)


def test_an_odd_call_is_lost_alone(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    assert telemetry.flush(STOP_S)
    for trace_id in ("1" * 32, "g" * 32, "3" * 32):
        telemetry.record(a_record(trace_id=trace_id))
    assert telemetry.flush(STOP_S)
    assert {span.trace_id for span in receiver.spans} == {"1" * 32, "3" * 32}
    state = telemetry.state().traces
    assert (state.exported, state.dropped, state.last_error) == (2, 1, "")
    telemetry.shutdown(STOP_S)


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


def test_what_is_no_call_is_counted_too(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    telemetry.watch_backlog(lambda: 7)
    telemetry.watch_approvals(lambda: 3)
    telemetry.approval_ended(an_approval(created_at=5_000_000), 95_000_000)
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
    assert receiver.named("gateway.approval.pending")[0].value == 3
    (wait,) = receiver.named("gateway.approval.wait", gen_ai__tool__name="refund")
    assert (wait.count, wait.value) == (1, 90)
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


def test_how_a_request_ended_is_kept_where_the_call_that_asked_is(receiver: OtlpReceiver) -> None:
    telemetry = Telemetry.start(OPTIONS, endpoint(receiver.url))
    for flags, name in (("01", "kept"), ("00", "dropped")):
        trace = f"00-{'1' * 32}-{'2' * 16}-{flags}"
        telemetry.approval_ended(an_approval(tool=f"desk.{name}", trace=trace), 1)
    telemetry.approval_ended(an_approval(tool="desk.untraced"), 1)
    assert telemetry.flush(5)
    ends = {span.name: span for span in receiver.spans if span.name.startswith("approval ")}
    assert ends.keys() == {"approval kept", "approval untraced"}
    assert ends["approval kept"].links == [("1" * 32, "2" * 16)]
    telemetry.shutdown(STOP_S)
