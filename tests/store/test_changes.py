from typing import cast

import pytest

from gateway.errors import StoreUnavailable
from gateway.store.changes import Change, Made
from gateway.store.engine import Transaction

NOWHERE = cast("Transaction", None)


def test_a_change_says_what_it_came_to_and_whether_its_events_are_kept() -> None:
    change = Change(lambda _: Made("done", keeps_events=False))
    assert change.apply(NOWHERE) == (False, ())
    assert change.value() == "done"


def test_a_change_that_was_taken_back_is_not_made() -> None:
    made: list[int] = []

    def work(_: Transaction) -> Made[None]:
        made.append(1)
        return Made(None)

    change = Change(work)
    change.withdraw()
    assert change.apply(NOWHERE) == (False, ())
    assert made == []


def test_a_refused_change_has_no_value() -> None:
    change = Change(lambda _: Made(1))
    change.refuse(StoreUnavailable("never"))
    with pytest.raises(StoreUnavailable, match="never"):
        change.value()
