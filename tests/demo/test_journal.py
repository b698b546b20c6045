"""Reading the events with the gateway's own command."""

from pathlib import Path

import pytest

from gateway.demo import journal
from gateway.demo.processes import DemoFault
from gateway.types.json import JsonObject


def test_the_rule_of_a_call_is_the_one_of_its_authorization() -> None:
    found: list[JsonObject] = [
        {"call": "call_1", "kind": "tool_call", "body": {"rule": "no.one"}},
        {"call": "call_2", "kind": "authorization", "body": {"rule": "crm.read"}},
        {"call": "call_1", "kind": "authorization", "body": {"rule": "crm.note"}},
    ]
    assert journal.rule_of(found, "call_1") == "crm.note"
    assert journal.rule_of(found, "call_3") == ""


def test_a_query_that_fails_is_a_fault_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DemoFault, match="`weighbridge events query` failed"):
        journal.events(tmp_path / "missing.yaml")
