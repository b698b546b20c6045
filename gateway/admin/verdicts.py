"""How something went, in one word, a sign and a tone: never by its colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gateway.actions.timeline import Line
from gateway.approvals.visible import visible

Tone = Literal["yes", "no", "ask", "run", "plain"]

_SIGNS: Final[Mapping[Tone, str]] = {"yes": "✓", "no": "✕", "ask": "?", "run": "›", "plain": "·"}
_WORDS: Final[Mapping[str, str]] = {
    "allow": "allowed",
    "deny": "denied",
    "require_approval": "asked about",
    "ok": "done",
    "approval_pending": "waits",
    "indeterminate": "nobody knows",
}
_GOOD: Final = frozenset({"allow", "ok", "succeeded", "completed", "approved", "consumed"})
_OPEN: Final = frozenset(
    {
        *("require_approval", "pending", "approval_pending", "awaiting_approval", "paused"),
        *("in_progress", "handoff", "blocked", "escalated"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How something went."""

    tone: Tone
    sign: str
    word: str  # empty where there is nothing to say


def verdict(line: Line) -> Verdict:
    """Return how one thing that happened went."""
    return of(
        line.outcome, is_bad=line.is_bad, is_run=line.kind == "run", is_admin=line.kind == "admin"
    )


def of(
    outcome: str, *, is_bad: bool = False, is_run: bool = False, is_admin: bool = False
) -> Verdict:
    """Return how something went that has an outcome."""
    tone = _tone(outcome, is_bad=is_bad, is_run=is_run)
    word = "" if is_admin else visible(_WORDS.get(outcome, outcome.replace("_", " ")))
    return Verdict(tone=tone, sign=_SIGNS[tone], word=word)


def _tone(outcome: str, *, is_bad: bool, is_run: bool) -> Tone:
    if is_bad or outcome == "deny":
        return "no"
    if outcome in _OPEN:
        return "ask"
    if outcome in _GOOD:
        return "yes"
    return "run" if is_run else "plain"
