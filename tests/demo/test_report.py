"""What a person sees of the demo."""

import io

from gateway.demo import report
from gateway.demo.agent import Said
from gateway.demo.helpdesk import Totals
from gateway.demo.script import STEPS
from gateway.demo.table import WIDTH, Printer
from gateway.types.json import JsonObject


def test_each_call_shows_verdict_rule_and_reason_within_the_width() -> None:
    out = io.StringIO()
    printer = Printer(out, False)
    report.calls_head(printer)
    for number, step in enumerate(STEPS, 1):
        said = Said(status=step.status, reason="because " * 20, rule=step.rule)
        report.call(printer, number, report.Ended(step=step, said=said, difference=""))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    rows = [line for line in lines if line[:2].strip().isdigit()]
    for row, step in zip(rows, STEPS, strict=True):
        assert step.status in row
        assert step.rule in row


def test_an_unexpected_end_is_called_so() -> None:
    out = io.StringIO()
    ended = report.Ended(
        step=STEPS[0], said=Said(status="denied", reason="no"), difference="expected ok"
    )
    report.call(Printer(out, False), 1, ended)
    assert "UNEXPECTED: expected ok" in out.getvalue()


def test_the_events_of_the_chosen_calls_are_shown_and_all_are_counted() -> None:
    out = io.StringIO()
    event: JsonObject = {"seq": 7, "kind": "authorization", "stage": "decided", "tenant": "acme"}
    body: JsonObject = {
        "tool": "desk.refund",
        "decision": "allow",
        "status": "ok",
        "rule": "desk.refund.small",
    }
    report.events(
        Printer(out, False),
        [{**event, "call": "call_1", "body": body}, {**event, "call": "call_2", "body": body}],
        ["call_1"],
    )
    lines = out.getvalue().splitlines()
    assert lines[1].startswith("2 events were kept; these are the 1 ")
    assert lines[-1].split() == [
        "7", "authorization", "decided", "acme", "desk.refund", "allow", "desk.refund.small"
    ]  # fmt: skip


def test_the_books_and_the_trace_are_told_in_one_line() -> None:
    totals = Totals(customers=6, notes=2, refunds=1, refunded_cents=2550)
    assert report.books(totals) == "1 refund, 25.50 EUR in all; 2 notes; 6 customers"
    assert report.trace("ab", "http://c:4318") == "ab, sent to http://c:4318"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in report.trace("ab", "")


def test_one_difference_or_one_event_outside_of_the_trace_spoils_the_demo() -> None:
    said = Said(status="ok", reason="")
    good = report.Ended(step=STEPS[0], said=said, difference="")
    bad = report.Ended(step=STEPS[0], said=said, difference="expected denied")
    event: JsonObject = {"call": "call_1", "trace_id": "ab"}
    reload: JsonObject = {"kind": "admin"}
    assert report.is_good([good], [event, reload], "ab")
    assert not report.is_good([good, bad], [event], "ab")
    assert not report.is_good([good], [{**event, "trace_id": "cd"}], "ab")
