"""The only maker of ids: ULIDs, which sort by the time they were made."""

import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_LETTERS = (_ALPHABET * 8).encode()  # by any byte: its last five bits as a letter
_REFILL = 256
_spare: list[bytes] = []  # random bytes, 16 a piece: asking the system for each costs a call


def _random() -> bytes:
    """Return 16 random bytes of the system, each piece used once."""
    try:
        return _spare.pop()
    except IndexError:
        block = os.urandom(16 * _REFILL)
        _spare.extend(block[at : at + 16] for at in range(0, len(block), 16))
        return _spare.pop()


os.register_at_fork(after_in_child=_spare.clear)  # or parent and child would share their ids
# The last span of 2^20 milliseconds in letters: all ids of a quarter of an hour share it.
_span: tuple[int, str] = (-1, "")


def ulid() -> str:
    """Return a new ULID: 26 characters, 48 bits of milliseconds, then 80 random bits."""
    global _span  # noqa: PLW0603 - a cache of one pure value; a race only writes it twice
    now = time.time_ns() // 1_000_000
    known, text = _span
    if known != now >> 20:
        text = "".join(_PAIRS[(now >> shift) & 1023] for shift in (40, 30, 20))
        _span = (now >> 20, text)
    random = _random().translate(_LETTERS).decode("ascii")
    return f"{text}{_PAIRS[(now >> 10) & 1023]}{_PAIRS[now & 1023]}{random}"


def new(prefix: str) -> str:
    """Return a new id such as `call_01K…`; the prefix says what the id names."""
    return f"{prefix}_{ulid()}"


def span_id() -> str:
    """Return 16 random hex digits for a span (W3C Trace Context, 3.2.2.4)."""
    return _random()[:8].hex()


def trace_id() -> str:
    """Return 32 random hex digits for a trace (W3C Trace Context, 3.2.2.3)."""
    return _random().hex()
