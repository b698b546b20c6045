"""Files of variables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.config.env_file import parse, write
from gateway.errors import FilesError


def test_lines_are_read_as_people_write_them() -> None:
    text = '\ufeff# c\r\nA=1\n export B = x y # z\r\nC=\'a"b\'\nD="a\\nb"\nE=\n\nF==\n'
    assert parse(text, file="f") == {
        "A": "1",
        "B": "x y # z",
        "C": 'a"b',
        "D": "a\nb",
        "E": "",
        "F": "=",
    }


def test_every_fault_is_told_with_its_line_and_without_what_stands_there() -> None:
    with pytest.raises(FilesError) as caught:
        parse("hunter2\nA=1\nA=2\nB=\"hunter2\nC='hunter2\n9=hunter2\nD=hunter2\0", file="f")
    told = str(caught.value)
    assert [line.split(" ")[0] for line in told.splitlines()] == [
        f"f:{number}:1:" for number in (1, 3, 4, 5, 6, 7)
    ]
    assert "hunter2" not in told


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True),
        st.text(st.characters(codec="utf-8")),
    )
)
def test_what_is_written_is_read_back(values: dict[str, str]) -> None:
    assert parse(write(values), file="f") == values
