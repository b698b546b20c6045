"""How things went, in words."""

import pytest

from gateway.admin.verdicts import of


@pytest.mark.parametrize(
    ("outcome", "is_bad", "tone", "word"),
    [
        ("allow", False, "yes", "allowed"),
        ("deny", False, "no", "denied"),
        ("timeout", True, "no", "timeout"),
        ("require_approval", False, "ask", "asked about"),
        ("approval_pending", False, "ask", "waits"),
        ("indeterminate", True, "no", "nobody knows"),
        ("", False, "plain", ""),
        ("something_new", False, "plain", "something new"),
    ],
)
def test_an_outcome_has_a_tone_a_sign_and_a_word(
    outcome: str, is_bad: bool, tone: str, word: str
) -> None:
    found = of(outcome, is_bad=is_bad)
    assert (found.tone, found.word) == (tone, word)
    assert found.sign


def test_what_is_done_by_hand_has_no_word_and_a_run_its_own_tone() -> None:
    assert of("log_read", is_admin=True).word == ""
    assert of("acting", is_run=True).tone == "run"
