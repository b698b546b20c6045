"""The search of the events page: what was typed, what it means, and what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from pydantic_core import PydanticCustomError
from starlette.datastructures import QueryParams

from gateway.config.units import parse_duration
from gateway.store.selection import Selection
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind

_LONGEST: Final = 300
_DIGITS: Final = 18
_TEXTS: Final = ("run", "call", "actor", "tool", "rule", "code", "status", "trace")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "kind": tuple(each.value for each in EventKind),
    "decision": tuple(each.value for each in DecisionEffect),
}
_TIMES: Final = ("since", "until")
_FIELDS: Final[Mapping[str, str]] = {
    **{name: f"{name}s" for name in (*_TEXTS, *_CHOICES)},
    "status": "statuses",
}
FIELDS: Final = ("tenant", *_TEXTS, *_CHOICES, *_TIMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What somebody looks for; with a fault nothing is looked for."""

    given: Mapping[str, str]  # every field as it was typed
    wanted: Selection  # its tenants are for whoever knows who asks
    faults: Mapping[str, str]  # by field

    @property
    def query(self) -> str:
        """The search as the query of an address."""
        return urlencode({name: text for name, text in self.given.items() if text})

    @property
    def is_any(self) -> bool:
        """Whether everything is looked for."""
        return not self.query


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """From which event a page goes on, and what shows that its search is in the log already."""

    at: int | None = None
    mark: str = ""


def read(asked: QueryParams, now: datetime) -> Search:
    """Return what the parameters of an address look for."""
    given = {name: asked.get(name, "").strip() for name in FIELDS}
    faults = {
        name: f"has more than {_LONGEST} characters"
        for name, text in given.items()
        if len(text) > _LONGEST
    }
    for name, known in _CHOICES.items():
        if given[name] and given[name] not in known:
            faults[name] = f"is none of {', '.join(known)}"
    moments: dict[str, datetime | None] = {}
    for name in _TIMES:
        try:
            moments[name] = moment(given[name], now)
        except ValueError as error:
            faults[name] = str(error)
    since, until = moments.get("since"), moments.get("until")
    if since is not None and until is not None and since >= until:
        faults["until"] = "is not later than the time it begins at"
    fields = {field: (given[name],) for name, field in _FIELDS.items() if given[name]}
    wanted = replace(Selection(since=since, until=until), **fields)
    kept = {name: text[:_LONGEST] for name, text in given.items()}
    return Search(given=kept, wanted=wanted, faults=faults)


def cursor(asked: QueryParams) -> Cursor:
    """Return where a page goes on; the beginning for anything else."""
    number, _, mark = asked.get("page", "").partition(".")
    is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
    return Cursor(at=int(number), mark=mark) if is_number else Cursor()


def moment(text: str, now: datetime) -> datetime | None:
    """Read a time in UTC, or an age; None for an empty text. Raises ValueError in words."""
    if not text:
        return None
    try:
        if text[0].isdigit() and text[-1] in "smhd":
            return now - timedelta(seconds=parse_duration(text))
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError, PydanticCustomError):
        raise ValueError("is neither a time (2026-11-29T09:00) nor an age (24h)") from None
    return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
