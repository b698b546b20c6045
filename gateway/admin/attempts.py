"""How often somebody may begin to log in at the identity provider."""

from typing import Final

from gateway.clock import Clock

_WINDOW_S: Final = 60.0
_PER_PEER: Final = 60  # a proxy is one address for all who come through it
_IN_ALL: Final = 300


class Attempts:
    """Counts tries, by address and in all, within a minute.

    This keeps them from being work for the provider. What is kept is bounded by the tries that are
    let through.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.monotonic()
        self._by_peer: dict[str, int] = {}

    def let(self, peer: str) -> bool:
        """Count a try, and say whether it may be made."""
        now = self._clock.monotonic()
        if now - self._since >= _WINDOW_S:
            self._since, self._by_peer = now, {}
        tried = self._by_peer.get(peer, 0)
        if tried >= _PER_PEER or sum(self._by_peer.values()) >= _IN_ALL:
            return False
        self._by_peer[peer] = tried + 1
        return True
