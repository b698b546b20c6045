"""What a person sees of the demo."""

import io
import shlex

from gateway.demo import report
from gateway.demo.agent import Said
from gateway.demo.helpdesk import Totals
from gateway.demo.scene import Command, Request, Step
from gateway.demo.script import SCRIPT
from gateway.demo.table import WIDTH, Printer
from gateway.types.json import JsonObject

_FIRST = SCRIPT[0]


def test_each_call_shows_verdict_rule_and_reason_within_the_width() -> None:
    out = io.StringIO()
    printer = Printer(out, False)
    report.calls_head(printer)
    for number, line in enumerate(SCRIPT, 1):
        rule = line.rule if isinstance(line, Step) else ""
        said = Said(status=line.status, reason="because " * 20, rule=rule)
        ended = report.Ended(line=line, said=said, difference="")
        report.call(printer, number, ended, in_books="tickets opened: 1")
    lines = out.getvalue().splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    rows = [line for line in lines if line[:2].strip().isdigit()]
    for row, line in zip(rows, SCRIPT, strict=True):
        assert line.status in row
        match line:
            case Step():
                assert line.rule in row
            case Command():
                assert f"$ weighbridge {line.words[0]}" in row
            case Request():
                assert line.asks in row
    assert sum("books: tickets opened: 1" in line for line in lines) == len(SCRIPT)


def test_an_unexpected_end_is_called_so() -> None:
    out = io.StringIO()
    ended = report.Ended(
        line=_FIRST, said=Said(status="denied", reason="no"), difference="expected ok"
    )
    report.call(Printer(out, False), 1, ended)
    assert "UNEXPECTED: expected ok" in out.getvalue()


def test_a_command_that_is_cut_in_its_row_is_told_whole_and_in_one_line() -> None:
    names = {"REQUEST": f"apr_{'0' * 26}", "OP": f"op_{'0' * 26}", "BINDING": "ebe91595"}
    names["RUN"] = f"run_{'0' * 26}"
    for line in (each for each in SCRIPT if isinstance(each, Command)):
        out = io.StringIO()
        words = tuple(names.get(word, word) for word in line.words)
        said = Said(status=line.status, reason="")
        ended = report.Ended(line=line, said=said, difference="", words=words)
        report.call(Printer(out, False), 1, ended)
        whole = f"$ weighbridge {shlex.join(words)}"
        assert sum(whole in shown for shown in out.getvalue().splitlines()) == 1
        assert all(len(shown) <= WIDTH for shown in out.getvalue().splitlines())


def test_a_request_of_a_host_names_the_run_that_it_is_about() -> None:
    out = io.StringIO()
    request = next(line for line in SCRIPT if isinstance(line, Request))
    asked = f"GET /v1/runs/run_{'0' * 26}/package"
    said = Said(status=request.status, reason="")
    ended = report.Ended(line=request, said=said, difference="", words=(asked,))
    report.call(Printer(out, False), 1, ended)
    assert sum(asked in shown for shown in out.getvalue().splitlines()) == 1


def test_the_events_of_the_chosen_calls_are_shown_and_all_are_counted() -> None:
    out = io.StringIO()
    event: JsonObject = {"seq": 7, "kind": "authorization", "stage": "decided", "tenant": "acme"}
    body: JsonObject = {
        "tool": "desk.refund",
        "decision": "allow",
        "status": "ok",
        "rule": "desk.refund.small",
    }
    moved: JsonObject = {**event, "kind": "run", "stage": "moved", "phase": "acting"}
    called, silent, other = (
        report.Ended(
            line=Step(tenant="acme", shows="", tool="t", events_of=name),
            said=Said(status="ok", reason="", call_id=call),
            difference="",
        )
        for name, call in (("the refund", "call_1"), ("", "call_2"), ("the other", "call_9"))
    )
    report.events(
        Printer(out, False),
        [
            {**event, "call": "call_1", "body": body},
            {**event, "call": "call_2", "body": body},
            {**event, "call": "call_3", "parent": "call_1", "body": body},
            {**moved, "call": "call_1", "body": {"template": "refund"}},
        ],
        [silent, called, other],
    )
    lines = out.getvalue().splitlines()
    assert lines[1] == ("4 events were kept; these 3 are of the refund (2) and the other (3)")
    assert lines[-1].split() == ["7", "run", "moved", "acme", "refund", "acting", "-"]
    assert lines[-2].split() == [
        "7", "authorization", "decided", "acme", "desk.refund", "allow", "desk.refund.small"
    ]  # fmt: skip


def test_the_books_the_operations_and_the_trace_are_told_in_one_line() -> None:
    totals = Totals(customers=6, notes=2, opened=1, refunds=2, cancelled=1, refunded_cents=2550)
    assert report.books(totals) == (
        "tickets opened: 1; refunds: 2 (1 cancelled), 25.50 EUR in all; notes: 2; customers: 6"
    )
    counts = {"compensated": 1, "succeeded": 5, "ready": 0, "expired": 1}
    assert report.operations(counts) == "7: 5 succeeded, 1 compensated, 1 expired"
    assert report.trace("ab", "http://c:4318") == "ab, sent to http://c:4318"
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in report.trace("ab", "")


def test_calls_commands_and_requests_are_counted_apart() -> None:
    command = next(line for line in SCRIPT if isinstance(line, Command))
    said = Said(status="", reason="")
    request = next(line for line in SCRIPT if isinstance(line, Request))
    ended = [
        report.Ended(line=_FIRST, said=said, difference=""),
        report.Ended(line=_FIRST, said=said, difference="expected ok"),
        report.Ended(line=command, said=said, difference=""),
        report.Ended(line=request, said=said, difference="expected created"),
    ]
    assert report.verdict(ended) == (
        "1 of 2 calls ended as expected, 1 of 1 commands, and 0 of 1 requests of a host"
    )


def test_one_difference_or_one_event_of_no_agent_spoils_the_demo() -> None:
    said = Said(status="ok", reason="")
    good = report.Ended(line=_FIRST, said=said, difference="")
    bad = report.Ended(line=_FIRST, said=said, difference="expected denied")
    event: JsonObject = {"call": "call_1", "trace_id": "ab"}
    read: JsonObject = {"call": "call_2", "trace_id": "cd", "parent": "call_1"}
    reload: JsonObject = {"kind": "admin"}
    asked: JsonObject = {"kind": "admin", "call": "call_1"}
    assert report.is_good([good], [event, read, reload, asked], "ab")
    assert not report.is_good([good, bad], [event], "ab")
    assert not report.is_good([good], [{**event, "trace_id": "cd"}], "ab")
    assert not report.is_good([good], [event, {**read, "parent": "call_9"}], "ab")
