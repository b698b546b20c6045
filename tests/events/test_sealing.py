from gateway.events import sealing
from gateway.types.audit import SealedCopy
from gateway.types.json import Json
from tests.helpers.events import an_event

COPY = SealedCopy(key="k1", wrapped="w", content="c")


def test_an_event_tells_of_its_copy_by_key_digest_and_size() -> None:
    event = sealing.with_copy(an_event(), COPY, 17)
    assert event.sealed is COPY
    assert event.body["sealed"] == {"key": "k1", "digest": sealing.digest("c"), "bytes": 17}
    assert sealing.told(event.body) == ("k1", sealing.digest("c"))


def test_an_event_may_say_why_there_is_no_copy() -> None:
    event = sealing.without_copy(an_event(), "no key")
    assert (event.sealed, event.body["sealed"]) == (None, {"failed": "no key"})
    assert sealing.told(event.body) == ("", "")


def test_what_tells_of_no_copy_tells_nothing() -> None:
    bodies: list[Json] = [{}, None, {"sealed": "x"}, {"sealed": {"key": 1, "digest": "d"}}]
    for body in bodies:
        assert sealing.told(body) == ("", "")


def test_no_two_places_are_the_same_bytes() -> None:
    places = [
        sealing.place("a", "b", "c"),
        sealing.place("ab", "", "c"),
        sealing.place("a", "c", "b"),
        sealing.key_place("a", "b", "", "c"),
        sealing.key_place("a", "", "b", "c"),
    ]
    assert len(set(places)) == len(places)
