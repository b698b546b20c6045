"""How requests come in, judged once for each manner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.listen import manners
from gateway.listen.headers import HeaderView
from gateway.listen.manners import Manners, accepts, is_json
from gateway.listen.origin import OriginCheck

VALUES = {
    b"host": [b"localhost", b"127.0.0.1:1", b"evil.example", b"\xe9"],
    b"origin": [b"http://localhost", b"https://evil.example"],
    b"mcp-protocol-version": [b"2026-07-28", b" 2026-07-28", b"2025-11-25", b"2099-01-01", b""],
    b"content-type": [b"application/json", b"text/plain"],
    b"accept": [b"*/*", b"application/json", b"application/json, text/event-stream"],
    b"mcp-method": [b"tools/call", b" tools/call ", b"tools/list", b"\xe9"],
    b"X-Other": [b"a"],
}
lines = st.sampled_from([*VALUES]).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[name]))
)
KEPT = Manners(OriginCheck())


@given(st.lists(lines, max_size=9))
def test_a_manner_is_the_same_from_memory_as_it_is_judged(raw: list[tuple[bytes, bytes]]) -> None:
    judged = Manners(OriginCheck()).of(HeaderView(raw))
    view = HeaderView([*raw])
    assert KEPT.of(view) == judged
    assert KEPT.of(view) == judged


def _view(**changes: bytes) -> HeaderView:
    usual = {"host": b"localhost", "accept": b"*/*", "content-type": b"application/json"}
    found = {**usual, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return HeaderView([(name.encode(), value) for name, value in found.items()])


def test_the_first_version_header_tells_the_era_and_none_is_a_handshake() -> None:
    old, new = (b"mcp-protocol-version", b"2025-06-18"), (b"mcp-protocol-version", b"2026-07-28")
    eras = [KEPT.of(HeaderView([*raw])).is_handshake for raw in ([], [old, new], [new, old])]
    assert eras == [True, True, False]


def test_a_host_that_is_refused_is_refused_again_and_one_twice_is_known_by_no_other() -> None:
    for _ in range(2):
        refusal = KEPT.of(_view(host=b"evil.example")).refusal
        assert refusal is not None
        assert refusal[0] == 421
        assert KEPT.of(_view()).refusal is None
        twice = KEPT.of(HeaderView([*_view().raw, (b"host", b"localhost")])).refusal
        assert twice is not None
        assert twice[0] == 400


def test_no_more_manners_are_kept_than_memory_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = 0
    check = OriginCheck()
    refuse = check.refuse

    def counting(headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        nonlocal judged
        judged += 1
        return refuse(headers)

    monkeypatch.setattr(check, "refuse", counting)
    monkeypatch.setattr(manners, "_REMEMBERED", 2)
    found = Manners(check)
    for accept in (b"a", b"b", b"a", b"b", b"c", b"c", b"a", b"x" * 2000, b"x" * 2000, b"a"):
        found.of(_view(accept=accept))
    # Two, the third, the first anew, and what is too long each time.
    assert judged == 6


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"application/json", (True, False)),
        (b"text/event-stream", (False, True)),
        (b"*/*", (True, True)),
        (b"APPLICATION/JSON ; q=1, text/*", (True, True)),
        (b"", (False, False)),
        (b"application/jsonp", (False, False)),
    ],
)
def test_accept_is_read_by_media_range(header: bytes, expected: tuple[bool, bool]) -> None:
    assert accepts(header) == expected


def test_a_content_type_is_json_or_it_is_not() -> None:
    assert is_json(b"Application/JSON; charset=utf-8")
    assert not is_json(b"application/json-patch+json")
    assert not is_json(b"")
