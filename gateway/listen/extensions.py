"""Extensions of MCP that a client has to declare before it may use them."""

from typing import Final

from gateway.listen.rpc import MISSING_CAPABILITY, RpcError
from gateway.types.calls import Caller

_TASKS: Final = "io.modelcontextprotocol/tasks"  # adds `tasks/…` and `taskIds`
NO_TASKS: Final = RpcError(
    code=MISSING_CAPABILITY,
    message="Missing required client capability",
    data={"requiredCapabilities": {"extensions": {_TASKS: {}}}},
)


def knows_tasks(caller: Caller) -> bool:
    """Whether a request says that its client knows the extension for tasks."""
    extensions = caller.capabilities.get("extensions")
    return isinstance(extensions, dict) and _TASKS in extensions
