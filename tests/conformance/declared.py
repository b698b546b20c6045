"""What the fixtures of the conformance suite declare: capabilities, schemas, rounds, prompts."""

from collections.abc import Mapping

from tests.conformance.fixtures import (
    FIXED,
    NAME,
    RESOURCES,
    RICH_SCHEMA,
    ROOTS,
    Json,
    form,
    sampling,
)

MODERN = "2026-07-28"
CACHED = {"ttlMs": 1000, "cacheScope": "public"}
INVALID_PARAMS = -32602
MISSING_CAPABILITY = -32021
NOT_FOUND_LEGACY = -32002
CAPABILITIES: Json = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
CAPABILITY_OF = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
HEADER_TOOL: Json = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "query": {"type": "string"},
    },
}


def an_object(**properties: Json) -> Json:
    """Return a schema in which every member is required."""
    schema: Json = {"type": "object", "properties": properties}
    return {**schema, "required": [*properties]} if properties else schema


SCHEMAS: Mapping[str, Json] = {
    **{name: an_object() for name in FIXED},
    "test_tool_with_logging": an_object(),
    "test_logging_tool": an_object(),
    "test_tool_with_progress": an_object(),
    "test_sampling": an_object(prompt={"type": "string"}),
    "test_elicitation": an_object(message={"type": "string"}),
    "test_elicitation_sep1034_defaults": an_object(),
    "test_elicitation_sep1330_enums": an_object(),
    "test_reconnection": an_object(),
    "test_missing_capability": an_object(),
    "test_streaming_elicitation": an_object(),
    "test_trigger_tool_change": an_object(),
    "test_trigger_prompt_change": an_object(),
    "test_update_resource": an_object(),
    "test_custom_header": HEADER_TOOL,
    "json_schema_2020_12_tool": RICH_SCHEMA,
    "test_input_required_result_elicitation": an_object(),
    "test_input_required_result_sampling": an_object(),
    "test_input_required_result_list_roots": an_object(),
    "test_input_required_result_request_state": an_object(),
    "test_input_required_result_multiple_inputs": an_object(),
    "test_input_required_result_multi_round": an_object(),
    "test_input_required_result_tampered_state": an_object(),
    "test_input_required_result_capabilities": an_object(),
}
# What each stateless tool asks, round by round; the state names the round.
ROUNDS: Mapping[str, tuple[Json, ...]] = {
    "test_input_required_result_elicitation": ({"user_name": NAME},),
    "test_input_required_result_sampling": (
        {"capital_question": sampling("What is the capital of France?", 100)},
    ),
    "test_input_required_result_list_roots": ({"client_roots": ROOTS},),
    "test_input_required_result_request_state": (
        {"confirm": form("Please confirm", {"ok": {"type": "boolean"}}, ["ok"])},
    ),
    "test_input_required_result_tampered_state": (
        {"confirm": form("Please confirm", {"ok": {"type": "boolean"}}, ["ok"])},
    ),
    "test_input_required_result_multiple_inputs": (
        {"user_name": NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS},
    ),
    "test_input_required_result_multi_round": (
        {"step1": form("Step 1: What is your name?", {"name": {"type": "string"}}, ["name"])},
        {
            "step2": form(
                "Step 2: What is your favorite color?", {"color": {"type": "string"}}, ["color"]
            )
        },
    ),
    "test_streaming_elicitation": ({"user_name": NAME},),
    "test_input_required_result_prompt": (
        {
            "user_context": form(
                "What context should the prompt use?", {"context": {"type": "string"}}, ["context"]
            )
        },
    ),
}
STATEFUL = frozenset(
    {
        "test_input_required_result_request_state",
        "test_input_required_result_tampered_state",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_multi_round",
    }
)
PROMPTS: Mapping[str, Json] = {
    "test_simple_prompt": {"description": "A prompt without arguments"},
    "test_prompt_with_arguments": {
        "description": "A prompt with arguments",
        "arguments": [
            {"name": "arg1", "description": "the first", "required": True},
            {"name": "arg2", "description": "the second", "required": True},
        ],
    },
    "test_prompt_with_embedded_resource": {
        "description": "A prompt with a resource in it",
        "arguments": [{"name": "resourceUri", "description": "its URI", "required": True}],
    },
    "test_prompt_with_image": {"description": "A prompt with an image"},
    "test_input_required_result_prompt": {"description": "A prompt that asks first"},
}
TEMPLATE: Json = {
    "uriTemplate": "test://template/{id}/data",
    "name": "template",
    "description": "Data by id",
    "mimeType": "application/json",
}


def resources() -> list[Json]:
    """Return the entries of the list of resources."""
    return [
        {
            "uri": uri,
            "name": uri.removeprefix("test://"),
            "description": f"Fixture {uri}",
            "mimeType": contents["mimeType"],
        }
        for uri, contents in sorted(RESOURCES.items())
    ]
