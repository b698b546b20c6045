"""What is looked for among runs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.store.engine import Value
from gateway.store.rows import clean
from gateway.store.times import microseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """What is looked for; an empty field matches everything."""

    tenant: str = ""
    user: str = ""
    owner: str = ""
    phase: str = ""
    stop: str = ""
    template: str = ""
    parent: str = ""
    task_id: str = ""
    is_open: bool = False  # neither finished nor paused
    since: datetime | None = None
    limit: int = 100


_CONDITIONS: Final = {
    "tenant": "tenant = :tenant",
    "user": "actor_user = :user",
    "owner": "owner = :owner",
    "phase": "phase = :phase",
    "stop": "stop_reason = :stop",
    "template": "template = :template",
    "parent": "parent = :parent",
    "task_id": "task_id = :task_id",
    "is_open": "finished_at = 0 AND is_paused = 0",
    "since": "created_at >= :since",
}


def conditions(wanted: RunFilter) -> tuple[str, dict[str, Value]]:
    """Return the condition of a query for what is wanted, and its parameters."""
    parameters: dict[str, Value] = {"limit": wanted.limit}
    parts: list[str] = []
    for name, text in _CONDITIONS.items():
        value: object = getattr(wanted, name)
        match value:
            case datetime():
                parameters[name] = microseconds(value)
            case str() if value:
                parameters[name] = clean(value)
            case True:
                pass
            case _:
                continue
        parts.append(text)
    return ("WHERE " + " AND ".join(parts) if parts else ""), parameters
