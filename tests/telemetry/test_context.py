import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.telemetry import context
from gateway.telemetry.options import IncomingContext
from gateway.telemetry.sampling import Sampler
from tests.telemetry.builders import SPAN_ID, TRACE_ID, TRACEPARENT, a_call, a_context

OTHER = f"00-{'1' * 32}-{'2' * 16}-01"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        TRACEPARENT.upper(),
        TRACEPARENT + "-00",  # version 00 has four fields
        TRACEPARENT + " ",
        TRACEPARENT + "\n",
        TRACEPARENT.replace("00-0", "ff-0"),
        f"00-{'0' * 32}-{SPAN_ID}-01",
        f"00-{TRACE_ID}-{'0' * 16}-01",
        f"00-{TRACE_ID}-{SPAN_ID}",
        f"00-{TRACE_ID}-{SPAN_ID}-0g",
        f"01-{TRACE_ID}-{SPAN_ID}-01-" + "x" * 300,
        "٠" + TRACEPARENT[1:],  # digits of another script
    ],
)
def test_an_unusable_traceparent_counts_as_none(text: str) -> None:
    """case: OBS-06"""
    assert context.parse(text) is None


def test_a_later_version_may_carry_more_fields() -> None:
    assert context.parse(f"cc-{TRACE_ID}-{SPAN_ID}-03-what-ever") == a_context()


@pytest.mark.parametrize(("flags", "sampled"), [("00", False), ("01", True), ("02", False)])
def test_only_the_lowest_flag_says_sampled(flags: str, sampled: bool) -> None:
    assert context.parse(f"00-{TRACE_ID}-{SPAN_ID}-{flags}") == a_context(sampled=sampled)


@given(st.text(max_size=80) | st.from_regex(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"))
def test_no_text_breaks_the_parser(text: str) -> None:
    """case: OBS-06"""
    parsed = context.parse(text, text)
    assert parsed is None or (len(parsed.trace_id), len(parsed.span_id)) == (32, 16)


def test_tracestate_is_capped_in_members_and_length() -> None:
    many = ",".join(f"k{number}=v" for number in range(40))
    assert context.capped_state(many) == ",".join(f"k{number}=v" for number in range(32))
    long = ",".join(f"k{number}=" + "v" * 200 for number in range(4))
    assert context.capped_state(long) == ",".join(f"k{number}=" + "v" * 200 for number in range(2))
    assert context.capped_state("a=1," * 4000) == ""


@pytest.mark.parametrize("state", ["no equals", "A=1", "a=1,b", "a=\x00", "a=" + "v" * 257])
def test_one_malformed_member_discards_the_tracestate(state: str) -> None:
    assert context.capped_state(state) == ""


def test_blank_members_are_left_out_of_the_tracestate() -> None:
    assert context.capped_state(" a=1 ,, b@sys=2 ") == "a=1,b@sys=2"


def test_the_context_in_meta_wins_over_the_header() -> None:
    """case: OBS-06"""
    meta = {"traceparent": TRACEPARENT, "tracestate": "vendor=1", "baggage": "user=sam"}
    caller, around = context.incoming(a_call(trace_header=OTHER, meta=meta))
    assert caller == a_context(state="vendor=1")
    assert around == a_context(trace_id="1" * 32, span_id="2" * 16)


def test_the_same_context_twice_is_no_link() -> None:
    call = a_call(trace_header=TRACEPARENT, meta={"traceparent": TRACEPARENT})
    assert context.incoming(call) == (a_context(), None)


@pytest.mark.parametrize("meta", [{"traceparent": "garbage"}, {"traceparent": 7}, {}])
def test_without_a_usable_meta_the_header_counts(meta: dict[str, str]) -> None:
    """case: OBS-06"""
    assert context.incoming(a_call(trace_header=TRACEPARENT, meta=meta)) == (a_context(), None)


def test_a_state_that_is_no_text_is_ignored() -> None:
    meta = {"traceparent": TRACEPARENT, "tracestate": ["x=1"]}
    assert context.incoming(a_call(meta=meta)) == (a_context(), None)


def test_spans_of_two_calls_never_share_an_id() -> None:
    traces = [context.begin(a_call(), IncomingContext.PARENT, Sampler()) for _ in range(2)]
    spans = {
        span
        for trace in traces
        for span in (trace.server_span, trace.authorize_span, trace.client_span)
    }
    assert len(spans) == 6
    assert traces[0].trace_id != traces[1].trace_id


@pytest.mark.parametrize("treatment", IncomingContext)
def test_a_call_of_the_gateways_own_is_linked_to_the_one_it_is_about(
    treatment: IncomingContext,
) -> None:
    about = f"00-{'a' * 32}-{'b' * 16}-01"
    trace = context.begin(a_call(trace_header=about, cause="lookup"), treatment, Sampler())
    assert trace.link is not None
    assert (trace.link.trace_id, trace.link.span_id) == ("a" * 32, "b" * 16)
    assert (trace.parent, trace.trace_id == "a" * 32) == (None, False)
    assert context.begin(a_call(cause="lookup"), treatment, Sampler()).link is None
