"""The published JSON Schemas of events; docs/reference/events holds what `render` writes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import orjson

from gateway.events.effects import MOST_CHANGES, NOT_DECLARED
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.events import ENVELOPE_VERSION, EventKind, Stage
from gateway.types.guarantees import CompensationClass
from gateway.types.json import Json, JsonObject
from gateway.types.operations import Execution, KeySource, OpState, VerificationState
from gateway.types.outcomes import ErrorClass, Status
from gateway.types.relay import AskOutcome
from gateway.types.tools import Effect, Risk

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final[JsonObject] = {"type": "string"}
_TEXTS: Final[JsonObject] = {"type": "array", "items": {"type": "string"}}
_ANY: Final[JsonObject] = {}
_FLAG: Final[JsonObject] = {"type": "boolean"}
_COUNT: Final[JsonObject] = {"type": "integer", "minimum": 0}
_WHOLE: Final[JsonObject] = {"type": "integer"}
_TIME: Final[JsonObject] = {"type": "string", "format": "date-time"}
_POINTERS: Final[JsonObject] = {
    "type": "array",
    "items": {"type": "string", "pattern": "^(/.*)?$"},
    "maxItems": 200,
}


def _about(schema: JsonObject, description: str) -> JsonObject:
    return {**schema, "description": description}


def _one_of(values: type[StrEnum]) -> JsonObject:
    return {"enum": [value.value for value in values]}


def _object(properties: JsonObject, optional: frozenset[str] = frozenset()) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


_CUT: Final[JsonObject] = _object(
    {"$cut": _object({"digest": _TEXT, "bytes": _COUNT, "head": _TEXT})}
)
_CAPPED_OBJECT: Final[JsonObject] = {
    "type": "object",
    "description": "redacted; beyond 16 KiB only `$cut` with digest, size and head",
}
_CONSTRAINTS: Final[JsonObject] = {
    "type": "array",
    "items": _object({"pointer": _TEXT, "kind": _TEXT, "rule": _TEXT}),
}
_TOOL: Final[JsonObject] = {
    "method": _about(
        {"enum": [method.value for method in Method if not method.is_ask]},
        "what was asked for, as MCP names it",
    ),
    "tool": _about(
        _TEXT,
        "`server.name` of a tool or prompt, the server's own URI of a resource, redacted; empty "
        "when no server has it",
    ),
    "server": _TEXT,
    "name": _about(_TEXT, "the name that callers use; of a resource, its server's own URI"),
    "effect": _one_of(Effect),
    "risk": _one_of(Risk),
    "arguments_digest": _about(
        _TEXT,
        "over the arguments as they were sent to the gateway; of methods that have none, over the "
        "parameters",
    ),
}
_TOOL_OPTIONAL: Final = frozenset({"effect", "risk"})

_AUTHORIZATION: Final = _object(
    {
        **_TOOL,
        "decision": {"enum": [effect.value for effect in DecisionEffect]},
        "status": _one_of(Status),
        "code": _TEXT,
        "reason": _TEXT,
        "rule": _TEXT,
        "place": _about(_TEXT, "file and line of the rule"),
        "matched": _TEXTS,
        "revision": _TEXT,
        "contract": _about(_TEXT, "pin of the reviewed definition"),
        "inputs": _about(_CAPPED_OBJECT, "what the decision was made from, redacted"),
        "arguments": _CAPPED_OBJECT,
        "constraints": _CONSTRAINTS,
        "limits": {
            "type": "array",
            "items": _object({"id": _TEXT, "amount": {"type": "number"}, "rule": _TEXT}),
        },
        "kept": _POINTERS,
        "shadow": {
            "type": "array",
            "items": _object({"effect": _TEXT, "rule": _TEXT, "code": _TEXT}),
        },
        "duration_us": _COUNT,
    },
    _TOOL_OPTIONAL
    | {"place", "matched", "contract", "inputs", "constraints", "limits", "kept", "shadow"}
    | {"duration_us"},
)
_QUESTION: Final = _object(
    {
        **_TOOL,
        "outcome": {"enum": [outcome.value for outcome in AskOutcome]},
        "question": _about(
            {"enum": [each.value for each in (Method.ELICIT, Method.SAMPLE, Method.LIST_ROOTS)]},
            "what the server asked; left out when an answer does not tell",
        ),
        "key": _about(_TEXT, "of the question in `inputRequests` and `inputResponses`, redacted"),
        "mode": _about({"enum": ["form", "url", ""]}, "of `elicitation/create`"),
        "question_digest": _about(
            _TEXT, "over the parameters, keyed; left out when an earlier request asked"
        ),
        "fields": _about(_TEXTS, "names of the fields that a form asks for, redacted"),
        "decision": {"enum": [effect.value for effect in DecisionEffect]},
        "code": _TEXT,
        "reason": _about(_TEXT, "the rule's"),
        "rule": _about(_TEXT, "the one that let the question through, or forbade it"),
        "place": _about(_TEXT, "file and line of the rule"),
        "revision": _TEXT,
        "error_code": _about(_WHOLE, "the JSON-RPC error code that the client answered with"),
        "answer": _about(
            {"type": "array", "items": _object({"name": _TEXT, "digest": _TEXT})},
            "the fields of a form that were filled in: redacted names and keyed digests",
        ),
        "answer_digest": _about(_TEXT, "over the whole answer, keyed"),
    },
    _TOOL_OPTIONAL
    | {"question", "key", "mode", "question_digest", "fields", "decision", "code", "reason"}
    | {"rule", "place", "revision", "error_code", "answer", "answer_digest"},
)
_STARTED: Final = _object(
    {**_TOOL, "arguments": _CAPPED_OBJECT, "transport": _TEXT},
    _TOOL_OPTIONAL | {"arguments", "transport"},
)
_ENDED: Final = _object(
    {
        **_TOOL,
        "status": _one_of(Status),
        "error_class": _one_of(ErrorClass),
        "code": _TEXT,
        "reason": _TEXT,
        "rule": _TEXT,
        "executed": _one_of(Execution),
        "error_code": _about(_WHOLE, "a JSON-RPC error code from the downstream"),
        "tool_error": _FLAG,
        "duration_us": _COUNT,
        "downstream_us": _COUNT,
        "result_size": _COUNT,
        "result_digest": _TEXT,
        "original": _about(_ANY, "a downstream's result that was kept from leaving, redacted"),
        "redactions": _COUNT,
    },
    _TOOL_OPTIONAL
    | {
        "error_class",
        "reason",
        "rule",
        "error_code",
        "downstream_us",
        "result_digest",
        "original",
    },
)
_RETRIEVAL: Final = _object(
    {
        **_TOOL,
        "query_digest": _TEXT,
        "count": _COUNT,
        "documents": {
            "anyOf": [
                {
                    "type": "array",
                    "items": _object(
                        {
                            "id": _about(_TEXT, "the URI of a resource, redacted"),
                            "version": _about(_TEXT, "as its server tells it"),
                            "digest": _about(_TEXT, "over the content as it left, keyed"),
                        }
                    ),
                },
                _CUT,
            ]
        },
        "constraints": _CONSTRAINTS,
        "kept": _POINTERS,
    },
    _TOOL_OPTIONAL,
)
_MODEL_TURN: Final = _object(
    {
        **_TOOL,
        "model": _about(_TEXT, "as the client names it; empty without an answer"),
        "stop_reason": _TEXT,
        "messages": {
            "type": "array",
            "items": _object({"role": {"enum": ["user", "assistant", ""]}, "digest": _TEXT}),
            "description": "what the server sent; empty when an earlier request asked the caller",
        },
        "system_digest": _TEXT,
        "output_digest": _about(_TEXT, "over the content of the model's answer"),
        "tool_calls": {
            "type": "array",
            "items": _object({"name": _TEXT, "id": _TEXT}),
        },
        "input_tokens": _about(_COUNT, "where the client tells"),
        "output_tokens": _about(_COUNT, "where the client tells"),
        "max_tokens": _about(_COUNT, "what the server asked for at most"),
        "error": _about(_TEXT, "why there is no answer"),
    },
    _TOOL_OPTIONAL
    | {"system_digest", "output_digest", "input_tokens", "output_tokens", "max_tokens", "error"},
)
_CHANGE: Final = _object(
    {
        "pointer": _about(_TEXT, "into the data of the answer"),
        "before": _about(_ANY, "redacted; left out when nobody saw it; long ones as `$cut`"),
        "after": _about(_ANY, "redacted; long ones as `$cut`"),
    },
    frozenset({"before"}),
)
_SIDE_EFFECT: Final = _object(
    {
        **_TOOL,
        "op": _about(_TEXT, "id of the operation"),
        "key": _object(
            {
                "source": _one_of(KeySource),
                "digest": _about(_TEXT, "keyed; the same for the same intent"),
            }
        ),
        "downstream_key": _about(_TEXT, "a keyed digest of the key that the server got"),
        "attempt": _about(_COUNT, "which one of the operation's, from 1"),
        "outcome": _about({"enum": ["known", "unknown"]}, "whether it is known to have happened"),
        "executed": _one_of(Execution),
        "state": _about(_one_of(OpState), "of the operation from now on"),
        "status": _about(_one_of(Status), "that the call ended with"),
        "evidence": _about(_TEXT, "how the state is known, where not by the server's answer"),
        "late": _about({"const": True}, "it had been given up as unknown before"),
        "verification": _one_of(VerificationState),
        "object": _about(
            _object({"type": _TEXT, "id": _TEXT}),
            "what was written, as the contract names it; else the tool, and no id",
        ),
        "changes": {
            "type": "array",
            "items": _CHANGE,
            "maxItems": MOST_CHANGES,
            "description": "fields that differ from a read before the call, or repeat an argument",
        },
        "changes_left_off": _about(_COUNT, "how many more there were"),
        "compensation": _object(
            {
                "class": {"enum": [*(each.value for each in CompensationClass), NOT_DECLARED]},
                "tool": _about(_TEXT, "the one that undoes it"),
            },
            frozenset({"tool"}),
        ),
        "compensates": _about(_TEXT, "id of the operation that this one undoes"),
    },
    _TOOL_OPTIONAL | {"downstream_key", "evidence", "late", "changes_left_off", "compensates"},
)


def _action(name: str, properties: JsonObject) -> JsonObject:
    return _object({"action": {"const": name}, **properties})


_TURNED_AWAY: Final[JsonObject] = {
    "reason": _about(_TEXT, "a code; nothing of a request's body or credential is ever here"),
    "count": _about(_COUNT, "such requests since the time `since`"),
    "since": _TIME,
    "peers": _about(_TEXTS, "some of their addresses"),
    "transport": {"enum": ["http", "stdio", ""]},
    "methods": _about(_TEXTS, "the methods among them that MCP knows, where a front saw one"),
}
_STATE: Final[JsonObject] = {"enum": [state.value for state in OpState]}
_OPERATION: Final[JsonObject] = {"op": _about(_TEXT, "id of the operation"), "tool": _TEXT}
_BY: Final[JsonObject] = {
    "by": _about(_TEXT, "who is said to have decided"),
    "account": _about(_TEXT, "the user of the machine whose command it was"),
}
_ADMIN: Final[JsonObject] = {
    "oneOf": [
        _action("policy_activated", {"revision": _TEXT, "by": _TEXT, "from": _TEXT}),
        _action("policy_refused", {"by": _TEXT, "errors": _TEXTS}),
        _action("tool_quarantined", {"tool": _TEXT, "reason": _TEXT}),
        _action(
            "tool_changed", {"tool": _TEXT, "pinned": _TEXT, "found": _TEXT, "changes": _TEXTS}
        ),
        _action("name_collision", {"name": _TEXT, "tools": _TEXTS}),
        _action(
            "auth_rejected",
            {
                **_TURNED_AWAY,
                "details": _about(_TEXTS, "what the owners of the credentials were told"),
            },
        ),
        _action("request_refused", _TURNED_AWAY),
        _action("events_refused", {"count": _COUNT, "since": _TIME, "reason": _TEXT}),
        _action("gateway_started", {"revision": _TEXT, "servers": _TEXTS}),
        _action("gateway_stopped", {"reason": _TEXT}),
        _action(
            "operation_resolved",
            {
                **_OPERATION,
                "from": _STATE,
                "to": _STATE,
                "evidence": _about(_TEXT, "what shows it, in the person's words, redacted"),
                **_BY,
            },
        ),
        _action(
            "compensation_requested",
            {
                **_OPERATION,
                "undo": _about(_TEXT, "the operation that is to undo it"),
                "undo_tool": _TEXT,
                "reason": _TEXT,
                **_BY,
            },
        ),
        _action(
            "compensation_ended",
            {
                **_OPERATION,
                "undo": _TEXT,
                "from": _STATE,
                "to": _about(_STATE, "`compensated`, or `succeeded` when it was not undone"),
                "evidence": _TEXT,
            },
        ),
    ]
}

# The kinds that this version writes, with their stages and bodies.
KINDS: Final[Mapping[EventKind, Mapping[Stage, JsonObject]]] = {
    EventKind.AUTHORIZATION: {
        Stage.DECIDED: _AUTHORIZATION,
        # Questions that servers ask meanwhile: put to the caller, answered, or not.
        Stage.STARTED: _QUESTION,
        Stage.FINISHED: _QUESTION,
        Stage.FAILED: _QUESTION,
    },
    EventKind.TOOL_CALL: {
        Stage.STARTED: _STARTED,
        Stage.FINISHED: _ENDED,
        Stage.FAILED: _ENDED,
    },
    EventKind.MODEL_TURN: {Stage.FINISHED: _MODEL_TURN, Stage.FAILED: _MODEL_TURN},
    EventKind.RETRIEVAL: {Stage.RECORDED: _RETRIEVAL},
    EventKind.SIDE_EFFECT: {Stage.RECORDED: _SIDE_EFFECT},
    EventKind.ADMIN: {Stage.RECORDED: _ADMIN},
}


def schema(kind: EventKind) -> JsonObject:
    """Return the schema of one kind's events as they are kept; `seq` is there on reading only."""
    stages = KINDS[kind]
    bodies: list[Json] = [
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
        "allOf": bodies,
    }


def _envelope(kind: EventKind, stages: list[Json]) -> JsonObject:
    actor = {"user": _TEXT, "client": _TEXT, "auth_method": _TEXT, "issuer": _TEXT}
    return {
        "v": {"const": ENVELOPE_VERSION},
        "id": _about({"type": "string", "minLength": 1}, "unique; sorts by time"),
        "seq": _about({"type": "integer", "minimum": 1}, "the order of the log; has no gaps"),
        "ts": _TIME,
        "kind": {"const": kind.value},
        "stage": {"enum": stages},
        "tenant": _TEXT,
        "run": _TEXT,
        "phase": _TEXT,
        "call": _TEXT,
        "parent": _TEXT,
        "trace_id": _TEXT,
        "span_id": _TEXT,
        "actor": _object({**actor, "roles": _TEXTS, "scopes": _TEXTS}),
        "gateway": _object({"instance": _TEXT, "version": _TEXT}),
        "erased": _about(_POINTERS, "places in the body of which nothing can be told any more"),
        "masked": _about(_POINTERS, "places in the body where a digest or a part is left"),
        "body": {"type": "object"},
    }


def file_name(kind: EventKind) -> str:
    """Return the name of the file that a kind's schema is published in."""
    return f"{kind.value}.v{ENVELOPE_VERSION}.json"


def render(kind: EventKind) -> bytes:
    """Return the published form of a kind's schema, with a newline at its end."""
    return orjson.dumps(schema(kind), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
