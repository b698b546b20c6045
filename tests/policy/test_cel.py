from datetime import UTC, datetime

import pytest

from gateway.policy.cel import ConditionError, Environment, ExpressionError, compile_condition
from gateway.types.json import Json

ENVIRONMENT = Environment({"args": "dyn", "identity.tenant": "string", "now": "timestamp"})


def holds(text: str, **args: Json) -> bool:
    return compile_condition(text).holds({"args": args})


@pytest.mark.parametrize("amount", [50, 50.0, 1000, 1000.0])
@pytest.mark.parametrize("text", ["args.amount <= 1000.0", "args.amount <= 1000"])
def test_ints_and_doubles_compare_by_value(text: str, amount: float) -> None:
    assert holds(text, amount=amount)


def test_an_int_beyond_the_digits_of_a_double_is_exact_against_an_int() -> None:
    assert holds("args.a > 9007199254740992", a=9007199254740993)
    assert not holds("args.a == 9007199254740992", a=9007199254740993)


@pytest.mark.parametrize("size", [2**64, -(2**63) - 1, 2**70])
def test_a_number_that_the_engine_cannot_carry_is_an_error(size: int) -> None:
    for text in ("args.n > 1", "args.n == 1", "args.n != 1", "has(args.n)", "args.other == null"):
        with pytest.raises(ConditionError, match="too large"):
            holds(text, n=size, other=None)


def test_a_number_of_64_unsigned_bits_still_compares() -> None:
    assert holds("args.n > 9223372036854775807", n=2**63)


def test_an_error_never_repeats_an_argument_value() -> None:
    for text in ("args[args.secret] == 1", "args.n > 1", "args.secret > 1"):
        with pytest.raises(ConditionError) as caught:
            holds(text, secret="hunter2-token", n=2**70 + 99)
        assert "hunter2" not in str(caught.value)
        assert str(2**70 + 99) not in str(caught.value)


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(ConditionError, match="`note` is missing") as caught:
        holds("args.note == 'x'")
    assert caught.value.missing == "note"


@pytest.mark.parametrize("text", ["true || args.nope", "args.nope || true", "!has(args.nope)"])
def test_a_guard_inside_a_condition_works(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "args.n / 0 == 1",
        "args.n % 0 == 1",
        "'x'.matches(args.pattern)",
        "args.list[700] == 1",
        "args.n > 'x'",
        "args.list.all(a, args.list.all(b, args.list.all(c, a + b + c >= 0)))",
        "args.n",
        "timestamp(args.pattern) > timestamp('2026-01-01T00:00:00Z')",
        "email_domain(args.pattern) == 'x'",
    ],
)
def test_everything_that_fails_is_a_condition_error(text: str) -> None:
    numbers: list[Json] = [*range(100)]
    with pytest.raises(ConditionError):
        holds(text, n=1, pattern="(", list=numbers)


def test_a_value_that_no_text_can_hold_is_an_error_and_no_crash() -> None:
    with pytest.raises(ConditionError):
        holds("args.word == 'x'", word="\ud800")


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("argumnts.path == 1", 1, 9, "no name `argumnts.path` here"),
        ("identity.tennant == 'x'", 1, 9, "did you mean `identity.tenant`?"),
        ("args.path startsWith '/a'", 1, 11, "Syntax error"),
        ("args.a == 1 &&\n  nope", 2, 3, "no name `nope` here"),
        ("identity.tenant == 3", 1, 17, "no matching overload"),
        ("args.a == email_domain(3)", 1, 23, "no matching overload"),
    ],
)
def test_faults_in_a_text_have_a_place(text: str, line: int, column: int, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        ENVIRONMENT.compile(text)
    issue = caught.value.issues[0]
    assert (issue.line, issue.column) == (line, column)
    assert said in issue.message


def test_every_fault_of_a_text_is_found_at_once() -> None:
    with pytest.raises(ExpressionError) as caught:
        ENVIRONMENT.compile("one == two")
    assert len(caught.value.issues) == 2


def test_a_text_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ExpressionError):
        ENVIRONMENT.compile("(" * 300 + "true" + ")" * 300)


def test_a_condition_must_be_able_to_give_true_or_false() -> None:
    with pytest.raises(ExpressionError, match="gives `string`"):
        ENVIRONMENT.condition("identity.tenant")
    assert ENVIRONMENT.condition("args.flag").gives == "dyn"


def test_a_value_that_is_not_boolean_is_an_error_when_it_shows() -> None:
    with pytest.raises(ConditionError, match="something else than true or false"):
        holds("args.flag", flag="true")


def test_values_come_back_as_json() -> None:
    args: Json = {"a": [1, 2.5, None, {"b": True}]}
    scope = ENVIRONMENT.scope({"args": args, "identity.tenant": "acme"})
    assert ENVIRONMENT.compile("args.a").evaluate(scope) == [1, 2.5, None, {"b": True}]
    assert ENVIRONMENT.compile("{'t': identity.tenant}").evaluate(scope) == {"t": "acme"}


@pytest.mark.parametrize("text", ["now", "now - now", "b'abc'", "{1: 2}", "type(1)"])
def test_a_value_that_json_cannot_hold_is_an_error(text: str) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(ConditionError):
        ENVIRONMENT.compile(text).evaluate({"now": at})


def test_time_is_an_input() -> None:
    at = datetime(2026, 1, 1, 23, tzinfo=UTC)
    assert ENVIRONMENT.condition("now.getHours('Europe/Berlin') == 0").holds({"now": at})


def test_a_variable_without_a_value_is_an_error() -> None:
    with pytest.raises(ConditionError):
        ENVIRONMENT.condition("identity.tenant == ''").holds({"args": {}})


def test_a_contract_condition_is_compiled_once() -> None:
    assert compile_condition("args.a > 1") is compile_condition("args.a > 1")


def test_our_own_functions_are_there() -> None:
    assert holds("email_domain(args.to) == 'x.org'", to="a@X.org")
    assert holds("url_host(args.to) == 'x.org'", to="https://x.org/a")
    assert holds("path_under(args.to, '/srv')", to="/srv/a")
    assert holds("ip_in(args.to, '10.0.0.0/8')", to="10.1.2.3")
    assert holds("ip_in(args.to, ['192.0.2.0/24', '10.0.0.0/8'])", to="10.1.2.3")
    assert holds("ip_in(args.to, args.nets)", to="10.1.2.3", nets=["10.0.0.0/8"])
    assert holds("sql_reads_only(args.to)", to="select 1")
