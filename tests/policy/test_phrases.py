"""Faults of expressions, as people read them."""

import pytest

from gateway.policy.phrases import phrase

KNOWN = ("args", "actor.user", "actor.tenant", "now")


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (
            "found no matching overload for '_==_' applied to '(int, string)'",
            "`==` doesn't work on `(int, string)`; convert them, as by `string(…)`",
        ),
        (
            "Syntax error: mismatched input '<EOF>' expecting {'[', NUM_INT}",
            "can't be read from here on: mismatched input `<EOF>`; complete or correct it",
        ),
        ("no name `nope` here", "no name `nope` here; known are `actor.*`, `args`, `now`"),
        ("Something else", "something else"),
    ],
)
def test_a_fault_says_what_helps(engine: str, said: str) -> None:
    assert phrase(engine, KNOWN) == said


def test_a_name_with_a_suggestion_needs_no_list() -> None:
    message = "no name `arg` here; did you mean `args`?"
    assert phrase(message, KNOWN) == message
