"""Events as the Open Cybersecurity Schema Framework has them, version 1.8.0, for SIEMs.

Nothing is lost: what has no place there is in `unmapped`, under the names that events have for it.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gateway.events import mapping
from gateway.events.ocsf_classes import (
    API,
    APPLICATION,
    COMMON,
    ENTITY,
    LOG,
    LOGIN,
    NAME,
    REFUSED,
    STORE,
    Class,
)
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect

VERSION: Final = "1.8.0"
OTHER: Final = 99
_SUCCESS, _FAILURE, _UNKNOWN = 1, 2, 0
INFORMATIONAL, LOW, MEDIUM = 1, 2, 3
_ALLOWED, _DENIED, _LOGGED = 1, 2, 17


class Activity(NamedTuple):
    """The class of an event, what was done in its terms, and to what, where that is an entity."""

    of: Class
    id: int
    name: str = ""  # where OCSF has none
    entity: str = ""  # its type

    @property
    def caption(self) -> str:
        """What OCSF or we call it."""
        return self.name or self.of.activities[self.id]


EFFECTS: Final[Mapping[str, int]] = {
    Effect.READ: 2,
    Effect.WRITE: 3,
    Effect.DESTRUCTIVE: 4,
}
APPROVALS: Final[Mapping[str, int]] = {
    Stage.REQUESTED: 1,
    Stage.REOPENED: 10,
    Stage.EXPIRED: 11,
    Stage.VOIDED: 11,
}
RUNS: Final[Mapping[str, int]] = {
    Stage.STARTED: 1,
    Stage.PAUSED: 12,
    Stage.RESUMED: 13,
    Stage.STOPPED: 11,
}
ACTIONS: Final[Mapping[str, Activity]] = {
    "policy_activated": Activity(ENTITY, 10, entity="policy"),
    "policy_refused": Activity(ENTITY, 10, entity="policy"),
    "policy_proposed": Activity(ENTITY, 1, entity="policy"),
    "policy_approved": Activity(ENTITY, 3, entity="policy"),
    "policy_rejected": Activity(ENTITY, 3, entity="policy"),
    "tool_quarantined": Activity(ENTITY, 9, entity="tool"),
    "tool_changed": Activity(ENTITY, 3, entity="tool"),
    "name_collision": Activity(ENTITY, 9, entity="tool"),
    "auth_rejected": Activity(LOGIN, 1),
    "logged_in": Activity(LOGIN, 1),
    "logged_out": Activity(LOGIN, 2),
    "login_link_made": Activity(ENTITY, 1, entity="login link"),
    "request_refused": Activity(REFUSED, 0),
    "events_refused": Activity(STORE, 5),
    "gateway_started": Activity(APPLICATION, 3),
    "mode_changed": Activity(ENTITY, 3, entity="mode"),
    "calls_observed": Activity(APPLICATION, 99, name="Observe"),
    "gateway_stopped": Activity(APPLICATION, 4),
    "operation_resolved": Activity(ENTITY, 3, entity="operation"),
    "compensation_requested": Activity(ENTITY, 3, entity="operation"),
    "compensation_ended": Activity(ENTITY, 3, entity="operation"),
    "log_read": Activity(STORE, 4),
    "log_archived": Activity(STORE, 7),
    "log_shredded": Activity(STORE, 7),
    "log_hold_set": Activity(ENTITY, 8, entity="legal hold"),
    "log_hold_lifted": Activity(ENTITY, 9, entity="legal hold"),
    "checkpoint_key_rotated": Activity(ENTITY, 3, entity="signing key"),
}
_REFUSED_ACTIONS: Final = frozenset(
    {"policy_refused", "auth_rejected", "request_refused", "events_refused", "name_collision"}
)
_NOTED: Final = _REFUSED_ACTIONS | {"tool_quarantined", "tool_changed"}
_UNREAD: Final = frozenset({"kind", "stage"})


def event(kept: JsonObject) -> JsonObject:
    """Return an event, as it is kept and with its number, as OCSF has it."""
    activity = activity_of(kept)
    of = activity.of
    made, used = mapping.mapped(kept, (*COMMON, *of.fields))
    if "policy" in made:
        mapping.put(made, "policy.name", "weighbridge policy")
    actor = made.get("actor")
    if isinstance(actor, dict) and "user" in actor:
        mapping.put(made, "actor.user.type_id", 1)
    profiles = [
        name
        for name, member in (("trace", "trace"), ("security_control", "policy"))
        if member in made
    ]
    made |= {
        "activity_id": activity.id,
        "activity_name": activity.caption,
        "category_uid": of.category,
        "class_uid": of.uid,
        "class_name": of.caption,
        "type_uid": of.uid * 100 + activity.id,
        "severity_id": severity_of(kept),
        "status_id": status_of(kept),
        "message": _message(kept),
    }
    if _kind(kept) == EventKind.AUTHORIZATION and "decision" in _body(kept):
        made |= _verdict(kept)
        profiles = sorted({*profiles, "security_control"})
    constants = _constants(kept, activity)
    if profiles:
        constants["metadata.profiles"] = [*profiles]
    for path, value in constants.items():
        mapping.put(made, path, value)
    left = mapping.rest(kept, used | _UNREAD)
    return {**made, "unmapped": left} if left else made


def activity_of(kept: JsonObject) -> Activity:
    """Return what an event tells of, in the terms of OCSF."""
    stage, body = str(kept.get("stage")), _body(kept)
    match _kind(kept):
        case EventKind.APPROVAL:
            return Activity(ENTITY, APPROVALS.get(stage, 3), entity="approval request")
        case EventKind.RUN:
            return Activity(ENTITY, RUNS.get(stage, 3), entity="run")
        case EventKind.ADMIN:
            other = Activity(ENTITY, OTHER, str(body.get("action")), entity="gateway")
            return ACTIONS.get(str(body.get("action")), other)
        case EventKind.MODEL_TURN:
            return Activity(API, OTHER, "Generate")
        case EventKind.AUTHORIZATION if body.get("question") or stage != Stage.DECIDED:
            return Activity(API, OTHER, "Ask")
        case _:
            return Activity(API, EFFECTS.get(str(body.get("effect")), 0))


def status_of(kept: JsonObject) -> int:
    """Return whether it went as somebody wanted: 1 yes, 2 no, 0 nobody knows, 99 not yet."""
    stage, body = str(kept.get("stage")), _body(kept)
    status = str(body.get("status", ""))
    if _is_observed(kept):
        return _SUCCESS
    if status in (Status.APPROVAL_PENDING, Status.INPUT_REQUIRED, Status.IN_PROGRESS):
        return OTHER
    match _kind(kept):
        case EventKind.ADMIN:
            return _FAILURE if body.get("action") in _REFUSED_ACTIONS else _SUCCESS
        case EventKind.APPROVAL:
            return _FAILURE if stage == Stage.REFUSED else _SUCCESS
        case EventKind.RUN:
            return _FAILURE if body.get("stop_reason") == "failed" else _SUCCESS
        case EventKind.TOOL_CALL if stage == Stage.STARTED:
            return OTHER
        case EventKind.AUTHORIZATION if _is_held(body):
            return OTHER
        case _ if body.get("executed") == Execution.UNKNOWN or body.get("outcome") == "unknown":
            return _UNKNOWN
        case _ if stage == Stage.FAILED or status not in ("", Status.OK):
            return _FAILURE
        case _:
            return _FAILURE if body.get("decision") == DecisionEffect.DENY else _SUCCESS


def _is_observed(kept: JsonObject) -> bool:
    """Whether an event tells of a decision that was only recorded."""
    return _kind(kept) == EventKind.AUTHORIZATION and "observed" in _body(kept)


def severity_of(kept: JsonObject) -> int:
    """Return how much somebody should mind: 3 for what to look into, 2 for refusals, else 1."""
    status = status_of(kept)
    if status == _UNKNOWN or str(_body(kept).get("action")) in _NOTED:
        return MEDIUM
    return LOW if status == _FAILURE else INFORMATIONAL


def _verdict(kept: JsonObject) -> JsonObject:
    """Say what was decided, in the terms of the profile `security_control`."""
    decision = str(_body(kept)["decision"])
    if _is_observed(kept):  # whatever was decided, the call passed
        return {
            "action_id": _ALLOWED,
            "action": "Allowed",
            "disposition_id": _LOGGED,
            "disposition": "Logged",
        }
    status = status_of(kept)
    is_denied = status == _FAILURE
    code = OTHER if status == OTHER else _DENIED if is_denied else _ALLOWED
    action = decision if code == OTHER else "Denied" if is_denied else "Allowed"
    held = decision if code == OTHER else "Blocked" if is_denied else "Allowed"
    return {
        "action_id": code,
        "action": action,
        "disposition_id": code,
        "disposition": held,
    }


def _constants(kept: JsonObject, activity: Activity) -> JsonObject:
    """Return what OCSF requires and no member says, by place; what is there already stays."""
    of = activity.of
    found: JsonObject = {
        "metadata.version": VERSION,
        "metadata.product.name": NAME,
        "metadata.product.vendor_name": NAME,
        "metadata.log_name": LOG,
        "metadata.event_code": f"{_kind(kept)}.{kept.get('stage')}",
    }
    if of is not APPLICATION:  # which has no actor
        found["actor.app_name"] = NAME.lower()
    if of.uid == API.uid:
        found |= {"api.operation": "unknown", "src_endpoint.name": "unknown"}
        if kept.get("call"):
            found["api.request.uid"] = kept["call"]
    elif of is ENTITY:
        found["entity.type"] = activity.entity
    elif of is STORE:
        found |= {
            **{"database.name": LOG, "database.type_id": OTHER, "database.type": "event log"},
            "src_endpoint.name": "unknown",
        }
        if activity.id == 4:
            found |= {"query_info.query_string": "everything", "query_info.name": "log_read"}
    elif of is LOGIN:
        found |= {"user.name": "unknown", "user.type_id": 1, "service.name": NAME.lower()}
    elif of is APPLICATION:
        found["app.name"] = NAME
    return found


def _is_held(body: JsonObject) -> bool:
    """Whether a rule wants people to decide; whether they have is told by other events."""
    wants = body.get("decision") == DecisionEffect.REQUIRE_APPROVAL
    return wants and body.get("status", Status.OK) == Status.OK


def _message(kept: JsonObject) -> str:
    body = _body(kept)
    about = body.get("tool") or body.get("name") or body.get("template") or body.get("user") or ""
    told = (body.get(each) for each in ("action", "cast", "status", "decision", "stop_reason"))
    came = next((each for each in told if each), "")
    parts = (_kind(kept), kept.get("stage"), about, came)
    return " ".join(str(part) for part in parts if part)


def _kind(kept: JsonObject) -> str:
    return str(kept.get("kind"))


def _body(kept: JsonObject) -> JsonObject:
    body: Json = kept.get("body")
    return body if isinstance(body, dict) else {}
