"""What is wrong with arguments that an approver would rather have, by the tool's schema."""

from gateway.contracts.schemas import ToolSchemas
from gateway.operations import keys
from gateway.types.json import JsonObject
from gateway.types.tools import Contract, Effect


def faults(contract: Contract, schemas: ToolSchemas, arguments: JsonObject) -> tuple[str, ...]:
    """Name each field with what was expected and what came; nothing when the tool takes them.

    A call that the agent could never make would be no proposal.
    """
    # As the call itself is judged: a model has no key of the server's, and a read has none at all.
    injection = None if contract.effect is Effect.READ else contract.idempotency.inject
    try:
        judged = keys.filled(keys.own(arguments, injection), injection)
    except keys.KeyRefused as error:
        return (str(error),)
    if schemas.input.is_valid(judged):
        return ()
    return tuple(
        f"`{each.pointer or '/'}`: expected {each.expected}, got {each.received}"
        for each in schemas.input.violations(judged)
    )
