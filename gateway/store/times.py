"""Times as the store keeps them: whole microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    """Return a time as the store keeps it, exact."""
    return (at - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """Return the time that a kept number stands for."""
    return _EPOCH + timedelta(microseconds=value)
