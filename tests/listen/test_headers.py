"""Headers, as all who look at them find them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.listen.headers import HeaderView

NAMES = (b"host", b"Host", b"mcp-session-id", b"Mcp-Session-Id", b"mcp-name", b"x-1", b"1", b"")
raws = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from([b"a", b"b", b""])), max_size=6)


@given(raws, st.sampled_from([b"host", b"mcp-session-id", b"x-1"]))
def test_the_quick_look_at_a_name_is_that_of_going_through_them_all(
    raw: list[tuple[bytes, bytes]], name: bytes
) -> None:
    view = HeaderView(raw)
    values = [value for key, value in raw if key.lower() == name]
    assert view.first(name) == (values[0] if values else None)
    assert view.differ(name) is (len(set(values)) > 1)


@given(raws)
def test_what_is_plain_has_each_name_once_and_none_in_capitals(
    raw: list[tuple[bytes, bytes]],
) -> None:
    names = [key.lower() for key, _ in raw]
    if HeaderView(raw).is_plain:
        assert len(set(names)) == len(names)
        assert names == [key for key, _ in raw]


def test_the_headers_of_a_usual_request_are_plain() -> None:
    assert HeaderView([(b"host", b"localhost"), (b"x-a", b"B")]).is_plain
    assert not HeaderView([(b"host", b"a"), (b"Authorization", b"a")]).is_plain
    assert not HeaderView([(b"host", b"a"), (b"host", b"a")]).is_plain


@pytest.mark.parametrize(
    ("lines", "key"),
    [([], None), ([b""], ""), ([b' "k1"\t'], '"k1"'), ([b"k1", b"k2"], "k1, k2")],
)
def test_a_hosts_key_is_read_as_it_came_and_two_are_a_list(
    lines: list[bytes], key: str | None
) -> None:
    view = HeaderView([(b"idempotency-key", line) for line in lines])
    assert view.idempotency_key == key


@pytest.mark.parametrize(
    ("lines", "run"),
    [([], ""), ([b" run_1\t"], "run_1"), ([b"run_1", b"run_2"], "run_1, run_2")],
)
def test_the_run_is_read_from_the_header_that_names_it_and_two_are_no_name(
    lines: list[bytes], run: str
) -> None:
    raw = [(b"x-run-id", line) for line in lines]
    assert HeaderView(raw, b"x-run-id").run == run
    assert HeaderView(raw, b"x-other").run == ""
    assert HeaderView([(b"", b"run_1")]).run == ""
