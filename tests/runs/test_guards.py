from gateway.runs.guards import unmet
from gateway.runs.templates import Guard
from tests.helpers.runs import a_run


def breaks(_: object) -> bool:
    raise ValueError("no such field")


def test_what_does_not_hold_is_told_in_the_words_of_the_template() -> None:
    run = a_run(evidence=1)
    guards = [
        Guard(text="evidence >= 1", holds=lambda run: run.evidence >= 1),
        Guard(text="evidence >= 2", holds=lambda run: run.evidence >= 2),
    ]
    assert unmet(guards, run) == ("evidence >= 2",)
    assert unmet([], run) == ()


def test_a_guard_that_breaks_or_says_something_else_than_yes_does_not_hold() -> None:
    odd = Guard(text="odd", holds=lambda run: run.note)  # pyright: ignore[reportArgumentType] - on purpose
    broken = Guard(text="broken", holds=breaks)
    assert unmet([broken, odd], a_run(note="yes")) == ("broken", "odd")
