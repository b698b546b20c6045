import pytest

from gateway.servers import givenup
from tests.helpers.fake_server import until_async


async def test_a_call_is_given_up_until_it_is_answered_or_forgotten() -> None:
    given_up = givenup.GivenUp()
    assert not given_up
    given_up.add(1, briefly=False)
    assert given_up
    given_up.discard(1)
    given_up.discard(2)
    assert not given_up


async def test_what_owes_no_answer_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(givenup, "_BRIEFLY_S", 0.01)
    given_up = givenup.GivenUp()
    given_up.add(1, briefly=True)
    assert given_up
    await until_async(lambda: not given_up)


async def test_a_server_that_answers_nothing_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(givenup, "_MOST", 1)
    given_up = givenup.GivenUp()
    given_up.add(1, briefly=False)
    given_up.add(2, briefly=False)
    given_up.discard(1)
    assert not given_up
