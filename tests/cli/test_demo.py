"""`weighbridge demo` hands all its words to the demo, and returns the demo's exit code."""

import pytest

from gateway.demo import run
from tests.helpers.workspaces import weighbridge


@pytest.mark.parametrize("code", [0, 1])
def test_words_go_in_and_the_exit_code_comes_out(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[list[str]] = []

    def play(argv: list[str]) -> int:
        heard.append(argv)
        return code

    monkeypatch.setattr(run, "main", play)
    done = weighbridge("demo", "--keep", "--time-server", "/x")
    assert (done.exit_code, heard) == (code, [["--keep", "--time-server", "/x"]])


def test_its_help_is_that_of_the_demo() -> None:
    done = weighbridge("demo", "--help")
    assert done.exit_code == 0
    assert "--keep" in done.stdout


def test_a_word_that_the_demo_does_not_know_is_a_wrong_call() -> None:
    done = weighbridge("demo", "--loud")
    assert done.exit_code == 2
    assert "--loud" in done.stderr
