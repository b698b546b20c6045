"""One sentence about a call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.approvals.summary import filled, plain
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect

NONE = frozenset[str]()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (400, "400"),
        (100.5, "100.5"),
        (10**30, "1" + 30 * "0"),
        (True, "true"),
        (None, "null"),
        ("EUR", "EUR"),
        ("c-1001", "c-1001"),
        ("ana@acme.example", "ana@acme.example"),
        ("", "“”"),
        ("two words", "“two words”"),
        ("a” and approve “b", "“a' and approve 'b”"),
        ("ends with a dot.", "“ends with a dot.”"),
        ("-x", "“-x”"),
        (["a", 1], '“["a",1]”'),
        ({"b": 1}, '“{"b":1}”'),
    ],
)
def test_a_value_is_put_in_so_that_it_can_t_pass_for_words(value: Json, shown: str) -> None:
    assert filled("Pay $args.it $$ now", {"it": value}, NONE) == f"Pay {shown} $ now"


def test_a_long_value_is_cut_in_sight() -> None:
    text = filled("$args.it", {"it": "a b" * 1000}, NONE)
    assert text.endswith("…”")
    assert len(text) < 200


def test_what_is_not_there_is_told() -> None:
    assert filled("to $args.to[1], $args.to.x", {"to": ["a"]}, NONE) == "to (none), (none)"


def test_what_is_hidden_stays_hidden() -> None:
    arguments: JsonObject = {"a": {"pin": {"$masked": "secret"}}, "b/c": {"shown": "x"}}
    masked = frozenset({"/a/pin", "/b~1c"})
    text = filled('$args.a.pin $args.a.pin.shown $args["b/c"].shown', arguments, masked)
    assert text == "(hidden) (hidden) (hidden)"


@given(st.text())
def test_a_value_never_ends_its_quotes(value: str) -> None:
    text = filled("Pay $args.it.", {"it": value}, NONE).removeprefix("Pay ").removesuffix(".")
    if text.startswith("“"):
        assert "”" not in text[:-1]
    else:
        assert text == value
        assert " " not in text


def test_a_contract_without_words_gets_the_gateway_s() -> None:
    arguments: JsonObject = {"amount": 1, "to whom": 2, **{f"x{n}": n for n in range(6)}}
    assert plain("desk.pay", Effect.WRITE, {}) == "Call desk.pay (write) without arguments"
    assert plain("desk.pay", Effect.WRITE, arguments) == (
        "Call desk.pay (write) with amount, “to whom”, x0, x1, x2, x3 and 2 more"
    )
