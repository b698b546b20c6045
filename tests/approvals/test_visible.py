"""Text as an approver may trust his eyes on it."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.approvals.visible import is_hidden, spelled, visible
from tests.approvals.spoofs import SPOOFS, Spoof

DECEIVING = st.text(
    st.sampled_from("a \\u{}0123456789ABCDEF×⏎⇥\n\t\r\u200b\u202e\u0301\u034f\U000e0041\ud800")
)


@pytest.mark.parametrize("spoof", SPOOFS, ids=lambda each: each.name)
def test_nothing_of_a_spoof_reaches_a_screen_as_it_is(spoof: Spoof) -> None:
    shown = visible(spoof.value)
    assert not set(spoof.hidden) & set(shown)
    assert shown.replace("\ud800", "").isprintable()


@pytest.mark.parametrize(
    "text", ["", "Refund 400 EUR", "Müller & Söhne", "日本語", "C:\\new", "a  b"]
)
def test_what_hides_nothing_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text(st.characters()) | DECEIVING)
@example("\ud800")
def test_everything_that_is_left_has_a_shape(text: str) -> None:
    assert not any(map(is_hidden, visible(text)))
    assert spelled(text).isascii()


@given(DECEIVING, DECEIVING)
@example("\u200b" * 9, "\\u{200B ×9}")
@example("\n", "⏎")
@example(" ", "\\u{20}")
@example(" " * 9, "\\u{20 ×9}")
def test_no_two_texts_look_the_same(one: str, other: str) -> None:
    assert (visible(one) == visible(other)) == (one == other)


@given(st.text("ae\u0301\u0302\u0323\u034f", max_size=30))
def test_no_letter_carries_more_than_three_marks(text: str) -> None:
    stacked = 0
    for at, each in enumerate(visible(text)):
        stacked = stacked + 1 if unicodedata.combining(each) else 0
        assert stacked <= 3
        assert not (stacked and at == 0)


@pytest.mark.parametrize(
    "piece", ["\u200b\u200d", "\\u{", " ", "        a", "\n", "\u0301\u0302", "a ", "щы", "⏎\n"]
)
def test_the_work_grows_no_faster_than_the_text(piece: str) -> None:
    text = piece * (100_000 // len(piece.encode()))
    began = time.process_time()
    visible(text)
    assert time.process_time() - began < 10  # what is not linear takes minutes
