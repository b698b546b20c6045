"""Reading the events with the gateway's own command."""

import sys
from pathlib import Path

import pytest

from gateway.demo import journal
from gateway.demo.processes import DemoFault


def test_a_query_that_fails_is_a_fault_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DemoFault, match="`weighbridge events query` failed"):
        journal.events(tmp_path / "missing.yaml")


@pytest.mark.parametrize(("printed", "said"), [("oops", "no JSON"), ("[1]", "no objects")])
def test_a_query_that_prints_anything_but_events_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, said: str
) -> None:
    monkeypatch.setattr(
        journal, "weighbridge", lambda: [sys.executable, "-c", f"print({printed!r})"]
    )
    with pytest.raises(DemoFault, match=said):
        journal.events(tmp_path / "config.yaml")


def test_rows_come_from_lines_and_from_lists_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = '[{"state": "succeeded"}, {"state": "succeeded"}]\n{"state": "ready"}'
    monkeypatch.setattr(
        journal, "weighbridge", lambda: [sys.executable, "-c", f"print({printed!r})"]
    )
    assert journal.operations(tmp_path / "config.yaml") == {"succeeded": 2, "ready": 1}


def test_what_nobody_decided_in_time_is_called_as_its_caller_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"state": "abandoned", "evidence": "nobody decided in time"},
        {"state": "abandoned", "evidence": "nobody has to approve it any more"},
        {"state": "succeeded", "evidence": "in time"},
    ]
    program = f"import json; print(json.dumps({rows!r}))"
    monkeypatch.setattr(journal, "weighbridge", lambda: [sys.executable, "-c", program])
    found = journal.operations(tmp_path / "config.yaml")
    assert found == {"expired": 1, "abandoned": 1, "succeeded": 1}


@pytest.mark.parametrize(
    ("program", "is_refused", "said"),
    [
        ("print('{}')", True, "failed: {}"),  # carried out, though it has to refuse
        ("raise SystemExit(1)", True, "no word why"),
        ("print('{}'); raise SystemExit(2)", True, "failed: {}"),
        ("print('{}'); raise SystemExit(1)", False, "failed: {}"),
    ],
)
def test_a_command_that_ends_otherwise_than_it_has_to_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, is_refused: bool, said: str
) -> None:
    monkeypatch.setattr(journal, "weighbridge", lambda: [sys.executable, "-c", program])
    with pytest.raises(DemoFault, match=said):
        journal.asked(tmp_path / "config.yaml", "approvals", "approve", is_refused=is_refused)


def test_a_command_that_has_to_refuse_says_why_in_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """print('{"cast": "too_late"}'); raise SystemExit(1)"""
    monkeypatch.setattr(journal, "weighbridge", lambda: [sys.executable, "-c", program])
    rows = journal.asked(tmp_path / "config.yaml", "approvals", "approve", is_refused=True)
    assert rows == ({"cast": "too_late"},)
