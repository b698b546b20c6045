"""Moments as people type them: a time in UTC, or how long ago, or from now."""

from datetime import datetime, timedelta

from gateway.cli import output
from gateway.clock import SystemClock
from gateway.config.units import parse_duration


def earlier(text: str) -> datetime | None:
    """Read a time, or an age that counts back from now; None for an empty text."""
    return _moment(text, -1, "an age (24h)")


def later(text: str) -> datetime | None:
    """Read a time to come, or a span that counts from now; None for an empty text."""
    found = _moment(text, 1, "a span (90d)")
    if found is not None and found <= SystemClock().now():
        output.fail(f"`{text}` is over already")
    return found


def seconds(text: str) -> float:
    """Read a span of time."""
    try:
        return parse_duration(text)
    except ValueError:
        output.fail(f"`{text}` is not a span of time; write it like `60s` or `5m`")


def age(at: int) -> str:
    """Say in one unit how long ago a time of the store was (microseconds since 1970)."""
    return _span(SystemClock().time_ns() // 1000 - at)


def left(at: int) -> str:
    """Say in one unit how far a time of the store is ahead; `over` when it isn't."""
    ahead = at - SystemClock().time_ns() // 1000
    return _span(ahead) if ahead > 0 else "over"


def _span(microseconds: int) -> str:
    seconds = max(0, microseconds) // 1_000_000
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _moment(text: str, direction: int, other: str) -> datetime | None:
    if not text:
        return None
    now = SystemClock().now()
    try:
        if text[0].isdigit() and text[-1] in "smhd":
            return now + direction * timedelta(seconds=parse_duration(text))
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        output.fail(f"`{text}` is neither a time (2026-11-29T09:00:00) nor {other}")
    return found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)
