"""Progress that rises."""

from decimal import Decimal

from gateway.servers.rising import Rising


def test_only_rising_numbers_are_progress() -> None:
    rising = Rising()
    assert rising.accept({"progress": Decimal("0.5"), "total": 2, "message": 5}) == (0.5, 2.0, None)
    for value in (0.5, 0.4, True, "1", None, 10**400):
        assert rising.accept({"progress": value}) is None
    assert rising.accept(None) is None
    assert rising.accept({"progress": 1}) == (1.0, None, None)
