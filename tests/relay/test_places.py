"""Places for calls that are held."""

from contextlib import ExitStack

import pytest

from gateway.relay.places import Places


def test_there_are_so_many_for_all_a_quarter_for_one_and_four_for_one_request() -> None:
    with ExitStack() as taken:
        places = Places(most=32)
        assert [taken.enter_context(places.take("ada", "apr_1")) for _ in range(5)] == [
            *[True] * 4,
            False,
        ]
        ada = [taken.enter_context(places.take("ada", f"apr_{at}")) for at in range(2, 8)]
        assert ada == [*[True] * 4, False, False]
        others = [taken.enter_context(places.take(at, f"apr_1{at}")) for at in range(30)]
        assert others.count(True) == 32 - 8


def test_a_place_is_free_again_however_its_call_ends() -> None:
    places = Places(most=1)

    def fails() -> None:
        with places.take("ada", "apr_1") as has_place:
            assert has_place
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    with places.take("bo", "apr_1") as has_place, places.take("bo", "apr_2") as has_other:
        assert (has_place, has_other) == (True, False)
    with places.take("cy", "apr_2") as has_place:
        assert has_place
