"""How the log stands: its size, up to where it can be proven, and who has that in writing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.admin.showing import Moment, moment_of
from gateway.approvals.visible import visible
from gateway.errors import LogChanged
from gateway.store.checkpoints import Standing
from gateway.store.instances import InstanceStatus
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.json import Json, JsonObject

_ROOT: Final = 16  # hexadecimal digits that people compare
_ALIVE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place outside of the store that checkpoints are handed to."""

    name: str
    size: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """Values for the bar above the events."""

    events: int
    size: int = 0  # events that the last checkpoint covers
    since: int = 0  # and those that it doesn't
    root: str = ""
    at: Moment | None = None
    places: Sequence[Place] = ()
    problem: str = ""
    is_changed: bool = False

    @property
    def outside(self) -> int:
        """How many events a copy outside of the store covers, at most."""
        return max((each.size for each in self.places), default=0)


async def state(store: Store, now: int) -> LogState:
    """Return how the log stands; raises StoreUnavailable."""
    try:
        standing = await store.checkpoints.standing()
    except LogChanged as error:
        events = await store.events.last_seq()
        return LogState(events=events, problem=str(error), is_changed=True)
    return _told(standing, await store.instances.all(), now)


def _told(standing: Standing, instances: Sequence[InstanceStatus], now: int) -> LogState:
    last = standing.last
    told = [_object(each.status.get("checkpoints")) for each in instances if _lives(each, now)]
    problems = (str(each.get(name) or "") for each in told for name in ("problem", "off"))
    return LogState(
        events=standing.last_seq,
        size=last.size if last is not None else 0,
        since=standing.since,
        root=last.root.hex()[:_ROOT] if last is not None else "",
        at=moment_of(microseconds(last.at), now) if last is not None else None,
        places=[*_places(told)],
        problem=visible(next((each for each in problems if each), "")),
    )


def _lives(instance: InstanceStatus, now: int) -> bool:
    return microseconds(instance.at + _ALIVE) >= now


def _places(told: Sequence[JsonObject]) -> Sequence[Place]:
    """Join what several gateways say of the same places: the most that any has handed out."""
    found: dict[str, Place] = {}
    for each in told:
        listed = each.get("to")
        for place in listed if isinstance(listed, list) else []:
            if isinstance(place, dict):
                name, size = str(place.get("name")), place.get("size")
                known = found.get(name)
                found[name] = Place(
                    name=visible(name),
                    size=max(size if isinstance(size, int) else 0, known.size if known else 0),
                    problem=visible(str(place.get("problem") or "")),
                )
    return [*found.values()]


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
