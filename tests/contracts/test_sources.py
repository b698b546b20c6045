"""Where an argument may come from, as people write it."""

from datetime import date
from decimal import Decimal

import pytest

from gateway.contracts.sources import BadSource, parse, written
from gateway.types.json import Json
from gateway.types.tools import Day, SourceKind


@pytest.mark.parametrize(
    ("text", "kind", "operands"),
    [
        ("results(crm.id)", SourceKind.RESULTS, ("crm.id",)),
        ("results(a, b)", SourceKind.RESULTS, ("a", "b")),
        ("collected(customer_id)", SourceKind.COLLECTED, ("customer_id",)),
        ("actor(user, tenant)", SourceKind.ACTOR, ("user", "tenant")),
        ("allowlist(a,  b c)", SourceKind.ALLOWLIST, ("a", "b c")),
    ],
)
def test_a_source_has_a_kind_and_operands(
    text: str, kind: SourceKind, operands: tuple[str, ...]
) -> None:
    assert (parse(text).kind, parse(text).operands) == (kind, operands)
    assert parse(written(parse(text))) == parse(text)


def test_results_can_be_asked_to_be_of_the_same_run() -> None:
    source = parse("results(crm.id, within: run)")
    assert (source.operands, source.within_run) == (("crm.id",), True)
    assert parse(written(source)) == source
    assert not parse("results(crm.id)").within_run


@pytest.mark.parametrize(
    ("said", "value"),
    [("EUR", "EUR"), ("1", 1), ("1.5", 1.5), ("true", True), ("null", None), ('"1"', "1"),
     ("a, b", "a, b")],
)  # fmt: skip
def test_a_constant_is_what_json_says_or_a_text(said: str, value: Json) -> None:
    source = parse(f"constant({said})")
    assert (source.constant, type(source.constant)) == (value, type(value))
    assert parse(written(source)) == source


@pytest.mark.parametrize(
    ("said", "bounds"),
    [
        ("0..100", (Decimal(0), Decimal(100))),
        ("-1.5 .. 1.5", (Decimal("-1.5"), Decimal("1.5"))),
        ("today..today+90d", (Day(), Day(days=90))),
        ("today-7d..today", (Day(days=-7), Day())),
        ("2026-01-01..today", (Day(on=date(2026, 1, 1)), Day())),
    ],
)
def test_computed_values_lie_between_two_bounds(said: str, bounds: object) -> None:
    source = parse(f"computed({said})")
    assert source.bounds == bounds
    assert parse(written(source)) == source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("result(x)", "should be `results(type)`"),
        ("results", "should be `results(type)`"),
        ("results()", "should be `results(type)`"),
        ("results(a,)", "empty part"),
        ("results(within: run)", "type before"),
        ("results(a, within: day)", "only `within: run`"),
        ("actor(role)", "`user` or `tenant`"),
        ("collected(a, b)", "one field"),
        ("constant([1])", "one text, number"),
        ("computed(5)", "two bounds"),
        ("computed(0..)", "has the bound ``"),
        ("computed(0..today)", "two numbers or two days"),
        ("computed(2..1)", "no room"),
        ("computed(today..today-1d)", "last day before its first"),
        ("computed(2026-02-30..today)", "has the bound `2026-02-30`"),
        ("computed(NaN..1)", "has the bound `NaN`"),
    ],
)
def test_what_names_no_source_is_refused_with_the_mend(text: str, message: str) -> None:
    with pytest.raises(BadSource) as refused:
        parse(text)
    assert message in str(refused.value)


def test_today_is_the_day_of_the_call() -> None:
    assert Day(days=3).of(date(2026, 12, 30)) == date(2027, 1, 2)
    assert Day(on=date(2026, 1, 1)).of(date(2030, 1, 1)) == date(2026, 1, 1)
