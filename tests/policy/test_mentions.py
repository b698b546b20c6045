"""What expressions speak of."""

from datetime import UTC, datetime

import pytest

from gateway.policy.mentions import mentions, parts, together


def test_words_numbers_and_names_are_found_wherever_they_stand() -> None:
    said = mentions(
        """args.amount <= 1000.0 && args["a-b"] != 'it\\'s' && args.lines[0].price > -5 """
        """|| 'c' in args && has(run.fields.customer) && run.said.why == r"\\d" """
    )
    assert said.words == ("a-b", "it's", "c", "\\d")
    assert said.numbers == (1000.0, 0, 5, -5)
    assert said.arguments == ("amount", "lines", "a-b", "c")
    assert (said.fields, said.said) == (("customer",), ("why",))
    assert said.speaks_of("run.fields")
    assert not said.speaks_of("run.fields.cust", "identity")
    assert said.calls == frozenset({"has"})


def test_sets_that_are_named_give_their_values() -> None:
    sets = {"paid": ["EUR", 7, True], "other": ["x"]}
    said = mentions("args.currency in sets.paid", sets)
    assert (said.words, said.numbers) == (("EUR",), (7,))
    assert mentions("args.currency == 'EUR'", sets).numbers == ()


def test_patterns_and_moments_are_told_by_the_function_they_are_given_to() -> None:
    said = mentions(
        """args.ref.matches('^a+$') """
        """&& now < timestamp('2026-12-01T00:00:00Z') + duration('1h30m')"""
        """ && timestamp('soon') < now && timestamp("2026-12-24T00:00:00") > now"""
    )
    assert said.patterns == ("^a+$",)
    first = datetime(2026, 12, 1, tzinfo=UTC)
    assert first in said.moments
    assert first.replace(hour=1, minute=30) in said.moments
    assert datetime(2026, 11, 30, 22, 30, tzinfo=UTC) in said.moments
    assert datetime(2026, 12, 24, tzinfo=UTC) in said.moments
    assert "+" in said.calls


def test_several_expressions_together_speak_of_each_thing_once() -> None:
    said = together([mentions("args.a == 'x'"), mentions("args.b == 'x' && args.a > 1")])
    assert (said.words, said.arguments, said.numbers) == (("x",), ("a", "b"), (1,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("args.a", ("args.a",)),
        ("has(args.a) && args.a > 1", ("has(args.a)", "args.a > 1")),
        ("a && (b || !(c && d))", ("a", "(b", "!(c", "d))")),
        ("x.all(r, r > 1 && r < 3) && y", ("x.all(r, r > 1 && r < 3)", "y")),
        ("a == '&& ||' || b[c || d]", ("a == '&& ||'", "b[c || d]")),
        ("  ", ()),
    ],
)
def test_an_expression_is_taken_apart_where_it_is_joined(text: str, expected: object) -> None:
    assert parts(text) == expected
