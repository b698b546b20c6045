from tests.telemetry.builders import a_record


def test_the_place_of_a_call_in_its_trace_is_told_as_a_header() -> None:
    record = a_record(trace_id="1" * 32, server_span="2" * 16)
    assert record.traceparent == f"00-{'1' * 32}-{'2' * 16}-01"
    record.sampled = False
    assert record.traceparent.endswith("-00")
