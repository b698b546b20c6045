"""What the servers of the matrix offer and answer: all that MCP has room for, as plain JSON.

Members called `vendor…` and blocks of the type `hologram` are in no revision; they must pass.
"""

from typing import Any, Final

Json = dict[str, Any]

HUGE: Final = 10**29 + 7  # 30 digits
SMALL: Final = -(10**29)
PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
META: Final[Json] = {"vendor.example/note": {"n": HUGE, "one": 1, "real": 1.0, "none": None}}
ANNOTATIONS: Final[Json] = {
    "audience": ["user"],
    "priority": 0.5,
    "lastModified": "2026-11-01T00:00:00Z",
    "vendor": [1, 1.0],
}
NUMBERS: Final[Json] = {
    "huge": HUGE,
    "small": SMALL,
    "one": 1,
    "real": 1.0,
    "half": 0.5,
    "none": None,
    "nested": [{"a": None}, [], {}, [[0, 0.0]]],
    "texts": ["", "ü😀\u2028", 'a"\\b'],
}

BLOCKS: Final[list[Json]] = [
    {"type": "text", "text": "ü😀", "annotations": ANNOTATIONS, "_meta": META, "vendor": HUGE},
    {"type": "image", "data": PIXEL, "mimeType": "image/png", "vendor": None},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav", "_meta": META},
    {
        "type": "resource_link",
        "uri": "mem://elsewhere/1",
        "name": "link",
        "title": "Link",
        "size": 7,
        "icons": [{"src": "https://example.org/i.png", "sizes": ["48x48"], "theme": "dark"}],
        "vendor": True,
    },
    {
        "type": "resource",
        "resource": {"uri": "mem://in/1", "text": "in", "_meta": META, "vendor": 1.0},
        "vendor": 1,
    },
    {"type": "resource", "resource": {"uri": "mem://in/2", "blob": "AAAA", "mimeType": "x/y"}},
    {"type": "hologram", "depth": 1.0, "points": [HUGE], "_meta": META},
]


def text(said: str) -> Json:
    """Return a result of one text block."""
    return {"content": [{"type": "text", "text": said}]}


# Tools with an answer that is always the same.
FIXED: Final[dict[str, Json]] = {
    "structured": {
        **text("see the structure"),
        "structuredContent": NUMBERS,
        "_meta": META,
        "vendorResult": [1, 1.0, HUGE],
    },
    "structured_alone": {"content": [], "structuredContent": {"n": HUGE, "real": 1.0}},
    "structured_null": {**text("null"), "structuredContent": None},
    "structured_list": {**text("a list"), "structuredContent": [1, 1.0, None, HUGE]},
    "structured_word": {**text("a word"), "structuredContent": "word"},
    "blocks": {"content": BLOCKS, "_meta": META},
    "nothing": {"content": []},
    "failing": {
        "content": [{"type": "text", "text": "no such row", "vendor": 1.0}],
        "structuredContent": {"code": 7, "n": HUGE},
        "isError": True,
        "_meta": META,
    },
}
# Tools that answer with a JSON-RPC error.
ERRORS: Final[dict[str, Json]] = {
    "error_object": {"code": -32050, "message": "of our own", "data": {"n": HUGE, "real": 1.0}},
    "error_list": {"code": 7, "message": "with a list", "data": [1, 1.0, None]},
    "error_bare": {"code": -32603, "message": "without data"},
    "error_params": {"code": -32602, "message": "bad params", "data": {"at": "/x"}},
}
_OBJECT: Final[Json] = {"type": "object", "additionalProperties": True}
_RICH: Final[Json] = {
    "name": "rich",
    "title": "Rich",
    "description": "A definition with everything.",
    "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"row": {"$anchor": "row", "type": "object", "x-vendor": {"n": 1.0}}},
        "type": "object",
        "properties": {
            "row": {"$ref": "#/$defs/row"},
            "n": {"type": "integer", "maximum": HUGE, "default": 1},
            "kind": {"enum": ["a", None, 1, 1.5]},
        },
        "x-vendor-order": ["row", "n"],
    },
    "outputSchema": {"type": "object", "properties": {"row": True}, "x-vendor": 1},
    "annotations": {"title": "R", "readOnlyHint": True, "openWorldHint": False, "vendor": [1.0]},
    "icons": [{"src": "https://example.org/i.png", "mimeType": "image/png", "vendor": 1}],
    "execution": {"taskSupport": "optional", "vendor": 1},
    "_meta": META,
    "vendorTool": {"n": HUGE},
}
_ACTING: Final = (
    "echo",
    "progress",
    "logs",
    "slow",
    "ask_form",
    "ask_url",
    "ask_model",
    "ask_roots",
    "ask_twice",
    "ask_visit",
    "begin_task",
)
TOOLS: Final[list[Json]] = [
    _RICH,
    {"name": "open_output", "inputSchema": _OBJECT, "outputSchema": {"type": ["array", "null"]}},
    *({"name": name, "inputSchema": _OBJECT} for name in (*FIXED, *ERRORS, *_ACTING)),
]

# What the tools that ask want to know. The order of the keys is that of the questions.
FORM: Final[Json] = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "Which row?",
        "requestedSchema": {
            "type": "object",
            "properties": {"row": {"type": "integer", "title": "Row", "maximum": HUGE}},
            "required": ["row"],
        },
        "vendorQuestion": [1, 1.0, HUGE],
        "_meta": META,
    },
}
URL: Final[Json] = {
    "method": "elicitation/create",
    "params": {
        "mode": "url",
        "message": "Please log in",
        "url": "https://login.example.org/?id=1",
        "elicitationId": "login-1",
    },
}
MODEL: Final[Json] = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Name a colour"}}],
        "maxTokens": 10,
        "temperature": 1.0,
        "metadata": {"vendor": HUGE},
    },
}
ROOTS: Final[Json] = {"method": "roots/list", "params": {}}
QUESTIONS: Final[dict[str, Json]] = {
    "ask_form": FORM,
    "ask_url": URL,
    "ask_model": MODEL,
    "ask_roots": ROOTS,
}
# How a caller answers each.
ANSWERS: Final[dict[str, Json]] = {
    "ask_form": {"action": "accept", "content": {"row": HUGE, "share": 1.0}, "vendor": 1},
    "ask_url": {"action": "accept"},
    "ask_model": {
        "role": "assistant",
        "model": "none",
        "content": {"type": "text", "text": "blue"},
        "stopReason": "endTurn",
        "vendor": [1, 1.0],
    },
    "ask_roots": {"roots": [{"uri": "file:///home/sam", "name": "home", "vendor": HUGE}]},
}
CAPABILITIES: Final[Json] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "roots": {"listChanged": True},
}
TASKS: Final = "io.modelcontextprotocol/tasks"

LOGS: Final[list[Json]] = [
    {"level": "debug", "data": "low"},
    {"level": "info", "logger": "rows", "data": {"n": HUGE, "real": 1.0}, "vendor": 1},
    {"level": "error", "data": [None, 1], "_meta": META},
]
PROGRESS: Final[list[Json]] = [
    {"progress": 1, "total": 4, "message": "one"},
    {"progress": 2.5},
    {"progress": 4, "total": 4},
]


def resources(server: str) -> list[Json]:
    """Return the listed resources of a server."""
    return [
        {
            "uri": f"mem://{server}/text",
            "name": "text",
            "title": "Text",
            "description": "A text",
            "mimeType": "text/plain",
            "size": 3,
            "annotations": ANNOTATIONS,
            "icons": [{"src": "https://example.org/i.png"}],
            "_meta": META,
            "vendorResource": HUGE,
        },
        {"uri": f"mem://{server}/blob", "name": "blob", "mimeType": "application/octet-stream"},
        {"uri": f"mem://{server}/missing", "name": "missing"},
        {"uri": f"mem://{server}/asked", "name": "asked"},
    ]


def templates(server: str) -> list[Json]:
    """Return the templates of a server."""
    return [
        {"uriTemplate": f"mem://{server}/rows/{{id}}", "name": "row", "_meta": META, "vendor": 1.0}
    ]


def contents(server: str, uri: str) -> Json | None:
    """Return what a resource holds, or None for one that isn't there."""
    path = uri.removeprefix(f"mem://{server}/")
    if path == "text":
        more: Json = {"mimeType": "text/plain", "text": "ü😀\r\n", "_meta": META, "vendor": HUGE}
        return {"contents": [{"uri": uri, **more}], "_meta": META, "vendorResult": 1.0}
    if path == "blob":
        return {"contents": [{"uri": uri, "blob": PIXEL}, {"uri": f"{uri}#2", "blob": ""}]}
    if path.startswith("rows/"):
        return {"contents": [{"uri": uri, "text": f'{{"id": {path[5:]}}}'}]}
    return None


PROMPTS: Final[list[Json]] = [
    {
        "name": "greet",
        "title": "Greet",
        "description": "A greeting",
        "arguments": [{"name": "who", "description": "whom", "required": True, "vendor": 1.0}],
        "icons": [{"src": "https://example.org/i.png"}],
        "_meta": META,
        "vendorPrompt": HUGE,
    },
    {"name": "rich"},
    {"name": "broken"},
    {"name": "asking"},
]


def prompt(name: str, arguments: Any) -> Json | None:
    """Return a prompt, or None where the server answers with an error."""
    match name:
        case "greet":
            said: Json = {"type": "text", "text": f"Greet {arguments['who']}", "vendor": 1}
            message: Json = {"role": "user", "content": said, "vendorMessage": HUGE}
            return {"description": "d", "messages": [message], "_meta": META, "vendorResult": 1.0}
        case "rich":
            return {"messages": [{"role": "assistant", "content": block} for block in BLOCKS]}
        case _:
            return None


PROMPT_ERROR: Final[Json] = {"code": -32050, "message": "no", "data": {"n": HUGE}}
