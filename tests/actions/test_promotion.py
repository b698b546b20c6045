"""From recorded calls to tests that pass."""

from typing import Any

from gateway.actions import promotion, templates, trial
from gateway.policy import cases, testing
from gateway.policy.past import Past
from gateway.revision import Revision
from gateway.types.decisions import DecisionEffect
from gateway.types.json import JsonObject
from gateway.types.runs import Phase
from tests.helpers.edits import a_revision
from tests.helpers.pasts import a_past

REVISION = a_revision()
WHY = "it was redacted"


def refund(**changes: Any) -> Past:
    arguments: JsonObject = {"amount": 50.0, "currency": "EUR"}
    fields: dict[str, Any] = {
        "key": "pay.refund",
        "server": "pay",
        "arguments": arguments,
        "rule": "refund.small",
    }
    return a_past(**(fields | changes))


def passes(pasts: list[Past], revision: Revision = REVISION) -> str:
    """Promote calls and return the file, after it was seen to pass."""
    promoted = promotion.promote(pasts, revision, of="run r")
    text = promotion.text(promoted, revision, of="run r")
    known = templates.known(revision.templates)
    found = cases.load(text, file="t.yaml").cases(revision.contracts, known)
    report = testing.run(
        found, revision.policy, validate=trial.validate(revision), decide=trial.decide(revision)
    )
    assert report.failed == 0, report.text()
    return text


def test_a_call_becomes_a_test_that_passes() -> None:
    text = passes(
        [
            refund(),
            refund(
                call="call_2",
                arguments={"amount": 5000.0, "currency": "EUR"},
                decided=DecisionEffect.DENY,
                rule="",
                code="no_matching_rule",
            ),
        ]
    )
    assert text.count("  - {name: ") == 2


def test_a_value_that_was_redacted_is_left_out_and_told() -> None:
    past = refund(
        arguments={"amount": 50.0, "currency": "EUR", "note": "[redacted]"},
        unknown={"/note": WHY},
    )
    text = passes([past])
    assert "# call_1: `/note` is left out: it was redacted" in text
    assert "note:" not in text.split("tests:")[1].split("- {")[1]


def test_a_value_that_the_tool_needs_is_made_up_and_told() -> None:
    mail = a_past(
        key="mail.send",
        server="mail",
        arguments={"to": ["a@acme.example"], "body": "[redacted]"},
        unknown={"/body": WHY},
        rule="mail",
    )
    text = passes([mail])
    assert "# call_1: `/body` is made up: it was redacted" in text


def test_a_value_that_the_decision_hangs_on_makes_it_impossible() -> None:
    mail = a_past(
        key="mail.send",
        server="mail",
        arguments={"to": ["[redacted]"], "body": "x"},
        unknown={"/to/0": WHY},
        rule="mail",
    )
    (found,) = promotion.promote([mail], REVISION, of="call c")
    assert "not known: /to/0" in found.fault
    (whole,) = promotion.promote([refund(unknown={"": "it was too long"})], REVISION, of="call c")
    assert whole.fault == "its arguments were not kept; not known: "


def test_what_the_folder_decides_another_way_is_told_and_not_written() -> None:
    (found,) = promotion.promote([refund(rule="gone")], REVISION, of="call c")
    assert found.fault == "rule: expected gone, got refund.small"
    (unknown,) = promotion.promote([refund(key="pay.other")], REVISION, of="call c")
    assert "no tool `pay.other`" in unknown.fault


def test_a_call_of_a_run_is_tested_in_such_a_run() -> None:
    close = a_past(
        key="crm.close",
        server="crm",
        arguments={"customer": "c-1"},
        run={"template": "case", "phase": "acting", "fields": {"customer": "c-1"}, "evidence": 1},
        gone=("`ticket`",),
        rule="close",
        phase=Phase.ACTING,
    )
    text = passes([close])
    assert "# call_1: `ticket` of the run is left out: it was not kept" in text
    assert "run: {template: case, phase: acting" in text
