"""What the conformance suite expects a server to offer: tools, resources, prompts, questions.

Everything is plain JSON, so that a gateway in between can be compared member by member.
"""

from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
SILENCE: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="


def text(said: str, **more: Any) -> Json:
    """Return a tool result of one text block."""
    return {"content": [{"type": "text", "text": said}], **more}


def message(content: Json) -> Json:
    """Return a message of a prompt."""
    return {"role": "user", "content": content}


def form(said: str, properties: Json, required: list[str] | None = None) -> Json:
    """Return an elicitation of a form."""
    schema: Json = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": said, "requestedSchema": schema},
    }


def sampling(said: str, tokens: int) -> Json:
    """Return a question for the caller's model."""
    asked = {"role": "user", "content": {"type": "text", "text": said}}
    return {
        "method": "sampling/createMessage",
        "params": {"messages": [asked], "maxTokens": tokens},
    }


ROOTS: Final[Json] = {"method": "roots/list", "params": {}}
NAME: Final = form("What is your name?", {"name": {"type": "string"}}, ["name"])

# Tools that answer at once.
FIXED: Final[Mapping[str, Json]] = {
    "test_simple_text": text("This is a simple text response for testing."),
    "test_image_content": {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
    "test_audio_content": {
        "content": [{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]
    },
    "test_embedded_resource": {
        "content": [
            {
                "type": "resource",
                "resource": {
                    "uri": "test://embedded-resource",
                    "mimeType": "text/plain",
                    "text": "This is an embedded resource content.",
                },
            }
        ]
    },
    "test_multiple_content_types": {
        "content": [
            {"type": "text", "text": "Multiple content types test:"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {
                "type": "resource",
                "resource": {
                    "uri": "test://mixed-content-resource",
                    "mimeType": "application/json",
                    "text": '{"test":"data","value":123}',
                },
            },
        ]
    },
    "test_error_handling": text(
        "This tool intentionally returns an error for testing", isError=True
    ),
}

# Questions of the handshake era, asked in the middle of a call: the question, and how its answer
# is told. They depend on the arguments.
LIVE: Final = ("test_sampling", "test_elicitation")

DEFAULTS: Final = form(
    "Please check your profile",
    {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
)
ENUMS: Final = form(
    "Please choose",
    {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": f"value{n}", "title": f"{word} Option"}
                for n, word in enumerate(("First", "Second", "Third"), 1)
            ],
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": f"value{n}", "title": f"{word} Choice"}
                    for n, word in enumerate(("First", "Second", "Third"), 1)
                ]
            },
        },
    },
)

RICH_SCHEMA: Final[Json] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

RESOURCES: Final[Mapping[str, Json]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched resource content."},
    "test://example-resource": {"mimeType": "text/plain", "text": "An example."},
}
