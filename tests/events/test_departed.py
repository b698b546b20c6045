from gateway.events import departed
from gateway.events.upkeep import Left


def left(last: int, digest: str = "d") -> Left:
    return Left(last=last, root="r", digest=digest)


def told(*kept: Left, start: int, covered: int = 2_000, **said: Left) -> list[tuple[int, int, str]]:
    found = {int(seq.removeprefix("at_")): each for seq, each in said.items()}
    faults = departed.faults(kept, found, start=start, covered=covered)
    return [(fault.first, fault.last, fault.what) for fault in faults]


def test_an_archive_is_believed_by_an_event_under_a_checkpoint() -> None:
    assert told(left(256), start=256, at_1000=left(256)) == []
    assert told(left(256), left(512), start=512, at_1000=left(512)) == []
    assert told(left(256), left(512), start=0, covered=0, at_700=left(256), at_900=left(512)) == []


def test_an_archive_that_no_event_tells_of_is_a_fault() -> None:
    for said in (left(512), left(256, digest="x"), Left(last=256, root="x", digest="d")):
        ((first, last, what),) = told(left(256), start=256, at_1000=said)
        assert (first, last) == (1, 256)
        assert "no event of the log says so" in what
    ((first, last, _),) = told(left(256), left(512), start=256, at_1000=left(256))
    assert (first, last) == (257, 512)


def test_an_event_that_nobody_signed_or_that_came_before_is_none() -> None:
    ((_, _, what),) = told(left(256), start=256, covered=999, at_1000=left(256))
    assert what == "event 1000 says that they were archived, and no checkpoint covers it"
    assert told(left(256), start=0, at_200=left(256)) != []


def test_only_whole_tiles_leave_and_what_was_read_begins_where_an_archive_ended() -> None:
    assert "only whole tiles of 256" in told(left(300), start=300, at_1000=left(300))[0][2]
    assert told(start=256) == [(1, 256, "the store knows of no archive that ends here")]
