"""Event streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.servers.sse import EventReader, EventTooLarge, StreamEvent

JSON = '{"a":"ř日本"}'


def events(*pieces: bytes, cap: int = 10_000) -> list[bytes]:
    reader = EventReader(cap)
    return [event.data for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize(
    "form",
    [
        "event: message\r\ndata: {J}\r\n\r\n",
        ": keep-alive\n\nid: 1\ndata:\n\ndata: {J}\n\n",
        "data:{J}\n\n",
        "retry: 50\ndata: {J}\n\n",
        "\ufeffdata: {J}\n\n",
        "data: {J}\r\r",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_every_legal_form_gives_the_same_event(form: str, size: int) -> None:
    """case: HTT-05"""
    data = form.replace("{J}", JSON).encode()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert events(*pieces) == [JSON.encode()]


_LINES = st.sampled_from(
    [
        *("data: {}", "data:{}", "data: ", "data:  ", "data:", "data", "data:x: y", "data: x\r"),
        *("event: message", "event:", "event: a\r", ": hello", "id: 7", "retry: 5", "dato: x"),
        *("", "\r", "\ufeffdata: y", "\ufeff", " data: x", "data: \x00\x0b\x0c\x1c\x85"),
    ]
)
_PIECES = st.lists(_LINES, max_size=5).map(lambda lines: "".join(f"{each}\n" for each in lines))


def _read(pieces: list[bytes], cap: int) -> tuple[list[StreamEvent], str, bool]:
    reader, got = EventReader(cap), list[StreamEvent]()
    try:
        for piece in pieces:
            for event in reader.feed(piece):
                got.append(event)
    except EventTooLarge:
        return got, reader.last_id, True
    return got, reader.last_id, False


@given(st.lists(st.one_of(_PIECES, _LINES), max_size=6), st.sampled_from([9, 16, 1_000]))
def test_events_are_the_same_however_they_come(pieces: list[str], cap: int) -> None:
    data = [piece.encode() for piece in pieces]
    one_by_one = [bytes([byte]) for piece in data for byte in piece]
    assert _read(data, cap) == _read(one_by_one, cap)


def test_lines_of_data_are_joined_by_a_line_feed() -> None:
    assert events(b"data: {\ndata: }\n\n") == [b"{\n}"]


def test_an_unfinished_event_is_no_event() -> None:
    assert events(b"data: {}\n") == []


def test_the_last_id_stays_until_another_comes() -> None:
    reader = EventReader(100)
    got = list(reader.feed(b"id: 7\ndata: a\n\ndata: b\n\nid: 8\ndata: c\n\n"))
    assert [(event.data, event.last_id) for event in got] == [(b"a", "7"), (b"b", "7"), (b"c", "8")]


@pytest.mark.parametrize("field", [b"data: ", b"event: ", b": "])
def test_an_event_larger_than_the_cap_ends_the_stream(field: bytes) -> None:
    with pytest.raises(EventTooLarge):
        events(field + b"x" * 60, b"x" * 60, cap=100)


def test_comments_between_events_do_not_add_up() -> None:
    assert events(*[b": keep-alive\n"] * 100, b"data: x\n\n", cap=50) == [b"x"]
