"""What is wanted of a run, by whom, whose runs he gets to see, and why something is not done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.errors import WeighbridgeError
from gateway.types.actors import Actor
from gateway.types.json import Json
from gateway.types.runs import Mode, Mover, Run
from gateway.types.values import value


class Kind(StrEnum):
    """Why something was not done with a run, for programs."""

    NOT_FOUND = "not_found"  # also for somebody else's
    BLOCKED = "blocked"  # the run, or its template, does not allow it
    CHANGED = "changed"  # it is another version than the one that was meant
    OPEN = "open"  # what would lead to a new run leads to one that is not completed
    TOO_MANY = "too_many"  # as many of its owner go on as may
    KEY_USED = "key_used"  # the key of an attempt has led to another run
    INVALID = "invalid"  # what was asked for names something that there is not


@dataclass(slots=True, kw_only=True)
class RunRefused(WeighbridgeError):
    """What was asked of a run is not done: why, what is missing for it, and what to do next."""

    kind: Kind
    reason: str
    missing: tuple[str, ...] = ()
    next: str = ""

    def __str__(self) -> str:
        return f"{self.reason}; {self.next}" if self.next else self.reason


@value
class By:
    """Who wants something of a run."""

    mover: Mover
    actor: Actor | None = None
    call: str = ""  # the call that it was asked by


@value
class Sees:
    """Whose runs somebody gets to see: an empty text stands for all."""

    tenant: str = ""
    user: str = ""
    owners: frozenset[str] = frozenset()  # digests of principals; empty: whoever's

    def lets(self, run: Run) -> bool:
        """Whether a run is there for him."""
        return (
            self.tenant in ("", run.tenant)
            and self.user in ("", run.user)
            and (not self.owners or run.owner in self.owners)
        )


@value
class NewRun:
    """A run that is wanted."""

    tenant: str
    owner: str
    user: str
    is_of_user: bool = False
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    client: str = ""
    task_id: str = ""
    objective: str = ""
    template: str = ""
    mode: Mode | None = None  # None: as its template says
    parent: str = ""
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    source: str = "host"  # whose word the fields are
