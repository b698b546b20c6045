"""What left the log for archives, on both engines."""

from datetime import timedelta

from gateway.actions.departures import Departed, left
from gateway.store.store import Store
from tests.helpers.cases import NOW


async def test_where_nothing_left_there_is_nothing_to_say(store: Store) -> None:
    assert await left(store) is None


def test_a_time_that_begins_later_than_all_of_it_has_lost_nothing() -> None:
    found = Departed(size=512, at=NOW)
    assert [found.is_about(each) for each in (None, NOW, NOW + timedelta(seconds=1))] == [
        *(True, True, False),
    ]


def test_the_last_archives_are_named() -> None:
    assert Departed(size=512, at=NOW).named == Departed(size=512, at=NOW).said
    some = Departed(size=512, at=NOW, files=("b", "a"))
    assert some.named == "events 1 to 512 left the log for archives, and are not here: `b`, `a`"
    many = Departed(size=512, at=NOW, files=("d", "c", "b", "a"))
    assert many.named.endswith("not here: `d`, `c`, `b` and older ones")
