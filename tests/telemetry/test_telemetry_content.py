"""Telemetry: users and values leave only in the form that they may."""

from gateway.telemetry.options import TelemetryOptions
from gateway.telemetry.telemetry import Telemetry
from tests.helpers.otlp_receiver import OtlpReceiver
from tests.telemetry.builders import (
    a_call,
    a_denied_record,
    a_record,
    endpoint,
)

OPTIONS = TelemetryOptions()
STOP_S = 10.0  # a busy machine may need that to import the SDK


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
