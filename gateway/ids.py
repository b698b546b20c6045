"""The only maker of ids: ULIDs, which sort by the time they were made."""

import os
import time
from functools import lru_cache

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_LETTERS = (_ALPHABET * 8).encode()  # by any byte: its last five bits as a letter
_REFILL = 256
# Random bytes, 16 a piece, and random letters: asking the system for each costs a call.
_spare: list[bytes] = []
_spare_letters: list[str] = []


def _block() -> bytes:
    return os.urandom(16 * _REFILL)


def _random() -> bytes:
    """Return 16 random bytes of the system, each piece used once."""
    try:
        return _spare.pop()
    except IndexError:
        block = _block()
    _spare.extend(block[at : at + 16] for at in range(0, len(block), 16))
    return _spare.pop()


def _random_letters() -> str:
    """Return 80 random bits of the system as 16 letters, each piece used once."""
    letters = _block().translate(_LETTERS).decode("ascii")
    _spare_letters.extend(letters[at : at + 16] for at in range(0, len(letters), 16))
    return _spare_letters.pop()


@lru_cache(maxsize=4)  # all ids of a quarter of an hour share it
def _span(at: int) -> str:
    """Return the first six letters of a time, which count spans of 2^20 milliseconds."""
    return "".join(_PAIRS[(at >> shift) & 1023] for shift in (20, 10, 0))


@lru_cache(maxsize=4)  # the ids of one call often share their millisecond
def _moment(at: int) -> str:
    """Return a time in ten letters."""
    return f"{_span(at >> 20)}{_PAIRS[(at >> 10) & 1023]}{_PAIRS[at & 1023]}"


def _forget() -> None:
    _spare.clear()
    _spare_letters.clear()


os.register_at_fork(after_in_child=_forget)  # or parent and child would share their ids


def ulid() -> str:
    """Return a new ULID: 26 characters, 48 bits of milliseconds, then 80 random bits."""
    moment = _moment(time.time_ns() // 1_000_000)
    try:
        return moment + _spare_letters.pop()
    except IndexError:
        return moment + _random_letters()


def new(prefix: str) -> str:
    """Return a new id such as `call_01K…`; the prefix says what the id names."""
    return f"{prefix}_{ulid()}"


def span_id() -> str:
    """Return 16 random hex digits for a span (W3C Trace Context, 3.2.2.4)."""
    return _random()[:8].hex()


def two_span_ids() -> tuple[str, str]:
    """Return two ids of spans, for the price of one."""
    digits = _random().hex()
    return digits[:16], digits[16:]


def trace_id() -> str:
    """Return 32 hex digits for a trace: 48 bits of milliseconds, then 80 random bits.

    The time comes first so that the store's index of traces grows at its end: wholly random ids
    dirty one page of it each, which took half of a writer's time. What a sampler goes by, the last
    56 to 64 bits, is random as it has to be (W3C Trace Context, 3.2.2.3).
    """
    return f"{time.time_ns() // 1_000_000:012x}{_random()[:10].hex()}"
