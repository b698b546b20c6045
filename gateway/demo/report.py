"""What a person sees of the demo: the calls as they fall, then events, trace and books."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.demo.agent import Said, shown_arguments
from gateway.demo.helpdesk import Totals
from gateway.demo.script import Step
from gateway.demo.table import Cell, Column, Printer, Tone
from gateway.types.json import JsonObject
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One step with what came of it; an empty difference means: as expected."""

    step: Step
    said: Said
    difference: str


def is_good(ended: Sequence[Ended], found: Sequence[JsonObject], trace_id: str) -> bool:
    """Say whether every call ended as expected, and every event of a call is in the trace."""
    traced = all(event.get("trace_id") == trace_id for event in found if event.get("call"))
    return traced and all(not each.difference for each in ended)


def calls_head(printer: Printer) -> None:
    """Write the headers of the calls."""
    printer.line()
    printer.head(_CALLS)


def call(printer: Printer, number: int, ended: Ended) -> None:
    """Write one call: who asked for what, how it ended, by which rule, and why."""
    step, said = ended.step, ended.said
    tone = Tone.GOOD if said.status == Status.OK else Tone.REFUSED
    asked = step.tool + shown_arguments(step, _CALLS[2].width - len(step.tool))
    cells = (
        Cell(text=f"{number:2}"),
        Cell(text=step.tenant),
        Cell(text=asked),
        Cell(text=said.status, tone=Tone.WRONG if ended.difference else tone),
        Cell(text=said.rule or "-"),
    )
    printer.row(_CALLS, cells)
    printer.below(step.shows, _INDENT, Tone.FAINT)
    if said.reason:
        printer.below(f"-> {said.reason}", _INDENT)
    if ended.difference:
        printer.below(f"UNEXPECTED: {ended.difference}", _INDENT, Tone.WRONG)


def events(printer: Printer, found: Sequence[JsonObject], calls: Sequence[str]) -> None:
    """Write the events of some calls; the others are counted."""
    printer.line()
    shown = [event for event in found if event.get("call") in calls]
    printer.line(
        f"{len(found)} events were kept; these are the {len(shown)} of the look-up (3), the refund "
        "(4) and the refund that was held (5)"
    )
    printer.head(_EVENTS)
    for event in shown:
        printer.row(_EVENTS, _event(event))


def _event(event: JsonObject) -> Sequence[Cell]:
    body = event.get("body")
    said = body if isinstance(body, dict) else {}
    outcome = said.get("decision") or said.get("status") or said.get("executed") or ""
    if event.get("kind") == "retrieval":
        outcome = f"{said.get('count')} documents"
    return (
        Cell(text=f"{event.get('seq', '')!s:>4}"),
        Cell(text=f"{event.get('kind')} {event.get('stage')}"),
        Cell(text=str(event.get("tenant", ""))),
        Cell(text=str(said.get("tool", ""))),
        Cell(text=str(outcome) or "-"),
        Cell(text=str(said.get("rule", "")) or "-"),
    )


def books(totals: Totals) -> str:
    """Say what really happened behind the gateway."""
    return (
        f"{totals.refunds} refund, {totals.refunded_cents / 100:.2f} EUR in all; "
        f"{totals.notes} notes; {totals.customers} customers"
    )


def trace(trace_id: str, endpoint: str) -> str:
    """Say where the spans of the calls are."""
    if endpoint:
        return f"{trace_id}, sent to {endpoint}"
    return f"{trace_id}; export it with OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"
