"""Events as SIEMs read them: what OCSF requires is there, and nothing is lost."""

from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events import bodies, ocsf, ocsf_classes
from gateway.events.envelope import to_bytes
from gateway.store.events import StoredEvent
from gateway.types.events import Event, EventKind, Stage
from tests.events import test_upkeep
from tests.events.test_schemas import EVENTS as OF_CALLS
from tests.events.test_schemas import stored
from tests.events.values import JSON
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event
from tests.helpers.ocsf import VERSION, schema

EVENTS = (*OF_CALLS, *test_upkeep.every_event())


def told(event: Event) -> Any:
    return ocsf.event({"seq": 9, **stored(event)})


def faults(made: Any) -> list[str]:
    validator = validator_of(made["class_uid"], tuple(made["metadata"].get("profiles", [])))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(made)]


@cache
def validator_of(class_uid: int, profiles: tuple[str, ...]) -> Any:
    return jsonschema.Draft202012Validator(schema(class_uid, profiles))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.stage}")
def test_every_event_is_as_its_class_requires(event: Event) -> None:
    made = told(event)
    assert faults(made) == []
    assert made["type_uid"] == made["class_uid"] * 100 + made["activity_id"]
    assert made["category_uid"] == made["class_uid"] // 1000
    assert made["metadata"]["version"] == VERSION


def leaves(value: Any) -> list[Any]:
    match value:
        case dict():
            return [leaf for each in value.values() for leaf in leaves(each)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
        case list():
            return [leaf for each in value for leaf in leaves(each)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
        case _:
            return [value]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.stage}")
def test_no_text_of_an_event_is_lost(event: Event) -> None:
    there = {str(each) for each in leaves(told(event))}
    whole = str(told(event))
    body: Any = stored(event)["body"]
    for each in leaves({name: value for name, value in body.items() if name != "since"}):
        assert not isinstance(each, str) or not each or each in there or each in whole


def test_a_call_is_api_activity_by_what_it_does() -> None:
    made = told(
        an_event(
            id="e1",
            body={
                **{"method": "tools/call", "tool": "desk.refund", "server": "desk"},
                **{"effect": "destructive", "status": "tool_failed", "code": "", "rule": "refunds"},
                **{"reason": "no such order", "duration_us": 12_345, "error_code": -32000},
            },
            stage=Stage.FAILED,
            trace_id="ab" * 16,
        )
    )
    assert (made["class_uid"], made["activity_id"], made["activity_name"]) == (6003, 4, "Delete")
    assert made["time"] == 1_796_029_200_000
    assert made["api"]["operation"] == "desk.refund"
    assert made["api"]["group"] == {"name": "tools/call"}
    assert made["api"]["response"] == {"code": -32000}
    assert made["dst_endpoint"] == {"svc_name": "desk"}
    assert (made["status_id"], made["status_code"], made["severity_id"]) == (2, "tool_failed", 2)
    assert (made["status_detail"], made["duration"]) == ("no such order", 12)
    assert made["actor"]["user"]["name"] == "sam"
    assert made["policy"] == {"uid": "refunds", "name": "weighbridge policy"}
    assert made["trace"] == {"uid": "ab" * 16}
    assert made["metadata"]["uid"] == "e1"
    assert made["metadata"]["sequence"] == 9
    assert made["metadata"]["event_code"] == "tool_call.failed"
    assert made["metadata"]["profiles"] == ["trace", "security_control"]


@pytest.mark.parametrize(
    ("body", "stage", "status"),
    [
        ({"status": "ok"}, Stage.FINISHED, 1),
        ({"status": "denied"}, Stage.FAILED, 2),
        ({"status": "approval_pending"}, Stage.FAILED, 99),
        ({}, Stage.STARTED, 99),
        ({"status": "indeterminate", "executed": "unknown"}, Stage.FAILED, 0),
    ],
)
def test_a_status_is_one_of_four(body: Any, stage: Stage, status: int) -> None:
    made = told(an_event(body=body, stage=stage))
    assert made["status_id"] == status
    assert made["severity_id"] == {1: 1, 2: 2, 99: 1, 0: 3}[status]


@pytest.mark.parametrize(
    ("decision", "status", "action", "disposition"),
    [
        ("allow", "ok", (1, "Allowed"), (1, "Allowed")),
        ("deny", "denied", (2, "Denied"), (2, "Blocked")),
        (
            "require_approval",
            "approval_pending",
            (99, "require_approval"),
            (99, "require_approval"),
        ),
        ("require_approval", "ok", (99, "require_approval"), (99, "require_approval")),
        ("require_approval", "limit_exceeded", (2, "Denied"), (2, "Blocked")),
        ("allow", "limit_exceeded", (2, "Denied"), (2, "Blocked")),
    ],
)
def test_a_decision_is_an_action_of_a_control(
    decision: str, status: str, action: tuple[int, str], disposition: tuple[int, str]
) -> None:
    body: Any = {"decision": decision, "status": status}
    made = told(an_event(kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, body=body))
    assert (made["action_id"], made["action"]) == action
    assert (made["disposition_id"], made["disposition"]) == disposition


def test_a_decision_that_was_only_recorded_has_stopped_nothing() -> None:
    body: Any = {"decision": "deny", "status": "denied", "observed": {"would": "deny"}}
    made = told(an_event(kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, body=body))
    assert (made["action_id"], made["disposition_id"], made["status_id"]) == (1, 17, 1)
    assert made["disposition"] == "Logged"


def test_a_decision_that_no_rule_made_has_its_revision() -> None:
    body: Any = {"decision": "deny", "status": "denied", "rule": "", "revision": "sha256:a"}
    made = told(an_event(kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, body=body))
    assert made["policy"] == {"version": "sha256:a", "name": "weighbridge policy"}
    assert faults(made) == []


def test_a_request_is_an_entity_that_people_change() -> None:
    body: Any = {"approval": "apr_1", "tool": "desk.refund", "status": "pending"}
    stages = {Stage.REQUESTED: 1, Stage.DECIDED: 3, Stage.EXPIRED: 11, Stage.REOPENED: 10}
    for stage, activity in stages.items():
        made = told(an_event(kind=EventKind.APPROVAL, stage=stage, body=body))
        assert made["type_uid"] == 300_400 + activity
        entity = {"uid": "apr_1", "name": "desk.refund", "type": "approval request"}
        assert made["entity"] == entity


def test_whoever_reads_the_log_queries_a_data_store() -> None:
    body: Any = {"action": "log_read", "how": "query", "by": "", "account": "root"}
    made = told(an_event(kind=EventKind.ADMIN, stage=Stage.RECORDED, body=body, actor=None))
    assert (made["type_uid"], made["actor"]["user"]["name"]) == (600_504, "root")
    assert made["query_info"] == {"name": "query", "query_string": "everything"}
    body |= {"asked": {"tenant": ["acme"]}, "by": "ann"}
    made = told(an_event(kind=EventKind.ADMIN, stage=Stage.RECORDED, body=body, actor=None))
    assert made["query_info"]["query_string"] == '{"tenant":["acme"]}'
    assert made["actor"]["user"]["name"] == "ann"


def test_an_action_that_is_not_known_yet_is_something_about_the_gateway() -> None:
    event = an_event(kind=EventKind.ADMIN, stage=Stage.RECORDED, body={"action": "tea_made"})
    made = told(event)
    assert faults(made) == []
    assert (made["type_uid"], made["activity_name"]) == (300_499, "tea_made")


def test_every_action_that_is_published_has_a_class_of_its_own_choice() -> None:
    published: Any = bodies.ADMIN["oneOf"]
    names = {each["properties"]["action"]["const"] for each in published}
    assert names == set(ocsf.ACTIONS)


@given(st.dictionaries(st.sampled_from(["tool", "status", "rule", "reason", "object"]), JSON))
def test_whatever_a_body_holds_the_event_is_as_its_class_requires(body: Any) -> None:
    kept = to_bytes(an_event(body={**body, "effect": "read"}), ORIGIN)
    made: Any = ocsf.event(StoredEvent(seq=1, body=kept).json())
    assert {"class_uid", "api", "actor", "src_endpoint", "time"} <= made.keys()


def test_what_hides_in_a_name_stays_as_it_is_for_a_program() -> None:
    name = 'x\n\x1b[31m\u202e,"=1'
    made = told(an_event(body={"tool": name, "status": "ok"}))
    assert made["api"]["operation"] == name


def test_every_class_that_is_written_is_held_against_what_is_published() -> None:
    written = {told(event)["class_uid"] for event in EVENTS}
    assert written == {each.uid for each in ocsf_classes.CLASSES}
    broken = told(EVENTS[0])
    del broken["severity_id"]
    assert faults({**broken, "made_up": 1}) != []
