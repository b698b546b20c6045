"""Events for systems of others: in the forms that those read, under the name of their log."""

from collections.abc import Callable, Mapping
from typing import Final

from gateway.events import checkpoints, cloudevents, notes, ocsf
from gateway.store.checkpoints import Checkpoints
from gateway.types.json import JsonObject

Translate = Callable[[JsonObject, str], JsonObject]
"""Makes of an event, with its number, what another format has; the text is the log's origin."""

FORMS: Final[Mapping[str, Translate]] = {
    "ocsf": lambda kept, _: ocsf.event(kept),
    "cloudevents": cloudevents.event,
}


async def origin(log: Checkpoints) -> str:
    """Return what the log is called in its checkpoints; empty before the first of them.

    Raises StoreUnavailable, and LogChanged for a checkpoint that is none.
    """
    last = (await log.standing()).last
    return checkpoints.parse(notes.parse(last.note).text).origin if last is not None else ""
