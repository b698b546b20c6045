"""The bodies of events, kind by kind and stage by stage, as JSON Schemas."""

from typing import Final

from gateway.events import levels, observing, proposing, sealing, snapshots, upkeep
from gateway.events.effects import MOST_CHANGES, NOT_DECLARED
from gateway.events.forms import (
    ANY,
    COUNT,
    FLAG,
    POINTERS,
    TEXT,
    TEXTS,
    TIME,
    WHOLE,
    about,
    an_action,
    an_object,
    one_of,
)
from gateway.types.approvals import Assurance
from gateway.types.calls import Method
from gateway.types.causes import OWN
from gateway.types.decisions import DecisionEffect, Mode
from gateway.types.guarantees import CompensationClass
from gateway.types.json import JsonObject
from gateway.types.leans import Lean
from gateway.types.operations import Execution, KeySource, OpState, VerificationState
from gateway.types.outcomes import ErrorClass, Status
from gateway.types.relay import AskOutcome
from gateway.types.tools import Effect, Risk

_CUT: Final[JsonObject] = an_object(
    {"$cut": an_object({"digest": TEXT, "bytes": COUNT, "head": TEXT})}
)
_CAPPED_OBJECT: Final[JsonObject] = {
    "type": "object",
    "description": "redacted; beyond 16 KiB only `$cut` with digest, size and head",
}
_CONSTRAINTS: Final[JsonObject] = {
    "type": "array",
    "items": an_object({"pointer": TEXT, "kind": TEXT, "rule": TEXT}),
}
_TOOL: Final[JsonObject] = {
    "method": about(
        {"enum": [method.value for method in Method if not method.is_ask]},
        "what was asked for, as MCP names it",
    ),
    "cause": about(
        {"enum": [cause.value for cause in OWN]},
        "why the gateway made the call by itself, for the sake of an operation; `parent` of the "
        "event is the call that this is about",
    ),
    "tool": about(
        TEXT,
        "`server.name` of a tool or prompt, the server's own URI of a resource, redacted; empty "
        "when no server has it",
    ),
    "server": TEXT,
    "name": about(TEXT, "the name that callers use; of a resource, its server's own URI"),
    "effect": one_of(Effect),
    "risk": one_of(Risk),
    "arguments_digest": about(
        TEXT,
        "over the arguments as they were sent to the gateway; of methods that have none, over the "
        "parameters",
    ),
}
_TOOL_OPTIONAL: Final = frozenset({"cause", "effect", "risk"})

AUTHORIZATION: Final = an_object(
    {
        **_TOOL,
        "decision": {"enum": [effect.value for effect in DecisionEffect]},
        "status": one_of(Status),
        "code": TEXT,
        "reason": TEXT,
        "rule": TEXT,
        "place": about(TEXT, "file and line of the rule"),
        "matched": TEXTS,
        "revision": TEXT,
        "contract": about(TEXT, "pin of the reviewed definition"),
        "inputs": about(_CAPPED_OBJECT, "what the decision was made from, redacted"),
        "snapshot": snapshots.SCHEMA,
        "arguments": _CAPPED_OBJECT,
        "level": levels.SCHEMA,
        "sealed": sealing.SCHEMA,
        "constraints": _CONSTRAINTS,
        "limits": {
            "type": "array",
            "items": an_object({"id": TEXT, "amount": {"type": "number"}, "rule": TEXT}),
        },
        "kept": POINTERS,
        "shadow": {
            "type": "array",
            "items": an_object({"effect": TEXT, "rule": TEXT, "code": TEXT}),
        },
        "repeats": about(
            an_object({"op": TEXT, "reason": TEXT}),
            "the operation that the host means to carry out once more, and why, redacted",
        ),
        "observed": observing.SCHEMA,
        "duration_us": COUNT,
    },
    _TOOL_OPTIONAL
    | {
        "repeats",
        "observed",
        "level",
        "sealed",
        "place",
        "matched",
        "contract",
        "inputs",
        "snapshot",
        "constraints",
        "limits",
        "kept",
        "shadow",
    }
    | {"duration_us"},
)
QUESTION: Final = an_object(
    {
        **_TOOL,
        "outcome": {"enum": [outcome.value for outcome in AskOutcome]},
        "question": about(
            {"enum": [each.value for each in (Method.ELICIT, Method.SAMPLE, Method.LIST_ROOTS)]},
            "what the server asked; left out when an answer does not tell",
        ),
        "key": about(TEXT, "of the question in `inputRequests` and `inputResponses`, redacted"),
        "mode": about({"enum": ["form", "url", ""]}, "of `elicitation/create`"),
        "question_digest": about(
            TEXT, "over the parameters, keyed; left out when an earlier request asked"
        ),
        "fields": about(TEXTS, "names of the fields that a form asks for, redacted"),
        "decision": {"enum": [effect.value for effect in DecisionEffect]},
        "code": TEXT,
        "reason": about(TEXT, "the rule's"),
        "rule": about(TEXT, "the one that let the question through, or forbade it"),
        "place": about(TEXT, "file and line of the rule"),
        "revision": TEXT,
        "error_code": about(WHOLE, "the JSON-RPC error code that the client answered with"),
        "answer": about(
            {"type": "array", "items": an_object({"name": TEXT, "digest": TEXT})},
            "the fields of a form that were filled in: redacted names and keyed digests",
        ),
        "answer_digest": about(TEXT, "over the whole answer, keyed"),
    },
    _TOOL_OPTIONAL
    | {"question", "key", "mode", "question_digest", "fields", "decision", "code", "reason"}
    | {"rule", "place", "revision", "error_code", "answer", "answer_digest"},
)
STARTED: Final = an_object(
    {**_TOOL, "arguments": _CAPPED_OBJECT, "sealed": sealing.SCHEMA, "transport": TEXT},
    _TOOL_OPTIONAL | {"arguments", "sealed", "transport"},
)
ENDED: Final = an_object(
    {
        **_TOOL,
        "status": one_of(Status),
        "error_class": one_of(ErrorClass),
        "code": TEXT,
        "reason": TEXT,
        "next": about(TEXT, "what its caller was told to do, where its status does not tell"),
        "rule": TEXT,
        "executed": one_of(Execution),
        "error_code": about(WHOLE, "a JSON-RPC error code from the downstream"),
        "tool_error": FLAG,
        "duration_us": COUNT,
        "downstream_us": COUNT,
        "result_size": COUNT,
        "result_digest": TEXT,
        "original": about(ANY, "a downstream's result that was kept from leaving, redacted"),
        "result": about(ANY, "what was answered, redacted and capped; at the level `full` alone"),
        "redactions": COUNT,
        "observed": observing.SCHEMA,
    },
    _TOOL_OPTIONAL
    | {
        *("observed", "error_class", "reason", "next", "rule", "error_code", "downstream_us"),
        *("result_digest", "original", "result"),
    },
)
RETRIEVAL: Final = an_object(
    {
        **_TOOL,
        "query_digest": TEXT,
        "count": COUNT,
        "documents": {
            "anyOf": [
                {
                    "type": "array",
                    "items": an_object(
                        {
                            "id": about(TEXT, "the URI of a resource, redacted"),
                            "version": about(TEXT, "as its server tells it"),
                            "digest": about(TEXT, "over the content as it left, keyed"),
                            "chunk": about(TEXT, "the part of the document"),
                        },
                        frozenset({"chunk"}),
                    ),
                },
                _CUT,
            ]
        },
        "query": about(TEXT, "what was asked for, redacted, where the contract names it"),
        "sources": about(TEXTS, "where the documents are from, each once, redacted"),
        "constraints": _CONSTRAINTS,
        "kept": POINTERS,
        "filters": {
            "type": "array",
            "items": an_object({"rule": TEXT, "path": TEXT, "where": TEXT}),
            "description": "the conditions that rows, or with an empty path documents, had to meet",
        },
        "rows": about(
            an_object({"kept": COUNT, "removed": COUNT, "failed": COUNT}),
            "how many of them left, and how many did not: of `failed` ones nobody could tell",
        ),
    },
    _TOOL_OPTIONAL | {"query", "sources", "filters", "rows"},
)
MODEL_TURN: Final = an_object(
    {
        **_TOOL,
        "model": about(TEXT, "as the client names it; empty without an answer"),
        "stop_reason": TEXT,
        "messages": {
            "type": "array",
            "items": an_object({"role": {"enum": ["user", "assistant", ""]}, "digest": TEXT}),
            "description": "what the server sent; empty when an earlier request asked the caller",
        },
        "system_digest": TEXT,
        "output_digest": about(TEXT, "over the content of the model's answer"),
        "tool_calls": {
            "type": "array",
            "items": an_object({"name": TEXT, "id": TEXT}),
        },
        "input_tokens": about(COUNT, "where the client tells"),
        "output_tokens": about(COUNT, "where the client tells"),
        "max_tokens": about(COUNT, "what the server asked for at most"),
        "error": about(TEXT, "why there is no answer"),
    },
    _TOOL_OPTIONAL
    | {"system_digest", "output_digest", "input_tokens", "output_tokens", "max_tokens", "error"},
)
_CHANGE: Final = an_object(
    {
        "pointer": about(TEXT, "into the data of the answer"),
        "before": about(ANY, "redacted; left out when nobody saw it; long ones as `$cut`"),
        "after": about(ANY, "redacted; long ones as `$cut`"),
    },
    frozenset({"before"}),
)
SIDE_EFFECT: Final = an_object(
    {
        **_TOOL,
        "op": about(TEXT, "id of the operation"),
        "key": an_object(
            {
                "source": one_of(KeySource),
                "digest": about(TEXT, "keyed; the same for the same intent"),
            }
        ),
        "downstream_key": about(TEXT, "a keyed digest of the key that the server got"),
        "attempt": about(COUNT, "which one of the operation's, from 1"),
        "outcome": about({"enum": ["known", "unknown"]}, "whether it is known to have happened"),
        "executed": one_of(Execution),
        "state": about(one_of(OpState), "of the operation from now on"),
        "status": about(one_of(Status), "that the call ended with"),
        "evidence": about(TEXT, "how the state is known, where not by the server's answer"),
        "late": about({"const": True}, "it had been given up as unknown before"),
        "verification": one_of(VerificationState),
        "object": about(
            an_object({"type": TEXT, "id": TEXT}),
            "what was written, as the contract names it; else the tool, and no id",
        ),
        "changes": {
            "type": "array",
            "items": _CHANGE,
            "maxItems": MOST_CHANGES,
            "description": "fields that differ from a read before the call, or repeat an argument",
        },
        "changes_left_off": about(COUNT, "how many more there were"),
        "compensation": an_object(
            {
                "class": {"enum": [*(each.value for each in CompensationClass), NOT_DECLARED]},
                "tool": about(TEXT, "the one that undoes it"),
            },
            frozenset({"tool"}),
        ),
        "compensates": about(TEXT, "id of the operation that this one undoes"),
    },
    _TOOL_OPTIONAL | {"downstream_key", "evidence", "late", "changes_left_off", "compensates"},
)
_TURNED_AWAY: Final[JsonObject] = {
    "reason": about(TEXT, "a code; nothing of a request's body or credential is ever here"),
    "count": about(COUNT, "such requests since the time `since`"),
    "since": TIME,
    "peers": about(TEXTS, "some of their addresses"),
    "transport": {"enum": ["http", "stdio", "admin", ""]},
    "methods": about(TEXTS, "the methods among them that MCP knows, where a front saw one"),
}
_STATE: Final[JsonObject] = {"enum": [state.value for state in OpState]}
_OPERATION: Final[JsonObject] = {"op": about(TEXT, "id of the operation"), "tool": TEXT}
_BY: Final[JsonObject] = {
    "by": about(TEXT, "who is said to have decided"),
    "account": about(TEXT, "the user of the machine whose command it was"),
}
ADMIN: Final[JsonObject] = {
    "oneOf": [
        an_action(
            "policy_activated",
            {
                "revision": TEXT,
                "by": TEXT,
                "from": TEXT,
                "warnings": about(COUNT, "of the linter"),
                "tests": about(COUNT, "of the policy, all of which passed"),
                "change": about(
                    an_object(dict.fromkeys(("requests", *map(str, Lean)), COUNT)),
                    "how many made-up calls both revisions were asked about, and for how many "
                    "causes they differ: a glance, no proof; none at a start",
                ),
            },
            frozenset({"change"}),
        ),
        an_action("policy_refused", {"by": TEXT, "errors": TEXTS}),
        an_action("tool_quarantined", {"tool": TEXT, "reason": TEXT}),
        an_action("tool_changed", {"tool": TEXT, "pinned": TEXT, "found": TEXT, "changes": TEXTS}),
        an_action("name_collision", {"name": TEXT, "tools": TEXTS}),
        an_action(
            "auth_rejected",
            {
                **_TURNED_AWAY,
                "details": about(TEXTS, "what the owners of the credentials were told"),
            },
        ),
        an_action("request_refused", _TURNED_AWAY),
        an_action("events_refused", {"count": COUNT, "since": TIME, "reason": TEXT}),
        an_action(
            "gateway_started",
            {"revision": TEXT, "servers": TEXTS, "mode": one_of(Mode)},
            frozenset({"mode"}),
        ),
        an_action("gateway_stopped", {"reason": TEXT}),
        an_action(
            "operation_resolved",
            {
                **_OPERATION,
                "from": _STATE,
                "to": _STATE,
                "evidence": about(TEXT, "what shows it, in the person's words, redacted"),
                **_BY,
            },
        ),
        an_action(
            "compensation_requested",
            {
                **_OPERATION,
                "undo": about(TEXT, "the operation that is to undo it"),
                "undo_tool": TEXT,
                "reason": TEXT,
                **_BY,
            },
        ),
        an_action(
            "compensation_ended",
            {
                **_OPERATION,
                "undo": TEXT,
                "from": _STATE,
                "to": about(_STATE, "`compensated`, or `succeeded` when it was not undone"),
                "evidence": TEXT,
            },
        ),
        an_action(
            "login_link_made",
            {"user": TEXT, "account": _BY["account"], "until": TIME},
        ),
        an_action(
            "logged_in",
            {
                "user": TEXT,
                "roles": TEXTS,
                "issuer": about(
                    TEXT,
                    "the identity provider; `os:` and the account that made it for a one-time link",
                ),
                "assurance": {"enum": [each.value for each in Assurance]},
                "peer": about(TEXT, "address of the connection"),
            },
        ),
        an_action("logged_out", {"user": TEXT}),
        *upkeep.ACTIONS,
        *observing.ACTIONS,
        *proposing.ACTIONS,
    ]
}
