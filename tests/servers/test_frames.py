"""Line framing."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.servers.frames import LineFrames, Oversized, id_in


def lines(frames: LineFrames, *pieces: bytes) -> list[bytes | Oversized]:
    return [line for piece in pieces for line in frames.feed(piece)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_of_any_size_give_the_same_lines(size: int) -> None:
    data = 'first\n{"ř":"\u2028"}\n\nlast\nunfinished'.encode()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert lines(LineFrames(100), *pieces) == [b"first", '{"ř":"\u2028"}'.encode(), b"", b"last"]


@given(st.lists(st.text("\nxy", max_size=8), max_size=6))
def test_lines_are_the_same_however_they_come(pieces: list[str]) -> None:
    data = [piece.encode() for piece in pieces]
    one_by_one = [bytes([byte]) for piece in data for byte in piece]
    assert lines(LineFrames(5), *data) == lines(LineFrames(5), *one_by_one)


def test_a_line_as_long_as_the_cap_passes_and_one_byte_more_does_not() -> None:
    """case: STD-05"""
    assert lines(LineFrames(10), b"x" * 10 + b"\n") == [b"x" * 10]
    assert lines(LineFrames(10), b"x" * 11 + b"\n") == [Oversized(size=11, answers=None)]


def test_the_line_after_an_oversized_one_is_found() -> None:
    """case: STD-05"""
    frames = LineFrames(50)
    got = lines(frames, b'{"jsonrpc":"2.0","id":7,"result":"', b"x" * 1000, b'"}\nnext\n')
    assert got == [Oversized(size=1036, answers=7), b"next"]


def test_an_endless_line_takes_bounded_memory() -> None:
    frames = LineFrames(100_000)
    piece = b"x" * 65_536
    tracemalloc.start()
    try:
        for _ in range(500):
            assert not list(frames.feed(piece))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":12,"result":{"mean":NaN}}', b"", 12),
        (b'{"id": 5 ,"x', b"", 5),
        (b'{"result":{"id":5,', b'"x":1},"id":9}', 9),
        (b'{"result":{"id":5,', b'"x":1},"id":9,"jsonrpc":"2.0"}', 9),
        (b'{"result":', b'{"a":1,"id":5}}', None),  # an id inside the data
        (b'{"result":{"id":5,', b'"x":1}}', None),
        (b'{"jsonrpc":"2.0","id":"12","result', b"", None),
        (b"noise", b"noise", None),
    ],
)
def test_an_id_is_only_believed_where_it_can_be_nothing_else(
    head: bytes, tail: bytes, expected: int | None
) -> None:
    assert id_in(head, tail or head) == expected
