"""What a contract says of an outcome, held against what is known of it."""

import base64
import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.crossing.conditions import (
    NOT_DECLARED,
    VERIFIED,
    Seen,
    Unsure,
    ensured,
    holds,
    names_of,
    summed,
    together,
)
from gateway.crossing.reads import Old
from gateway.types.guarantees import Checksum
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Verification, VerificationState
from gateway.types.tools import Ensure
from tests.helpers.cases import a_case
from tests.helpers.operations import wanted
from tests.helpers.reads import DENIED

FAILED, INCONCLUSIVE = VerificationState.FAILED, VerificationState.INCONCLUSIVE
PENDING = VerificationState.PENDING
BODY = "grüße"
HASHES = {name: hashlib.new(name, BODY.encode()) for name in ("sha256", "sha384", "sha512")}

numbers = st.integers() | st.integers(min_value=2**60) | st.floats(allow_nan=False) | st.decimals()
leaves = st.none() | st.booleans() | numbers | st.text(st.characters())
anything = st.recursive(
    leaves, lambda some: st.lists(some) | st.dictionaries(st.text(), some), max_leaves=10
)


def seen(answer: Json = None, old: Old = None, **args: Json) -> Seen:
    return Seen(args=dict(args), answer=answer, old=old)


def ensure(when: str, known: Seen) -> Verification:
    (found,) = ensured([Ensure(when=when, message="the amount is right")], known)
    return found


def test_what_is_known_of_a_call_comes_from_its_case_and_its_result() -> None:
    operation = replace(wanted(), downstream_key="k-7")
    case = a_case(operation=operation, arguments={"id": 1})
    result: JsonObject = {"content": [{"type": "text", "text": '{"id": 7}'}]}
    known = Seen.of(case, result, {"id": 6})
    assert known == Seen(
        args={"id": 1},
        answer={"id": 7},
        old={"id": 6},
        op={"id": operation.op_id, "key": "k-7"},
    )
    assert known.known.old == {"id": 6}


def test_a_key_that_no_server_was_given_has_no_name() -> None:
    operation = wanted()
    assert names_of(operation) == {"id": operation.op_id}


def test_a_call_that_is_no_operation_has_no_names() -> None:
    assert Seen.of(a_case(), {"content": []}) == Seen(args={}, answer=None)


def test_a_condition_over_arguments_and_result_holds_or_does_not() -> None:
    when = "result.amount == args.amount"
    assert ensure(when, seen({"amount": 3.0}, amount=3)) == VERIFIED
    failed = ensure(when, seen({"amount": 4}, amount=3))
    assert failed == Verification(state=FAILED, detail="the amount is right")


@pytest.mark.parametrize(
    "answer", [None, {}, {"amount": None}, {"amount": "3"}, {"amount": 2**70}, [], "text"]
)
def test_a_condition_that_can_not_be_evaluated_is_inconclusive(answer: Json) -> None:
    found = ensure("result.amount > args.amount", seen(answer, amount=3))
    assert found.state is INCONCLUSIVE
    assert found.detail.startswith("can't tell whether the amount is right: ")


def test_a_missing_field_is_named() -> None:
    assert ensure("result.amount > 3", seen({})).detail.endswith("`amount` is missing")


def test_a_condition_compares_with_what_there_was_before() -> None:
    when = "result.balance == old.balance - args.amount"
    assert ensure(when, seen({"balance": 2}, {"balance": 5}, amount=3)) == VERIFIED
    assert ensure(when, seen({"balance": 3}, {"balance": 5}, amount=3)).state is FAILED


def test_without_what_there_was_before_nobody_can_compare_and_the_reason_is_told() -> None:
    found = ensure("result.balance < old.balance", seen({"balance": 2}, DENIED))
    assert found.state is INCONCLUSIVE
    assert found.detail.endswith(f"there is no `old`, {DENIED.reason}")


def test_that_old_is_missing_is_not_blamed_for_another_fault() -> None:
    found = ensure("result.old > 1 || args.old > 1", seen({}, DENIED))
    assert found.state is INCONCLUSIVE
    assert DENIED.reason not in found.detail


def test_what_is_certain_without_the_missing_value_is_told() -> None:
    known = seen({"amount": 4}, DENIED, amount=3)
    assert ensure("result.amount == args.amount && old.open", known).state is FAILED
    assert ensure("result.amount == 4 || old.open", known) == VERIFIED


def test_a_text_that_is_no_condition_is_unsure() -> None:
    assert isinstance(holds("result.", {}), Unsure)
    assert isinstance(holds("nobody.knows", {}), Unsure)


def test_what_is_not_there_is_not_null() -> None:
    assert isinstance(holds("result == null", {"result": None}), Unsure)


@pytest.mark.parametrize("algorithm", sorted(HASHES))
@pytest.mark.parametrize("prefix", ["", "{}:", "{}-", "{}="])
@pytest.mark.parametrize("as_hex", [True, False])
def test_a_servers_digest_is_known_in_hex_and_base64(
    algorithm: str, prefix: str, as_hex: bool
) -> None:
    found = HASHES[algorithm]
    text = found.hexdigest().upper() if as_hex else base64.b64encode(found.digest()).decode()
    told: JsonObject = {"sum": prefix.format(algorithm) + text}
    checksum = Checksum(of="$args.body", equals="$result.sum", algorithm=algorithm)
    assert summed(checksum, seen(told, body=BODY)) == VERIFIED
    other = summed(checksum, seen(told, body="other"))
    assert (other.state, other.detail) == (
        FAILED,
        f"`$result.sum` is not the {algorithm} of `$args.body`",
    )


SUM = Checksum(of="$args.body", equals="$result.sum")


@pytest.mark.parametrize(
    "told", ["", "abc", "é" * 64, "z" * 64, HASHES["sha512"].hexdigest(), 7, None, ["x"]]
)
def test_what_is_no_digest_shows_nothing(told: Json) -> None:
    found = summed(SUM, seen({"sum": told}, body=BODY))
    assert (found.state, found.detail) == (INCONCLUSIVE, "`$result.sum` is no sha256")


def test_a_digest_that_is_missing_shows_nothing() -> None:
    found = summed(SUM, seen({}, body=BODY))
    assert found.state is INCONCLUSIVE
    assert found.detail.endswith("there is no `$result.sum`")


def test_only_a_text_has_a_checksum() -> None:
    found = summed(SUM, seen({"sum": HASHES["sha256"].hexdigest()}, body={"a": 1}))
    assert (found.state, found.detail) == (
        INCONCLUSIVE,
        "`$args.body` is no text to take a checksum of",
    )


def test_a_failure_outweighs_what_can_not_be_told_and_that_what_is_pending() -> None:
    parts = [
        VERIFIED,
        NOT_DECLARED,
        Verification(state=PENDING, detail="p"),
        Verification(state=INCONCLUSIVE, detail="i"),
        Verification(state=FAILED, detail="f1"),
        Verification(state=FAILED, detail="f2"),
    ]
    assert together(parts) == Verification(state=FAILED, detail="f1; f2")
    assert together(parts[:4]) == parts[3]
    assert together(parts[:3]) == parts[2]
    assert together(parts[:2]) == VERIFIED
    assert together(parts[1:2]) == NOT_DECLARED
    assert together([]) == NOT_DECLARED


@given(answer=anything, old=anything, body=anything)
def test_no_json_makes_a_check_break(answer: Json, old: Json, body: Json) -> None:
    known = seen(answer, old, body=body)
    texts = (
        "result == args.body",
        "result.a == old.a",
        "size(result) > size(old)",
        "result == old",
        "result[0] < args.body",
        "result.exists(x, x == args.body)",
        "result",
    )
    for text in texts:
        assert ensure(text, known).state in (VerificationState.VERIFIED, FAILED, INCONCLUSIVE)
    for equals in ("$result", "$old", "$result.a", "a$result"):
        found = summed(Checksum(of="$args.body", equals=equals), known)
        assert found.state in (FAILED, INCONCLUSIVE)
