from gateway.telemetry.options import IncomingContext, TelemetryOptions


def test_content_stays_in_and_the_caller_is_the_parent_unless_said_otherwise() -> None:
    options = TelemetryOptions()
    assert not options.capture_content
    assert options.incoming_context is IncomingContext.PARENT
    assert options.value_length == 2048
