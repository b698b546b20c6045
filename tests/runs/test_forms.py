"""Typed normal forms."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.runs import forms
from gateway.types.json import Json
from gateway.types.tools import Form

NUMBERS = st.decimals(min_value=0, max_value=10**12, places=3) | st.integers(0, 10**14).map(Decimal)


@pytest.mark.parametrize(
    ("form", "left", "right"),
    [
        (Form.ID, "e\u0301", "é"),
        (Form.ID, 1, 1.0),
        (Form.ID, Decimal("1.50"), 1.5),
        (Form.ID, 1e3, 1000),
        (Form.TEXT, "Straße", "STRASSE"),
        (Form.TEXT, "Ann@Example.com", "ann@example.com"),
        (Form.NUMBER, "12.50", 12.5),
        (Form.NUMBER, "007", 7),
        (Form.NUMBER, Decimal("1e2"), 100),
        (Form.DATE, "2026-11-30", "2026-11-30T23:00:00Z"),
        (Form.DATE, "2026-12-01T00:30:00+01:00", "2026-11-30"),
    ],
)
def test_two_spellings_of_one_value_are_the_same(form: Form, left: Json, right: Json) -> None:
    assert forms.normal(left, form) == forms.normal(right, form) is not None


@pytest.mark.parametrize(
    ("form", "left", "right"),
    [
        (Form.ID, "1", 1),
        (Form.ID, "A", "a"),
        (Form.ID, "a ", "a"),
        (Form.ID, 2**70, 2**70 + 1),
        (Form.TEXT, "a b", "ab"),
        (Form.NUMBER, 1.5, 1.6),
        (Form.NUMBER, Decimal("1." + "0" * 40 + "1"), 1),
        (Form.DATE, "2026-11-30", "2026-12-01"),
    ],
)
def test_values_that_are_only_alike_are_not(form: Form, left: Json, right: Json) -> None:
    assert forms.normal(left, form) != forms.normal(right, form)


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("value", [None, True, "", [], {}, float("inf"), Decimal("1e999999")])
def test_what_is_not_of_a_form_has_none(form: Form, value: Json) -> None:
    assert forms.normal(value, form) is None


@pytest.mark.parametrize(
    "value", ["30.11.2026", "2026-02-30", "20261130", "2026-W48-1", 20261130, "x"]
)
def test_a_date_is_written_as_iso_8601_says(value: Json) -> None:
    assert forms.normal(value, Form.DATE) is None


@pytest.mark.parametrize("value", ["1e3", "0x10", "1,000", " 1", "١"])
def test_a_text_is_a_number_only_in_plain_digits(value: str) -> None:
    assert forms.number(value) is None


def test_no_two_forms_share_a_text() -> None:
    seen = [forms.normal("2026-11-30", form) for form in (Form.ID, Form.TEXT, Form.DATE)]
    assert len({*seen}) == 3
    assert forms.normal(7, Form.ID) != forms.normal(7, Form.NUMBER)


@given(NUMBERS, NUMBERS)
def test_a_number_is_found_to_be_as_large_exactly_when_it_is(one: Decimal, other: Decimal) -> None:
    found = {*forms.rungs(one)} & {*forms.above(other)}
    assert bool(found) is (one >= other)


@given(NUMBERS, st.integers(0, 999))
def test_numbers_close_together_are_told_apart(one: Decimal, step: int) -> None:
    other = one + Decimal(step).scaleb(-3)
    assert bool({*forms.rungs(one)} & {*forms.above(other)}) is (step == 0)
    assert {*forms.rungs(other)} & {*forms.above(one)}


@pytest.mark.parametrize("value", [-1, "x", 10**15, Decimal("0.0000001"), None])
def test_what_can_not_be_compared_has_no_rungs(value: Json) -> None:
    assert forms.rungs(value) == forms.above(value) == ()


def test_the_same_value_is_the_same_by_the_strictest_form() -> None:
    assert forms.same("c-1", "c-1")
    assert not forms.same("c-1", "C-1")
    assert not forms.same(None, None)
    assert forms.day_of("2026-11-30") == date(2026, 11, 30)
