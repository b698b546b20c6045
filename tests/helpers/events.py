"""Events for the log, each one valid and with an id of its own."""

from typing import Any

from gateway import ids
from gateway.types.events import Event, EventKind, Stage
from tests.helpers.cases import NOW, an_actor


def an_event(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "id": ids.ulid(),
        "at": NOW,
        "kind": EventKind.TOOL_CALL,
        "stage": Stage.FINISHED,
        "body": {"tool": "crm.find", "status": "ok"},
        "tenant": "acme",
        "call": "call_1",
        "actor": an_actor(),
    }
    return Event(**(fields | changes))
