"""The timeline of a run: phases as bands, and in them each call as one thing, however many events.

Every text from outside is `visible` here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gateway.actions.timeline import Line, moment
from gateway.admin.redacted import in_words
from gateway.admin.verdicts import Verdict, of, verdict
from gateway.approvals.visible import visible
from gateway.types.events import EventKind, Stage
from gateway.types.runs import Phase

PHASES: Final[Mapping[str, str]] = {
    Phase.CREATED: "begun",
    Phase.PLANNING: "planning",
    Phase.RETRIEVING: "reading",
    Phase.ACTING: "acting",
    Phase.AWAITING_APPROVAL: "waiting for people",
    Phase.FINALIZING: "finishing",
    Phase.COMPLETED: "completed",
    Phase.HANDOFF: "handed over",
    Phase.FAILED: "failed",
}
_TURNS: Final = frozenset(
    {
        *(Stage.STARTED, Stage.MOVED, Stage.PAUSED, Stage.RESUMED),
        *(Stage.STOPPED, Stage.HANDED_OVER),
    }
)
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_WIDE: Final = 1000.0  # units of the strip
_SHARE: Final = 0.3  # of the strip that all bands have alike, so that short ones can be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event of a call that says more than how the call went."""

    title: str
    verdict: Verdict
    detail: str
    by: str
    approval: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that happened: a call with all that belongs to it, or something by itself."""

    seq: int
    at: str  # ISO 8601
    time: str
    title: str
    tool: str
    by: str
    verdict: Verdict
    rule: str
    detail: str
    call: str
    approval: str
    steps: Sequence[Step]
    is_call: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A stretch of a run in one phase."""

    phase: str  # for the style; `paused` as well
    words: str
    at: str
    time: str
    lasted: str
    by: str
    note: str
    entries: Sequence[Entry]

    @property
    def calls(self) -> int:
        """How many calls were made in it."""
        return sum(each.is_call for each in self.entries)

    @property
    def refused(self) -> int:
        """And how many of them did not go as somebody wanted."""
        return sum(each.is_call and each.verdict.tone == "no" for each in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A band in the strip above the timeline."""

    phase: str
    words: str
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A call in the strip."""

    tone: str
    x: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What happened, as far as one page tells it."""

    bands: Sequence[Band]
    bars: Sequence[Bar]
    ticks: Sequence[Tick]
    said: str  # the strip in words
    until: str = ""  # the time of the last event
    lasted: str = ""


@dataclass(slots=True, kw_only=True)
class _Open:
    """A band that still grows."""

    phase: str
    line: Line
    is_turn: bool
    lines: list[list[Line]] = field(default_factory=list[list[Line]])


def timeline(lines: Sequence[Line]) -> Timeline:
    """Return what happened as bands, in the order of the log."""
    opened = _bands(lines)
    last = lines[-1].at if lines else ""
    ends = [*(each.line.at for each in opened[1:]), last]
    bands = [_band(each, end) for each, end in zip(opened, ends, strict=False)]
    bars = _bars(bands, ends)
    return Timeline(
        bands=bands,
        bars=bars,
        ticks=_ticks(bands, bars, ends),
        said=_said(bands),
        until=last,
        lasted=lasted(_seconds(bands[0].at, last)) if bands else "",
    )


def _bands(lines: Sequence[Line]) -> list[_Open]:
    opened: list[_Open] = []
    calls: dict[str, list[Line]] = {}
    for each in lines:
        is_turn = each.kind == EventKind.RUN and each.stage in _TURNS
        if is_turn or not opened:
            phase = "paused" if each.stage == Stage.PAUSED else each.phase
            opened.append(_Open(phase=phase, line=each, is_turn=is_turn))
            if is_turn:
                continue
        if each.call in calls and each.kind != EventKind.RUN:
            calls[each.call].append(each)
            continue
        heap = [each]
        opened[-1].lines.append(heap)
        if each.call and each.kind != EventKind.RUN:
            calls[each.call] = heap
    return opened


def _band(opened: _Open, end: str) -> Band:
    line = opened.line
    return Band(
        phase=opened.phase,
        words="paused" if opened.phase == "paused" else PHASES.get(opened.phase, "in no phase"),
        at=line.at,
        time=line.at[11:19],
        lasted=lasted((moment(end) - moment(line.at)).total_seconds()),
        by=visible(line.by) if opened.is_turn else "",
        note=visible(line.detail) if opened.is_turn else "",
        entries=[_entry(each) for each in opened.lines],
    )


def _entry(lines: Sequence[Line]) -> Entry:
    """Join the events of one call; what they come to is what the last one of them says."""
    first = lines[0]
    is_call = first.kind in (EventKind.AUTHORIZATION, EventKind.TOOL_CALL)
    judged = [each for each in lines if each.kind in (EventKind.AUTHORIZATION, EventKind.TOOL_CALL)]
    last = judged[-1] if judged else first
    said = verdict(last)
    if first.kind == EventKind.RUN:  # the band says in which phase
        said = replace(said, word="")
    if is_call and said.tone == "ask":
        said = _asked(lines) or said
    reason = next((each.detail for each in reversed(judged) if each.detail), "")
    return Entry(
        seq=first.seq,
        at=first.at,
        time=first.at[11:19],
        title=_title(is_call, said, last, first),
        tool=visible(first.tool),
        by=visible(first.by),
        verdict=said,
        rule=visible(next((each.rule for each in lines if each.rule), "")),
        detail=visible(in_words(reason if is_call else first.detail)),
        call=first.call,
        approval=next((each.approval for each in lines if each.approval), ""),
        steps=[*_steps(lines[1:])],
        is_call=is_call,
    )


def _title(is_call: bool, said: Verdict, last: Line, first: Line) -> str:
    if not is_call:
        return first.title
    return "called" if last.kind == EventKind.TOOL_CALL and said.tone != "no" else "wanted"


def _asked(lines: Sequence[Line]) -> Verdict | None:
    """Say how people decided about a call that waits for them, if they have."""
    words = [each for each in lines if each.kind == EventKind.APPROVAL and each.outcome]
    return of(words[-1].outcome, is_bad=words[-1].is_bad) if words else None


def _steps(lines: Sequence[Line]) -> Iterator[Step]:
    for each in lines:
        said = verdict(each)
        if each.kind in (EventKind.AUTHORIZATION, EventKind.TOOL_CALL):
            continue
        if not (said.word or each.detail):
            continue
        yield Step(
            title=each.title,
            verdict=said,
            detail=visible(in_words(each.detail)),
            by=visible(each.by) if each.kind == EventKind.APPROVAL else "",
            approval=each.approval,
            seq=each.seq,
        )


def _bars(bands: Sequence[Band], ends: Sequence[str]) -> list[Bar]:
    spans = [_seconds(band.at, end) for band, end in zip(bands, ends, strict=False)]
    whole = sum(spans)
    alike = _WIDE * (_SHARE if whole else 1.0) / max(1, len(bands))
    bars: list[Bar] = []
    x = 0.0
    for band, span in zip(bands, spans, strict=True):
        width = alike + (_WIDE * (1 - _SHARE) * span / whole if whole else 0.0)
        bars.append(Bar(phase=band.phase, words=band.words, x=round(x, 2), width=round(width, 2)))
        x += width
    return bars


def _ticks(bands: Sequence[Band], bars: Sequence[Bar], ends: Sequence[str]) -> list[Tick]:
    ticks: list[Tick] = []
    for band, bar, end in zip(bands, bars, ends, strict=False):
        calls = [each for each in band.entries if each.is_call]
        span = _seconds(band.at, end)
        for number, each in enumerate(calls, 1):
            by_order = number / (len(calls) + 1)
            by_time = _seconds(band.at, each.at) / span if span else by_order
            # Between its time and its turn: calls of one second must not hide each other.
            place = (min(1.0, by_time) + by_order) / 2
            ticks.append(Tick(tone=each.verdict.tone, x=round(bar.x + bar.width * place, 2)))
    return ticks


def _said(bands: Sequence[Band]) -> str:
    parts = [f"{each.words} for {each.lasted}" if each.lasted else each.words for each in bands]
    calls, refused = (sum(getattr(each, name) for each in bands) for name in ("calls", "refused"))
    return f"{', then '.join(parts)}: {calls} calls, {refused} of them refused or failed"


def _seconds(begin: str, end: str) -> float:
    return max(0.0, (moment(end) - moment(begin)).total_seconds())


def lasted(seconds: float) -> str:
    """Say how long something took, in at most two units; empty for less than a second."""
    left, parts = int(seconds), list[str]()
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count and len(parts) < 2:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts)
