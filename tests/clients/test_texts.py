"""What the editors of client files have in common."""

import pytest

from gateway.clients import texts
from gateway.errors import FileError


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a\nb\xff", "f:2:2: not UTF-8; save it as UTF-8"),
        ("{}".encode("utf-16"), "f:1:1: UTF-16; save it as UTF-8"),
        (b" " * (10 << 20), "f: larger than 4096 KiB; is it the right file?"),
    ],
)
def test_what_is_no_text_is_told_with_its_place(data: bytes, said: str) -> None:
    with pytest.raises(FileError) as caught:
        texts.decoded(data, "f")
    assert str(caught.value) == said


def test_lines_and_their_blanks_are_seen() -> None:
    assert texts.line_end("a\r\nb") == "\r\n"
    assert texts.line_end("a\nb\r\n") == "\n"
    assert texts.indentation("a\n  b", 4) == "  "
    assert texts.indentation("a\n x b", 5) is None
    assert texts.skip_blanks("a \tb", 1) == 3
    assert str(texts.fault("is wrong", "a\nbc", 3, "f")) == "f:2:2: is wrong"
    assert len(texts.shown("x" * 100)) == 60
