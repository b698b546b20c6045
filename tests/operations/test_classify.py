"""What came back, as an outcome."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import jsontext
from gateway.operations.classify import Verdict, classify
from gateway.operations.machine import OpEvent, next_state
from gateway.types.json import Json, JsonObject
from gateway.types.operations import (
    Delivered,
    Delivery,
    Execution,
    Failure,
    KeySource,
    OpState,
    Rejected,
    RetryClass,
    Undelivered,
)
from gateway.types.tools import Risk

RETRYABLE, FINAL, LOSE = OpEvent.FAIL_RETRYABLE, OpEvent.FAIL_FINAL, OpEvent.LOSE


def verdict(delivery: Delivery, **other: Any) -> Verdict:
    call: dict[str, Any] = {
        "retry": RetryClass.NEVER,
        "risk": Risk.MEDIUM,
        "source": KeySource.DERIVED,
        "not_executed_on": (),
        **other,
    }
    return classify(delivery, **call)


def undelivered(executed: Execution, status: int | None = None) -> Undelivered:
    return Undelivered(failure=Failure.CLOSED, executed=executed, detail="gone", status=status)


def rejected(code: int, message: str = "no", data: Json = None) -> Rejected:
    return Rejected(code=code, message=message, data=data)


def answered(text: str = "done", **members: Json) -> Delivered:
    block: JsonObject = {"type": "text", "text": text}
    return Delivered(result={"content": [block], **members}, size=100)


def failed(text: str, **members: Json) -> Delivered:
    return answered(text, isError=True, **members)


def test_a_plain_answer_is_a_success() -> None:
    found = verdict(answered())
    assert (found.event, found.executed) == (OpEvent.SUCCEED, Execution.YES)
    assert verdict(answered(isError=False, resultType="complete")).event is OpEvent.SUCCEED


@pytest.mark.parametrize("kind", ["input_required", "task", "unheard-of", 1])
def test_what_is_no_final_answer_proves_nothing(kind: Json) -> None:
    assert verdict(answered(resultType=kind)).event is LOSE


@pytest.mark.parametrize("retry", RetryClass)
def test_what_was_not_sent_was_not_carried_out(retry: RetryClass) -> None:
    """case: IDM-03"""
    found = verdict(undelivered(Execution.NO), retry=retry, risk=Risk.CRITICAL)
    assert (found.event, found.executed) == (RETRYABLE, Execution.NO)


@pytest.mark.parametrize("retry", RetryClass)
@pytest.mark.parametrize("executed", [Execution.UNKNOWN, Execution.YES])
def test_what_was_sent_and_not_answered_is_unknown(executed: Execution, retry: RetryClass) -> None:
    """case: IDM-03"""
    found = verdict(undelivered(executed), retry=retry, risk=Risk.LOW)
    assert (found.event, found.executed) == (LOSE, Execution.UNKNOWN)
    assert found.proof == "no usable answer: closed"


def test_a_status_proves_what_the_contract_says() -> None:
    bad = undelivered(Execution.UNKNOWN, status=503)
    assert verdict(bad).event is LOSE
    assert verdict(bad, not_executed_on=(503,)).event is RETRYABLE
    assert verdict(bad, not_executed_on=(502, "503")).event is LOSE
    assert verdict(undelivered(Execution.UNKNOWN), not_executed_on=(503,)).event is LOSE


@pytest.mark.parametrize("code", [-32700, -32601, -32020, -32029])
def test_some_codes_come_before_anything_runs(code: int) -> None:
    found = verdict(rejected(code), risk=Risk.CRITICAL)
    assert (found.event, found.executed) == (RETRYABLE, Execution.NO)
    assert str(code) in found.proof


def test_a_code_under_the_status_of_a_broken_server_proves_nothing() -> None:
    gone = Rejected(code=-32601, message="no", status=502)
    assert verdict(gone).event is LOSE
    assert verdict(gone, not_executed_on=(502,)).executed is Execution.NO
    assert verdict(Rejected(code=-32601, message="no", status=404)).executed is Execution.NO


@pytest.mark.parametrize(
    "code", [-32600, -32602, -32603, -32000, -32019, -32030, -32042, 0, 1, 429, 500]
)
def test_all_other_codes_prove_nothing(code: int) -> None:
    found = verdict(rejected(code), retry=RetryClass.KEYED, risk=Risk.LOW)
    assert (found.event, found.executed) == (LOSE, Execution.UNKNOWN)


@pytest.mark.parametrize(
    ("message", "data"),
    [
        ("MCP error -32602: Output validation error: Invalid structured content", None),
        ("Tool put has an output schema but no structured content was provided", None),
        ("invalid", {"path": "structuredContent.id"}),
    ],
)
def test_an_error_about_what_the_tool_put_out_comes_after_it_ran(message: str, data: Json) -> None:
    found = verdict(rejected(-32602, message, data), not_executed_on=(-32602, "invalid"))
    assert (found.event, found.executed) == (LOSE, Execution.UNKNOWN)


@pytest.mark.parametrize(
    ("delivery", "proofs"),
    [
        (rejected(-32005), (-32005,)),
        (rejected(-32600), (-32600,)),
        (rejected(-32602, "Invalid params: no such field"), (-32602,)),
        (rejected(-32000, "Rate_Limited, come back later"), ("rate_limited",)),
        (rejected(-32000, data={"code": "rate_limited"}), ("rate_limited",)),
        (rejected(-32000, data={"error": {"status": 429}}), (429,)),
        (rejected(-32000, "HTTP 429"), (429,)),
    ],
)
def test_an_error_proves_what_the_contract_says(
    delivery: Rejected, proofs: tuple[int | str, ...]
) -> None:
    assert verdict(delivery).event is LOSE
    found = verdict(delivery, not_executed_on=proofs, risk=Risk.CRITICAL)
    assert (found.event, found.executed) == (RETRYABLE, Execution.NO)
    assert str(proofs[0]) in found.proof


@pytest.mark.parametrize(
    ("text", "is_proof"),
    [
        ("HTTP 429 Too Many Requests", True),
        ("HTTP/1.1 429", True),
        ("status: 429", True),
        ('{"code": 429}', True),
        ("error (429).", True),
        ("could not refund 429 EUR", False),
        ("429 refunds were made, then it failed", False),
        ("status 4290", False),
        ("status 429.50", False),
        ("order 1429 failed", False),
    ],
)
def test_a_number_in_a_text_is_a_code_only_where_it_is_called_one(
    text: str, is_proof: bool
) -> None:
    found = verdict(failed(text), not_executed_on=(429,), risk=Risk.HIGH)
    assert found.event is (RETRYABLE if is_proof else LOSE)


@pytest.mark.parametrize(
    ("text", "is_proof"),
    [("rate_limited", True), ("Sorry: Rate_Limited!", True), ("unrate_limited", False)],
)
def test_a_word_in_a_text_counts_as_a_whole_one(text: str, is_proof: bool) -> None:
    found = verdict(failed(text), not_executed_on=("rate_limited",), risk=Risk.HIGH)
    assert found.event is (RETRYABLE if is_proof else LOSE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"note": "rate limited; code: 409"}, 'index failed for "rate limited; code: 409"'),
        ({"notes": [{"text": "is Rate Limited now"}]}, "failed: is rate limited n..."),
        ({"rate limited": 1}, '{"rate limited": 1} was written, its index was not'),
        ({"code": 409}, "failed after the write, code: 409"),
    ],
)
def test_an_answer_that_repeats_what_the_call_said_proves_nothing(
    arguments: JsonObject, said: str
) -> None:
    proofs = (409, "rate limited")
    told = [failed(said), failed("no", structuredContent=arguments), rejected(-32000, said)]
    for delivery in told:
        found = verdict(delivery, not_executed_on=proofs, arguments=arguments, risk=Risk.HIGH)
        assert found.event is LOSE
    genuine = failed("rate limited")
    own = {"note": "hello"}
    assert verdict(genuine, not_executed_on=proofs, arguments=own).executed is Execution.NO


def test_a_word_counts_where_the_text_begins_and_not_where_it_quotes_others() -> None:
    quotes = "item 7 was written; its index was not, since an entry of another user could not be "
    quotes += "read, which says in the field for its state of last week: rate_limited, code: 429"
    for delivery in (failed(quotes), rejected(-32000, quotes)):
        found = verdict(delivery, not_executed_on=("rate_limited", 429), risk=Risk.HIGH)
        assert found.event is LOSE
    two: list[Json] = [{"type": "text", "text": each} for each in ("7 was written", "rate_limited")]
    found = verdict(failed("", content=two), not_executed_on=("rate_limited",), risk=Risk.HIGH)
    assert found.event is LOSE


def test_a_code_in_the_json_of_a_long_text_is_one() -> None:
    data: JsonObject = {"detail": "x" * 500, "error": {"code": "rate_limited"}}
    told = failed(jsontext.dump(data).decode())
    assert verdict(told, not_executed_on=("rate_limited",)).executed is Execution.NO


def test_a_code_in_structured_content_is_one() -> None:
    told = failed("no", structuredContent={"error": {"code": 429}})
    assert verdict(told, not_executed_on=(429,), risk=Risk.HIGH).executed is Execution.NO
    amount = failed("no", structuredContent={"amount": 429})
    assert verdict(amount, not_executed_on=(429,), risk=Risk.HIGH).event is LOSE


@pytest.mark.parametrize(
    "text",
    [
        "Request timed out",
        "upstream timeout",
        "time-out while waiting",
        "Deadline exceeded",
        "the connection was lost",
        "Connection reset by peer",
        "connection to db closed",
        "Broken pipe",
        "ECONNRESET",
        "socket hang up",
        "Server disconnected",
        "502 Bad Gateway",
        "no response from the billing service",
        "got disconnected",
        "rpc error: code = DeadlineExceeded desc = ...",
        "DEADLINE_EXCEEDED",
        'Post "https://api/x": EOF',
        "TypeError: fetch failed",
        "AbortError: This operation was aborted",
        "context canceled",
        "SocketError: other side closed",
        "HTTP 504",
        "Request failed with status code 502",
        "RST_STREAM received",
        "Output validation error: no structured content was provided",
        "x" * 50_000 + " timed out",
    ],
)
@pytest.mark.parametrize("source", KeySource)
def test_an_error_about_time_or_the_line_leaves_the_outcome_unknown(
    text: str, source: KeySource
) -> None:
    found = verdict(failed(text), source=source, risk=Risk.LOW, retry=RetryClass.NATURAL)
    assert (found.event, found.executed) == (LOSE, Execution.UNKNOWN)
    in_data = failed("no", structuredContent={"why": text})
    assert verdict(in_data, source=source, risk=Risk.LOW).event is LOSE


@pytest.mark.parametrize("text", ["no such customer", "sometimes outside", "answered no", ""])
def test_an_error_about_something_else_is_no_lost_line(text: str) -> None:
    assert verdict(failed(text), risk=Risk.LOW).event is FINAL


@pytest.mark.parametrize("risk", Risk)
def test_a_callers_key_gets_the_same_error_again(risk: Risk) -> None:
    """case: IDM-01"""
    found = verdict(failed("no such customer"), source=KeySource.CALLER, risk=risk)
    assert (found.event, found.executed) == (FINAL, Execution.YES)


@pytest.mark.parametrize(
    ("retry", "risk", "event"),
    [
        (RetryClass.NEVER, Risk.LOW, FINAL),
        (RetryClass.NEVER, Risk.MEDIUM, FINAL),
        (RetryClass.QUERY, Risk.MEDIUM, FINAL),
        (RetryClass.NEVER, Risk.HIGH, LOSE),
        (RetryClass.NEVER, Risk.CRITICAL, LOSE),
        (RetryClass.QUERY, Risk.HIGH, LOSE),
        (RetryClass.KEYED, Risk.HIGH, RETRYABLE),
        (RetryClass.NATURAL, Risk.CRITICAL, RETRYABLE),
        (RetryClass.READ, Risk.HIGH, RETRYABLE),
    ],
)
def test_an_error_is_no_proof_that_a_call_may_be_sent_again(
    retry: RetryClass, risk: Risk, event: OpEvent
) -> None:
    assert verdict(failed("no such customer"), retry=retry, risk=risk).event is event


@pytest.mark.parametrize("said", ["true", 1, {}])
def test_an_odd_mark_of_an_error_is_one(said: Json) -> None:
    assert verdict(answered(isError=said)).event is FINAL


def test_a_result_without_texts_is_judged_too() -> None:
    odd: list[JsonObject] = [
        {"isError": True},
        {"isError": True, "content": "x"},
        {"isError": True, "content": [1, {"type": "image"}]},
    ]
    for result in odd:
        assert verdict(Delivered(result=result, size=1)).event is FINAL


@given(
    st.text(),
    st.sampled_from(Risk),
    st.sampled_from(KeySource),
    st.sampled_from([RetryClass.NEVER, RetryClass.QUERY]),
)
def test_whatever_an_error_says_a_call_that_must_not_be_sent_twice_is_not(
    text: str, risk: Risk, source: KeySource, retry: RetryClass
) -> None:
    found = verdict(failed(text), risk=risk, source=source, retry=retry)
    assert found.event in (FINAL, LOSE)


DELIVERIES = st.one_of(
    st.builds(undelivered, st.sampled_from(Execution), st.none() | st.integers(100, 599)),
    st.builds(rejected, st.integers(-33000, 600), st.text(max_size=20)),
    st.builds(failed, st.text(max_size=20)),
    st.builds(answered, st.text(max_size=20)),
)


@given(
    DELIVERIES,
    st.sampled_from(RetryClass),
    st.sampled_from(Risk),
    st.sampled_from(KeySource),
    st.lists(st.integers(-33000, 600) | st.text(min_size=1, max_size=5), max_size=3),
)
def test_every_verdict_settles_an_operation_that_was_sent(
    delivery: Delivery,
    retry: RetryClass,
    risk: Risk,
    source: KeySource,
    proofs: list[int | str],
) -> None:
    found = classify(delivery, retry=retry, risk=risk, source=source, not_executed_on=proofs)
    assert found.proof
    state = next_state(OpState.DISPATCHING, found.event)
    assert (state is OpState.INDETERMINATE) is (found.executed is Execution.UNKNOWN)
