"""The only maker of ids: ULIDs, which sort by the time they were made."""

import os
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)


def ulid() -> str:
    """Return a new ULID: 26 characters, 48 bits of milliseconds, then 80 random bits."""
    value = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    pairs = [_PAIRS[(value >> shift) & 1023] for shift in range(120, -1, -10)]
    return "".join(pairs)


def new(prefix: str) -> str:
    """Return a new id such as `call_01K…`; the prefix says what the id names."""
    return f"{prefix}_{ulid()}"


def span_id() -> str:
    """Return 16 random hex digits for a span (W3C Trace Context, 3.2.2.4)."""
    return os.urandom(8).hex()


def trace_id() -> str:
    """Return 32 random hex digits for a trace (W3C Trace Context, 3.2.2.3)."""
    return os.urandom(16).hex()
