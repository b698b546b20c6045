"""The tools by which agents work in runs, as tools/list shows them: short, and closed."""

from collections.abc import Mapping
from typing import Final

from gateway.relay.tools import define
from gateway.types.json import JsonObject
from gateway.types.own import Own

_RUN_ID: Final[JsonObject] = {
    "type": "string",
    "description": "only where this call is not in its run by itself",
}
_NOTE: Final[JsonObject] = {"type": "string", "maxLength": 1000}

ALL: Final[Mapping[Own, JsonObject]] = {
    Own.RUN_START: define(
        Own.RUN_START,
        "Begin a run",
        "Begins a run: work with an objective, whose phase says what is allowed. Your calls belong "
        "to it from now on. Returns its `run_id`, and what is missing for the next phases.",
        {
            "objective": {
                "type": "string",
                "description": "what the work is for, in one sentence",
                "minLength": 1,
                "maxLength": 1000,
            },
            "template": {
                "type": "string",
                "description": "the kind of work, where there are templates",
                "maxLength": 128,
            },
        },
        required=["objective"],
        effect="write",
    ),
    Own.RUN_STATUS: define(
        Own.RUN_STATUS,
        "Look at the run",
        "Tells the phase of your run, what was collected, and what is missing for the next phases.",
        {"run_id": _RUN_ID},
    ),
    Own.RUN_SET_FIELD: define(
        Own.RUN_SET_FIELD,
        "Set a field of the run",
        "Keeps a value that the work needs. Values that have to come from a tool are looked up "
        "among what tools have returned in this run.",
        {
            "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"},
            "value": {"description": "exactly as it was returned or said"},
            "source": {
                "type": "string",
                "description": "the type of the result that it is from, such as `crm.customer_id`",
                "maxLength": 128,
            },
            "run_id": _RUN_ID,
        },
        required=["name", "value"],
        effect="write",
    ),
    Own.RUN_SET_PHASE: define(
        Own.RUN_SET_PHASE,
        "Move the run",
        "Moves your run to another phase, if everything is there that this phase asks for.",
        {
            "phase": {"enum": ["planning", "retrieving", "acting", "finalizing"]},
            "note": _NOTE,
            "run_id": _RUN_ID,
        },
        required=["phase"],
        effect="write",
    ),
    Own.RUN_FINISH: define(
        Own.RUN_FINISH,
        "Finish the run",
        "Ends your run. `completed` only if everything was done that its template asks for, and "
        "nothing is under way. After `failed` only a person or the host can have you go on.",
        {
            "outcome": {"enum": ["completed", "failed"]},
            "note": {**_NOTE, "description": "what came of it"},
            "run_id": _RUN_ID,
        },
        required=["outcome"],
        effect="write",
    ),
    Own.RUN_HANDOFF: define(
        Own.RUN_HANDOFF,
        "Hand the run over",
        "Gives the rest of the work to a person, with all that was done so far. Nothing more can "
        "be changed in this run after that, and you can begin no other in its place.",
        {
            "reason": {"type": "string", "minLength": 1, "maxLength": 1000},
            "to": {"type": "string", "description": "a person or a team", "maxLength": 256},
            "run_id": _RUN_ID,
        },
        required=["reason"],
        effect="write",
    ),
}


def start(templates: str) -> JsonObject:
    """Return the definition of `run_start` that names the templates there are, if any."""
    base = ALL[Own.RUN_START]
    if not templates:
        return base
    schema = base["inputSchema"]
    assert isinstance(schema, dict)  # noqa: S101 - `define` made it
    properties = schema["properties"]
    assert isinstance(properties, dict)  # noqa: S101 - the same
    template = properties["template"]
    assert isinstance(template, dict)  # noqa: S101 - the same
    named: JsonObject = {**template, "description": f"the kind of work: {templates}"}
    return {**base, "inputSchema": {**schema, "properties": {**properties, "template": named}}}
