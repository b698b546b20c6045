"""What could deceive, said in words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.approvals.marks import Kind, Marks, marks
from gateway.approvals.visible import is_hidden
from tests.approvals.spoofs import SPOOFS, Spoof


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda each: each.name)
def test_a_spoof_is_told_as_what_it_is(spoof: Spoof) -> None:
    assert marks(spoof.value).kinds == spoof.kinds


@pytest.mark.parametrize(
    "text",
    [
        "Refund 400 EUR to c-1001",
        "Müller & Söhne, Straße 1, 8000 Zürich: déjà vu",
        "東京タワー2号 Tokyo",
        "хор пел, а мы слушали",
        "Η Αθήνα είναι όμορφη",
        "one\ntwo\tthree",
        "https://example.com/a?b=c",
        "postgres://example.com/db",
        "½ of it™ … 10 m²",
        "xn-- is nothing by itself",
    ],
)
def test_an_honest_text_has_no_marks(text: str) -> None:
    assert marks(text) == Marks()
    assert not marks(text).are_any


def test_words_of_one_script_each_are_no_mixture() -> None:
    assert marks("заказ order 注文").kinds == ()


def test_an_address_that_programs_read_differently_is_told() -> None:
    assert marks("https://a.example\\@b.example").notes == (
        "the address of `a.example` goes on with `\\`: programs read it differently",
    )


def test_a_code_that_stands_for_nothing_is_none() -> None:
    assert marks("https://xn--99999999999.example xn--- xn--abc-") == Marks(
        kinds=(Kind.HOST,), notes=("`xn--abc-` stands for `abc`",)
    )


def test_a_thousand_deceptions_are_told_by_the_first_few() -> None:
    found = marks(" ".join(f"p\u0430y{number}" for number in range(1000)))
    assert found.kinds == (Kind.MIXED_SCRIPTS,)
    assert len(found.notes) == 10


def test_a_long_word_is_cut_in_its_note() -> None:
    (note,) = marks("\u0430" + "a" * 10_000).notes
    assert len(note) < 200
    assert "…" in note


@given(st.text(st.characters()))
def test_notes_hide_nothing_themselves(text: str) -> None:
    assert not any(is_hidden(each) for note in marks(text).notes for each in note)


@given(st.text(st.characters()))
def test_whatever_is_hidden_is_marked(text: str) -> None:
    assert marks(text).are_any or not any(is_hidden(each) for each in text if each not in "\n\t")


@pytest.mark.parametrize("piece", ["http://", "xn--", "aа ", "\u200b", "https://a@", "щ", "//"])
def test_the_work_grows_no_faster_than_the_text(piece: str) -> None:
    text = piece * (100_000 // len(piece.encode()))
    began = time.process_time()
    marks(text)
    assert time.process_time() - began < 10  # what is not linear takes minutes
