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
