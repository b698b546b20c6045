"""Seals: only we make them, read them, and only for as long as they hold."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.clock import SystemClock
from gateway.relay.seals import SealBroken, Seals
from tests.helpers.relays import KEY


@dataclass
class Stopped(SystemClock):
    """A clock that stands still until it is moved."""

    at: datetime = datetime(2026, 11, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


def test_what_was_sealed_opens_for_its_purpose_only() -> None:
    seals = Seals(KEY, SystemClock())
    token = seals.seal("task", {"id": "t", "n": 10**30})
    assert seals.open("task", token) == {"id": "t", "n": 10**30}
    with pytest.raises(SealBroken):
        seals.open("request-state", token)


def test_a_token_names_the_worker_that_made_it_and_opens_at_any() -> None:
    token = Seals(KEY, SystemClock(), mark="w2").seal("task", {"id": "t"})
    assert token.startswith("wb1.w2.")
    for mark in ("", "w1", "w2"):
        seals = Seals(KEY, SystemClock(), mark=mark)
        assert seals.open("task", token) == {"id": "t"}
        for wrong in (".w2.", ".x2.", ".w2.w2.", "..", ".w1234."):
            made_up = token.replace(".w2.", wrong)
            if made_up != token:
                with pytest.raises(SealBroken):
                    seals.open("task", made_up)


def test_another_key_opens_nothing() -> None:
    token = Seals(KEY, SystemClock()).seal("task", {})
    with pytest.raises(SealBroken):
        Seals(b"x" * 32, SystemClock()).open("task", token)


@given(data=st.data())
def test_no_changed_sign_goes_unnoticed(data: st.DataObject) -> None:
    seals = Seals(KEY, SystemClock())
    token = seals.seal("task", {"id": "t"})
    at = data.draw(st.integers(0, len(token) - 1))
    sign = data.draw(st.sampled_from("abcXYZ019-_.~é "))
    changed = token[:at] + sign + token[at + 1 :]
    if changed == token:
        return
    try:
        opened = seals.open("task", changed)
    except SealBroken:
        return
    # The last sign holds bits that mean nothing: then it is the same token in another spelling.
    assert at == len(token) - 1
    assert opened == {"id": "t"}


@pytest.mark.parametrize("token", ["", "wb1.", "wb1.AAAA", "wb2.AAAA", "x" * 70_000, "wb1.é"])
def test_other_texts_are_no_tokens(token: str) -> None:
    with pytest.raises(SealBroken):
        Seals(KEY, SystemClock()).open("task", token)


def test_a_token_with_an_end_does_not_open_after_it() -> None:
    clock = Stopped()
    seals = Seals(KEY, clock)
    token, lasting = seals.seal("task", {}, for_s=10), seals.seal("task", {})
    clock.at += timedelta(seconds=9)
    assert seals.open("task", token) == {}
    clock.at += timedelta(seconds=1)
    with pytest.raises(SealBroken, match="too old"):
        seals.open("task", token)
    clock.at += timedelta(days=400)
    assert seals.open("task", lasting) == {}
