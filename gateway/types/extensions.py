"""Extensions of MCP that a client has to declare before it is given what they add."""

from typing import Final

from gateway.types.json import JsonObject

TASKS: Final = "io.modelcontextprotocol/tasks"


def knows(capabilities: JsonObject, extension: str) -> bool:
    """Whether capabilities, as they were declared, hold an extension."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and extension in extensions
