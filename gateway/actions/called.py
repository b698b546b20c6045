"""How tools were called so far, told by the log: how often, when last, and by how many callers."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from gateway.actions import questions
from gateway.actions.questions import Log
from gateway.store.selection import Selection
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject


@dataclass(slots=True, kw_only=True)
class Called:
    """The calls of one tool."""

    count: int = 0
    last: datetime | None = None
    callers: set[tuple[Json, ...]] = field(default_factory=set[tuple[Json, ...]])
    """Tenant, issuer and user of each."""

    def to_json(self) -> JsonObject:
        """Render for programs."""
        return {
            "count": self.count,
            "last": self.last.isoformat(timespec="seconds") if self.last is not None else None,
            "callers": len(self.callers),
        }


async def called(log: Log, tools: Collection[str]) -> dict[str, Called]:
    """Count the judged calls of tools (`server.name`) in a log. Raises StoreUnavailable."""
    found = {tool: Called() for tool in tools}
    wanted = Selection(
        kinds=(EventKind.AUTHORIZATION.value,),
        stages=(Stage.DECIDED.value,),
        tools=tuple(tools),
    )
    if not found:
        return found
    async for event in questions.each(log, wanted):
        read = event.json()
        body, actor = _object(read.get("body")), _object(read.get("actor"))
        seen = found.get(str(body.get("tool")))
        if seen is None or "arguments" not in body or body.get("cause"):
            continue  # a question of a server, or a call of the gateway's own
        seen.count += 1
        seen.last = datetime.fromisoformat(str(read["ts"]))
        who = (read.get("tenant"), actor.get("issuer"), actor.get("user"))
        seen.callers.add(who)
    return found


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
