from datetime import timedelta
from typing import Any

import jsonschema

from gateway.events import snapshots
from gateway.events.redact import Redactor
from gateway.events.snapshots import Seen, Snapshot
from gateway.types.json import JsonObject
from gateway.types.runs import BindingKind, Collected, Holder, Mode, Phase, StopReason, Trust
from gateway.types.tools import Kind, SourceTrust
from gateway.types.values import replaced
from tests.helpers.cases import NOW
from tests.helpers.runs import a_run

REDACTOR = Redactor(lambda tenant: tenant.encode())


def described(after: timedelta = timedelta(0), **changes: Any) -> JsonObject:
    told = snapshots.described(
        Snapshot(received=NOW, **changes),
        at=NOW + after,
        redact=lambda value: REDACTOR.value(value, tenant="acme"),
        text=REDACTOR.text,
    )
    validator: Any = jsonschema.Draft202012Validator(snapshots.SCHEMA)
    validator.validate(told)
    return told


def test_a_plain_read_has_no_snapshot_at_all() -> None:
    assert described(timedelta(milliseconds=3)) == {}


def test_the_very_time_is_told_where_something_may_depend_on_it_or_it_is_long_ago() -> None:
    assert described(timedelta(milliseconds=3), is_timed=True) == {"received_us": 3000}
    assert described(timedelta(seconds=2)) == {"received_us": 2_000_000}


def test_what_is_not_as_usual_is_told() -> None:
    assert described(
        pin="sha256:p", kind=Kind.PROMPT, hides_uri=True, held="why", is_tainted=True
    ) == {"pin": "sha256:p", "kind": "prompt", "hides_uri": True, "held": "why", "tainted": True}


def test_records_of_origins_are_numbers_that_keep_what_lies_inside_of_what() -> None:
    def seen(record: str, *, is_exact: bool = True) -> Seen:
        return Seen(type="crm.id", trust=SourceTrust.SYSTEM, record=record, is_exact=is_exact)

    told = described(
        origins={
            "/id": (seen("call_9/customers/jane"),),
            "/mail": (seen("call_9/customers/jane/mails/0"), seen("call_8", is_exact=False)),
            "/none": (),
        }
    )
    assert "jane" not in str(told)
    assert told["origins"] == {
        "/id": [{"type": "crm.id", "trust": "system", "record": "0/1/2"}],
        "/mail": [
            {"type": "crm.id", "trust": "system", "record": "0/1/2/3/4"},
            {"type": "crm.id", "trust": "system", "record": "5", "larger": True},
        ],
        "/none": [],
    }


def test_a_run_is_told_as_it_was_read_and_counts_of_0_are_left_out() -> None:
    run = a_run(phase=Phase.ACTING, version=4)
    assert described(run=run, bound_by=BindingKind.META) == {
        "run": {"version": 4, "mode": str(run.mode), "phase": "acting", "bound_by": "meta"}
    }


def test_all_that_phases_and_guards_go_by_is_told() -> None:
    run = a_run(
        template="refund",
        mode=Mode.HOST,
        phase=Phase.AWAITING_APPROVAL,
        resume_phase=Phase.ACTING,
        is_paused=True,
        stop_reason=StopReason.BLOCKED,
        is_tainted=True,
        ends_at=7,
        evidence=1,
        calls=2,
        tokens=3,
        open_ops=4,
        pending_approvals=5,
        verified=("a.b",),
        succeeded=("a.c",),
        held_by=Holder(run_id="run_2", is_over=False),
        objective="give token=abcdefgh12345678 back",
        task_id="T-1",
    )
    told = described(run=run, reads_while_paused=False, names_objective=True)["run"]
    assert isinstance(told, dict)
    assert "abcdefgh12345678" not in str(told)
    assert told | {"objective": ""} == {
        "version": run.version,
        "mode": "host",
        "phase": "awaiting_approval",
        "held_by": "paused",
        "template": "refund",
        "resume_phase": "acting",
        "paused": True,
        "stop_reason": "blocked",
        "tainted": True,
        "ends_at": 7,
        "evidence": 1,
        "calls": 2,
        "tokens": 3,
        "open_ops": 4,
        "pending_approvals": 5,
        "verified": ["a.b"],
        "succeeded": ["a.c"],
        "no_reads_while_paused": True,
        "objective": "",
        "task": "T-1",
    }


def a_field(value: Any) -> Collected:
    return Collected(value=value, trust=Trust.HOST, source="host", at=1)


def test_fields_are_redacted_and_large_ones_told_without_their_values() -> None:
    run = a_run(fields={"ticket": a_field("T-7"), "mail": a_field("jane@example.org")})
    told = described(run=run)["run"]
    assert isinstance(told, dict)
    fields = told["fields"]
    assert isinstance(fields, dict)
    assert fields["ticket"] == {"source": "host", "trust": "host", "value": "T-7"}
    assert "jane" not in str(fields)
    large = replaced(run, fields={"ticket": a_field("x" * (snapshots.MOST_FIELDS + 1))})
    told = described(run=large)["run"]
    assert isinstance(told, dict)
    assert told["fields"] == {"ticket": {"source": "host", "trust": "host"}}
