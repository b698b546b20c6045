"""What is looked for among runs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.store import filters
from gateway.store.engine import Value


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
    found, parameters = filters.parts(_CONDITIONS, wanted)
    return filters.where(found), {**parameters, "limit": wanted.limit}
