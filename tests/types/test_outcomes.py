"""The one table of statuses."""

import re
from pathlib import Path

import pytest

from gateway.types.outcomes import TABLE, ErrorClass, Refusal, Status


def test_every_status_has_a_row() -> None:
    assert set(TABLE) == set(Status)


UNHARMED = {Status.OK, Status.INPUT_REQUIRED}


@pytest.mark.parametrize("status", [one for one in Status if one not in UNHARMED])
def test_a_status_that_is_no_success_has_a_class_and_a_next_step(status: Status) -> None:
    row = TABLE[status]
    assert isinstance(row.error_class, ErrorClass)
    assert row.next
    assert row.next[0].islower()
    assert not row.next.endswith(".")


# Written out, so that no status moves to another class unseen: people count by these.
CLASSES = {
    "ok": None,
    "unknown_tool": "routing",
    "invalid_arguments": "model",
    "tool_changed": "environment",
    "tool_quarantined": "tool",
    "unauthenticated": "permission",
    "forbidden": "permission",
    "provenance_failed": "context",
    "phase_blocked": "context",
    "run_conflict": "context",
    "denied": "permission",
    "limit_exceeded": "permission",
    "in_progress": "environment",
    "idempotency_conflict": "model",
    "variant_of": "model",
    "approval_pending": "human_feedback",
    "approval_expired": "human_feedback",
    "approval_denied": "human_feedback",
    "tool_failed": "tool",
    "unavailable": "environment",
    "busy": "environment",
    "timeout": "environment",
    "cancelled": "environment",
    "indeterminate": "verification",
    "input_required": None,
    "postcondition_failed": "verification",
    "result_invalid": "tool",
    "result_too_large": "tool",
    "audit_unavailable": "environment",
    "not_recorded": "environment",
    "internal": "environment",
}


def test_every_status_keeps_its_error_class() -> None:
    assert {status.value: row.error_class for status, row in TABLE.items()} == CLASSES


def test_the_error_classes_are_these_eight_and_each_is_used() -> None:
    eight = {"model", "tool", "context", "routing", "permission", "environment", "verification"}
    assert {each.value for each in ErrorClass} == eight | {"human_feedback"}
    assert {row.error_class for row in TABLE.values()} - {None} == set(ErrorClass)


def test_the_page_of_statuses_lists_each_with_its_class() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "statuses.md"
    lines = re.findall(r"^\| `(\w+)` \| (\w+|–) \|", page.read_text("utf-8"), re.MULTILINE)
    assert lines == [(status, kind or "–") for status, kind in CLASSES.items()]


@pytest.mark.parametrize("status", Status)
def test_a_refusal_has_the_row_of_its_status(status: Status) -> None:
    assert Refusal(status=status, reason="").row is TABLE[status]


def test_no_status_and_so_no_class_is_there_for_show() -> None:
    gateway = Path(__file__).parents[2] / "gateway"
    told = {
        name
        for path in gateway.rglob("*.py")
        if path != gateway / "types" / "outcomes.py"
        for name in re.findall(r"\bStatus\.([A-Z_]+)\b", path.read_text("utf-8"))
    }
    assert told >= {status.name for status in Status}
