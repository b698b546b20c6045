"""How tools were called so far."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from gateway.actions.called import called
from gateway.types.events import EventKind, Stage
from tests.helpers.cases import NOW, an_actor
from tests.helpers.events import an_event
from tests.helpers.workspaces import a_workspace


def judged(tool: str, cause: str = "", **changes: Any) -> Any:
    body: dict[str, Any] = {"tool": tool, "decision": "allow", "arguments": {}, "cause": cause}
    return an_event(kind=EventKind.AUTHORIZATION, stage=Stage.DECIDED, body=body, **changes)


async def test_calls_callers_and_the_last_time_are_counted(tmp_path: Path) -> None:
    later = NOW + timedelta(hours=1)
    with a_workspace(tmp_path).store() as store:
        store.events.append(
            [
                judged("crm.find"),
                judged("crm.find", actor=an_actor(user="ann"), at=later),
                judged("crm.find", "lookup", actor=an_actor(user="bo")),
                judged("crm.other"),
                an_event(body={"tool": "crm.find", "status": "ok"}),
            ]
        )
        await store.events.kept()
        found = await called(store.events, {"crm.find", "crm.never"})
        assert await called(store.events, set()) == {}
    seen = found["crm.find"]
    assert (seen.count, seen.last, len(seen.callers)) == (2, later, 2)
    assert found["crm.never"].to_json() == {"count": 0, "last": None, "callers": 0}
