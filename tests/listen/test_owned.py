"""Whose a session is, and how long it stays."""

from datetime import UTC, datetime

from gateway.listen.owned import OwnedSessions, Session
from tests.listen.house import a_principal

ADA, BOB = a_principal("ada"), a_principal("bob", tenant="t2")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)

    def time_ns(self) -> int:
        return int(self.seconds * 1e9)

    def monotonic(self) -> float:
        return self.seconds


def _sessions(clock: Clock, most: int = 3) -> OwnedSessions:
    return OwnedSessions(clock, most_of_one=most, idle_s=10)


def _open(sessions: OwnedSessions, session_id: str) -> Session:
    assert sessions.admit(ADA.owner) is not None
    sessions.opened(session_id, ADA.owner)
    found = sessions.find(session_id, ADA)
    assert found is not None
    return found


def test_a_session_is_found_for_its_owner_alone() -> None:
    sessions = _sessions(Clock())
    _open(sessions, "s1")
    assert sessions.find("s1", a_principal("ada")) is not None
    for other in (BOB, a_principal("ada", tenant="t2"), a_principal("bob")):
        assert sessions.find("s1", other) is None
    assert sessions.find("s2", ADA) is None
    sessions.forget("s1")
    assert sessions.find("s1", ADA) is None


def test_openings_at_the_same_time_count_each_other() -> None:
    sessions = _sessions(Clock(), most=2)
    assert sessions.admit(ADA.owner) == ""
    assert sessions.admit(ADA.owner) == ""
    assert sessions.admit(ADA.owner) is None
    assert sessions.admit(BOB.owner) == ""
    sessions.not_opened(ADA.owner)
    assert sessions.admit(ADA.owner) == ""


def test_the_longest_unused_idle_session_makes_room_and_counts_no_more() -> None:
    sessions = _sessions(Clock())
    first, second = _open(sessions, "s1"), _open(sessions, "s2")
    _open(sessions, "s3")
    sessions.begin(first, 1)
    sessions.begin(second, 2)
    sessions.end(second, 2)
    assert sessions.admit(ADA.owner) == "s3"  # the first is busy, the second was used later
    assert [each.session_id for each in sessions.all()] == ["s1", "s2"]
    sessions.opened("s4", ADA.owner)
    assert sessions.admit(BOB.owner) == ""


def test_a_session_expires_when_nothing_has_used_it_for_too_long() -> None:
    clock = Clock()
    sessions = _sessions(clock)
    assert sessions.next_in_s() == 10
    busy, _, used = (_open(sessions, name) for name in ("s1", "s2", "s3"))
    sessions.begin(busy, 1)
    clock.seconds += 6
    sessions.begin(used, 1)
    sessions.end(used, 1)
    assert sessions.next_in_s() == 4
    assert sessions.expired() == []
    clock.seconds += 4
    assert sessions.next_in_s() == 0
    assert sessions.expired() == ["s2"]
    assert sessions.next_in_s() == 6
    clock.seconds += 100
    assert sessions.expired() == ["s3"]  # never one that is in use
    sessions.end(busy, 1)
    clock.seconds += 10
    assert sessions.expired() == ["s1"]
    assert sessions.all() == []


def test_the_ids_of_requests_under_way_are_known() -> None:
    sessions = _sessions(Clock())
    session = _open(sessions, "s1")
    sessions.begin(session, "a", "stands for a")
    sessions.begin(session, 0)
    sessions.begin(session, None)
    assert session.requests == {"a": "stands for a", 0: 0}
    assert sessions.known("s1", "a") == "stands for a"
    assert sessions.known("s1", "b") == sessions.known("s2", "a") == ""
    for request_id in ("a", 0, None):
        sessions.end(session, request_id)
    assert (session.requests, session.serving) == ({}, 0)


def test_the_end_of_a_request_does_not_bring_an_ended_session_back() -> None:
    sessions = _sessions(Clock())
    session = _open(sessions, "s1")
    sessions.begin(session, 1)
    sessions.forget("s1")
    sessions.end(session, 1)
    assert sessions.all() == []
