"""What happened in a run, line by line."""

from typing import Any

import pytest

from gateway import ids
from gateway.actions import timeline
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from tests.helpers.events import an_event


async def line(store: Store, kind: EventKind, stage: Stage, **body: Any) -> timeline.Line:
    event = an_event(id=ids.ulid(), kind=kind, stage=stage, run="run_1", phase="acting", body=body)
    store.events.append([event])
    await store.events.kept()
    [found] = timeline.lines(await store.events.query(EventFilter(run="run_1")))
    return found


@pytest.mark.parametrize(
    ("kind", "stage", "body", "outcome", "detail"),
    [
        ("authorization", "decided", {"decision": "allow", "status": "ok"}, "allow", ""),
        (
            "authorization",
            "decided",
            {"decision": "deny", "status": "phase_blocked", "reason": "too early"},
            "phase_blocked",
            "too early",
        ),
        ("tool_call", "finished", {"status": "ok"}, "ok", ""),
        ("retrieval", "recorded", {"tool": "a.b"}, "", ""),
        ("retrieval", "recorded", {"query": "boots", "count": 2}, "", "boots; 2 documents"),
        (
            "retrieval",
            "recorded",
            {"count": 1, "rows": {"kept": 1, "removed": 2, "failed": 0}},
            "",
            "1 document; 2 of 3 rows held back",
        ),
        (
            "retrieval",
            "recorded",
            {"count": 0, "rows": {"kept": 0, "removed": 1, "failed": 1}},
            "",
            "1 of 1 row held back, 1 of them because nobody could judge them",
        ),
        (
            "run",
            "changed",
            {"evidence": 1, "tokens": 30},
            "acting",
            "1 reference and 30 tokens by now",
        ),
        (
            "approval",
            "refused",
            {"status": "pending", "cast": "self_approval", "reason": "it is fine"},
            "self_approval",
            "it is fine",
        ),
        (
            "approval",
            "expired",
            {"status": "expired", "why": "nobody came"},
            "expired",
            "nobody came",
        ),
        (
            "side_effect",
            "recorded",
            {"state": "indeterminate", "verification": "pending", "evidence": "timed out"},
            "indeterminate",
            "check: pending; timed out",
        ),
        ("run", "moved", {}, "acting", ""),
        ("run", "stopped", {"stop_reason": "blocked", "note": "idle"}, "blocked", "idle"),
        (
            "run",
            "changed",
            {"fields": [{"name": "id", "source": "crm.id", "trust": "model"}]},
            "acting",
            "`id` from `crm.id`",
        ),
        ("admin", "recorded", {"action": "operation_resolved"}, "operation_resolved", ""),
        (
            "authorization",
            "decided",
            {"decision": "deny", "observed": {"would": "deny"}, "reason": "no bans"},
            "observed",
            "would: deny; no bans",
        ),
    ],
)
async def test_each_kind_says_what_came_of_it_and_why(
    store: Store, kind: str, stage: str, body: Any, outcome: str, detail: str
) -> None:
    found = await line(store, EventKind(kind), Stage(stage), **body)
    assert (found.kind, found.outcome, found.detail) == (kind, outcome, detail)


async def test_a_start_that_has_an_end_is_left_out(store: Store) -> None:
    for stage in (Stage.STARTED, Stage.FINISHED):
        store.events.append(
            [an_event(id=ids.ulid(), kind=EventKind.TOOL_CALL, stage=stage, run="run_1", body={})]
        )
    await store.events.kept()
    [found] = timeline.lines(await store.events.query(EventFilter(run="run_1")))
    assert found.outcome == "finished"


async def test_a_refusal_is_told_once(store: Store) -> None:
    blocked, late = {"status": "phase_blocked"}, {"status": "timeout"}
    for call, kind, body in (
        ("c1", EventKind.AUTHORIZATION, {**blocked, "decision": "deny"}),
        ("c1", EventKind.TOOL_CALL, blocked),
        ("c2", EventKind.AUTHORIZATION, {"status": "ok", "decision": "allow"}),
        ("c2", EventKind.TOOL_CALL, late),
    ):
        stage = Stage.FAILED if kind is EventKind.TOOL_CALL else Stage.DECIDED
        told: Any = {"kind": kind, "stage": stage, "body": body}
        store.events.append([an_event(id=ids.ulid(), run="run_1", call=call, **told)])
    await store.events.kept()
    found = timeline.lines(await store.events.query(EventFilter(run="run_1")))
    assert [each.outcome for each in found] == ["phase_blocked", "allow", "timeout"]


async def test_what_went_wrong_is_marked(store: Store) -> None:
    denied = await line(
        store, EventKind.APPROVAL, Stage.DECIDED, status="denied", tool="a.b", op="op_1"
    )
    assert (denied.is_bad, denied.tool, denied.op) == (True, "a.b", "op_1")


async def test_a_request_is_told_by_what_became_of_it(store: Store) -> None:
    asked = await line(store, EventKind.APPROVAL, Stage.REQUESTED, status="pending")
    assert asked.title == "people were asked"


async def test_a_vote_that_did_not_count_is_no_question_to_people(store: Store) -> None:
    refused = await line(store, EventKind.APPROVAL, Stage.REFUSED, status="pending", cast="late")
    assert (refused.title, refused.outcome) == ("a decision did not count", "late")
