"""The published JSON Schemas of events; docs/reference/events holds what `render` writes."""

from collections.abc import Mapping
from typing import Final

import orjson

from gateway.events import approvals, bodies, runs, turns
from gateway.events.forms import POINTERS, TEXT, TEXTS, TIME, about, an_object
from gateway.types.events import ENVELOPE_VERSION, EventKind, Stage
from gateway.types.json import Json, JsonObject

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"

# The kinds that this version writes, with their stages and bodies.
KINDS: Final[Mapping[EventKind, Mapping[Stage, JsonObject]]] = {
    EventKind.AUTHORIZATION: {
        Stage.DECIDED: bodies.AUTHORIZATION,
        # Questions that servers ask meanwhile: put to the caller, answered, or not.
        Stage.STARTED: bodies.QUESTION,
        Stage.FINISHED: bodies.QUESTION,
        Stage.FAILED: bodies.QUESTION,
    },
    EventKind.TOOL_CALL: {
        Stage.STARTED: bodies.STARTED,
        Stage.FINISHED: bodies.ENDED,
        Stage.FAILED: bodies.ENDED,
    },
    EventKind.MODEL_TURN: {
        Stage.FINISHED: bodies.MODEL_TURN,
        Stage.FAILED: bodies.MODEL_TURN,
        Stage.RECORDED: turns.TOLD,  # as a host tells of it
    },
    EventKind.RETRIEVAL: {Stage.RECORDED: bodies.RETRIEVAL},
    EventKind.APPROVAL: approvals.BODIES,
    EventKind.SIDE_EFFECT: {Stage.RECORDED: bodies.SIDE_EFFECT},
    EventKind.RUN: runs.BODIES,
    EventKind.ADMIN: {Stage.RECORDED: bodies.ADMIN},
}


def schema(kind: EventKind) -> JsonObject:
    """Return the schema of one kind's events as they are kept; `seq` is there on reading only."""
    stages = KINDS[kind]
    by_stage: list[Json] = [
        {
            "if": {"properties": {"stage": {"const": stage.value}}},
            "then": {"properties": {"body": {"anyOf": [body, {"required": ["$cut"]}]}}},
        }
        for stage, body in stages.items()
    ]
    return {
        "$schema": _DRAFT,
        "$id": f"urn:weighbridge:events:{file_name(kind).removesuffix('.json')}",
        "title": f"{kind.value} event",
        "type": "object",
        "properties": _envelope(kind, [stage.value for stage in stages]),
        "required": ["v", "id", "ts", "kind", "stage", "tenant", "gateway", "body"],
        "additionalProperties": False,
        "allOf": by_stage,
    }


def _envelope(kind: EventKind, stages: list[Json]) -> JsonObject:
    actor = {"user": TEXT, "client": TEXT, "auth_method": TEXT, "issuer": TEXT}
    return {
        "v": {"const": ENVELOPE_VERSION},
        "id": about({"type": "string", "minLength": 1}, "unique; sorts by time"),
        "seq": about({"type": "integer", "minimum": 1}, "the order of the log; has no gaps"),
        "ts": TIME,
        "kind": {"const": kind.value},
        "stage": {"enum": stages},
        "tenant": TEXT,
        "run": TEXT,
        "phase": TEXT,
        "call": TEXT,
        "parent": about(TEXT, "the call for whose sake the gateway made this one"),
        "trace_id": TEXT,
        "span_id": TEXT,
        "actor": an_object({**actor, "roles": TEXTS, "scopes": TEXTS}),
        "gateway": an_object({"instance": TEXT, "version": TEXT}),
        "erased": about(POINTERS, "places in the body of which nothing can be told any more"),
        "masked": about(POINTERS, "places in the body where a digest or a part is left"),
        "body": {"type": "object"},
    }


def file_name(kind: EventKind) -> str:
    """Return the name of the file that a kind's schema is published in."""
    return f"{kind.value}.v{ENVELOPE_VERSION}.json"


def render(kind: EventKind) -> bytes:
    """Return the published form of a kind's schema, with a newline at its end."""
    return orjson.dumps(schema(kind), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
