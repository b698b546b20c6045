"""Extensions of MCP that a client has to declare before it may use them."""

from typing import Final

from gateway.listen.rpc import RpcError
from gateway.protocol.words import MISSING_CAPABILITY
from gateway.types.calls import Caller
from gateway.types.extensions import TASKS, knows

NO_TASKS: Final = RpcError(
    code=MISSING_CAPABILITY,
    message="Missing required client capability",
    data={"requiredCapabilities": {"extensions": {TASKS: {}}}},
)


def knows_tasks(caller: Caller) -> bool:
    """Whether a request says that its client knows the extension for tasks."""
    return knows(caller.capabilities, TASKS)
