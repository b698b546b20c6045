"""What a person sees of the demo: the calls as they fall, then events, trace and books."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.demo.agent import Said, shown_arguments
from gateway.demo.helpdesk import Totals
from gateway.demo.journal import EXPIRED
from gateway.demo.scene import Command, Line, Request, Step
from gateway.demo.table import Cell, Column, Printer, Tone
from gateway.types.json import JsonObject
from gateway.types.operations import OpState
from gateway.types.outcomes import Status

_CALLS: Final = (
    Column(head=" #", width=2),
    Column(head="tenant", width=6),
    Column(head="call", width=52),
    Column(head="verdict", width=17),
    Column(head="rule", width=23),
)
_EVENTS: Final = (
    Column(head=" seq", width=4),
    Column(head="event", width=24),
    Column(head="tenant", width=6),
    Column(head="tool", width=24),
    Column(head="outcome", width=17),
    Column(head="rule", width=23),
)
_INDENT: Final = 12
_INDENT_OF_COMMANDS: Final = 4  # with ids, so that they stay in one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One line of the script with what came of it; an empty difference means: as expected."""

    line: Line
    said: Said
    difference: str
    words: tuple[str, ...] = ()  # of commands and requests: as given, with what they are about


def is_good(ended: Sequence[Ended], found: Sequence[JsonObject], trace_id: str) -> bool:
    """Say whether every line ended as expected, and every event of a call is accounted for.

    It is in the trace of the agents, or of a call that the gateway made for the sake of another.
    """
    calls = [event.get("call") for event in found]
    return all(not each.difference for each in ended) and all(
        event.get("trace_id") == trace_id or event.get("parent") in calls
        for event in found
        if event.get("call") and event.get("kind") != "admin"
    )


def calls_head(printer: Printer) -> None:
    """Write the headers of the calls."""
    printer.line()
    printer.head(_CALLS)


def call(printer: Printer, number: int, ended: Ended, *, in_books: str = "") -> None:
    """Write one line: who asked for what, how it ended, by which rule, and why."""
    line, said = ended.line, ended.said
    is_refused = _is_refused(line, said)
    tone = Tone.REFUSED if is_refused else Tone.GOOD
    cells = (
        Cell(text=f"{number:2}"),
        Cell(text=line.tenant if isinstance(line, Step) else "-"),
        Cell(text=_asked(line, ended.words)),
        Cell(text=said.status, tone=Tone.WRONG if ended.difference else tone),
        Cell(text=said.rule or "-"),
    )
    printer.row(_CALLS, cells)
    printer.below(line.shows, _INDENT, Tone.FAINT)
    if isinstance(line, Command) and not _fits(given := _given(ended.words)):
        printer.below(given, _INDENT_OF_COMMANDS, Tone.FAINT)
    if said.reason:
        printer.below(f"-> {said.reason}", _INDENT)
    if in_books:
        printer.below(f"books: {in_books}", _INDENT)
    if ended.difference:
        printer.below(f"UNEXPECTED: {ended.difference}", _INDENT, Tone.WRONG)


def _is_refused(line: Line, said: Said) -> bool:
    match line:
        case Step():
            return said.status != Status.OK
        case Command():
            return line.is_refused
        case Request():
            return False


def _asked(line: Line, words: Sequence[str]) -> str:
    """Return what fits into the row; a command that is longer is told whole below it."""
    match line:
        case Step():
            return line.tool + shown_arguments(line, _CALLS[2].width - len(line.tool))
        case Command():
            given = _given(words or line.words)
            return given if _fits(given) else f"{_given(line.words[:2])} .."
        case Request():
            return words[0] if words else line.asks


def _given(words: Sequence[str]) -> str:
    return f"$ weighbridge {shlex.join(words)}"


def _fits(text: str) -> bool:
    return len(text) <= _CALLS[2].width


def events(printer: Printer, found: Sequence[JsonObject], ended: Sequence[Ended]) -> None:
    """Write the events of some calls and of what was read for them; the others are counted."""
    told = {
        each.said.call_id: f"{each.line.events_of} ({number})"
        for number, each in enumerate(ended, 1)
        if isinstance(each.line, Step) and each.line.events_of
    }
    shown = [event for event in found if event.get("call") in told or event.get("parent") in told]
    printer.line()
    kept = f"{len(found)} events were kept; these {len(shown)} are of"
    printer.below(f"{kept} {_listed([*told.values()])}", 0)
    printer.head(_EVENTS)
    for event in shown:
        printer.row(_EVENTS, _event(event))


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _event(event: JsonObject) -> Sequence[Cell]:
    body = event.get("body")
    said = body if isinstance(body, dict) else {}
    outcome = said.get("decision") or said.get("status") or said.get("executed") or ""
    if event.get("kind") == "retrieval":
        outcome = f"{said.get('count')} documents"
    if event.get("kind") == "run":
        outcome = str(event.get("phase"))
    return (
        Cell(text=f"{event.get('seq', '')!s:>4}"),
        Cell(text=f"{event.get('kind')} {event.get('stage')}"),
        Cell(text=str(event.get("tenant", ""))),
        Cell(text=str(said.get("tool") or said.get("template", ""))),
        Cell(text=str(outcome) or "-"),
        Cell(text=str(said.get("rule", "")) or "-"),
    )


def books(totals: Totals) -> str:
    """Say what really happened behind the gateway."""
    paid = f"{totals.refunded_cents / 100:.2f} EUR"
    cancelled = f" ({totals.cancelled} cancelled)" if totals.cancelled else ""
    return (
        f"tickets opened: {totals.opened}; refunds: {totals.refunds}{cancelled}, {paid} in all; "
        f"notes: {totals.notes}; customers: {totals.customers}"
    )


def operations(counts: Mapping[str, int]) -> str:
    """Say what became of the calls that change something, in the order of their states."""
    order = (*(state.value for state in OpState), EXPIRED)
    parts = [f"{counts[name]} {name}" for name in order if counts.get(name)]
    return f"{sum(counts.values())}: {', '.join(parts)}"


def trace(trace_id: str, endpoint: str) -> str:
    """Say where the spans of the calls are."""
    if endpoint:
        return f"{trace_id}, sent to {endpoint}"
    return f"{trace_id}; export it with OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"


def verdict(ended: Sequence[Ended]) -> str:
    """Count the calls that ended as expected, the commands, and the requests of hosts."""
    calls = [each.difference for each in ended if isinstance(each.line, Step)]
    commands = [each.difference for each in ended if isinstance(each.line, Command)]
    requests = [each.difference for each in ended if isinstance(each.line, Request)]
    return (
        f"{calls.count('')} of {len(calls)} calls ended as expected, {commands.count('')} of "
        f"{len(commands)} commands, and {requests.count('')} of {len(requests)} requests of a host"
    )
