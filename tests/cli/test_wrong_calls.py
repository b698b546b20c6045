"""Calls of the command that can't be read."""

import pytest

from tests.helpers.workspaces import weighbridge


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["runs", "show"], "missing argument `RUN`; see `weighbridge runs show --help`"),
        (
            ["runs", "pause", "run_1"],
            "missing option `--reason`; see `weighbridge runs pause --help`",
        ),
        (["runs", "sho"], "no such command `sho`; did you mean `show`?; see `weighbridge runs"),
        (
            ["runs", "list", "--limt", "5"],
            "no such option `--limt`; did you mean `--limit`?; see `weighb",
        ),
        (["--jsn"], "no such option `--jsn`; see `weighbridge --help`"),
        (
            ["runs", "list", "--limit", "0"],
            "invalid value for `--limit`: 0 is not in the range 1<=x<=100000; see",
        ),
        (["keys", "new", "a", "b"], "missing option `--user`; see `weighbridge keys new --help`"),
    ],
)
def test_each_is_told_in_one_line_with_where_to_read_on(words: list[str], said: str) -> None:
    done = weighbridge(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"weighbridge: {said}")
    assert done.stderr.count("\n") == 1


def test_what_hides_in_a_word_is_shown() -> None:
    assert "\u202e" not in weighbridge("runs", "\u202eshow\nall is well").stderr


def test_a_group_alone_says_what_it_has() -> None:
    done = weighbridge("runs")
    assert "Commands:" in done.output
    assert done.output.count("weighbridge: ") == 0
