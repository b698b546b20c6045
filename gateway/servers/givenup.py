"""Calls over a pipe that nobody waits for any more, and of which their server may still speak."""

import asyncio
from typing import Final

_MOST: Final = 10_000
_BRIEFLY_S: Final = 60.0


class GivenUp:
    """The ids of calls that were given up; true while there is one. Owned by one connection."""

    def __init__(self) -> None:
        self._ids: set[int] = set()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._ids)

    def add(self, number: int, *, briefly: bool) -> None:
        """Note a call until it is answered, or only for a minute."""
        if len(self._ids) >= _MOST:
            return
        self._ids.add(number)
        if briefly:
            asyncio.get_running_loop().call_later(_BRIEFLY_S, self._ids.discard, number)

    def discard(self, number: int) -> None:
        """Forget one: it was answered."""
        self._ids.discard(number)
