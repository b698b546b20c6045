"""Conditions of filters."""

from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.store import filters

TEXTS = {"tool": "tool = :tool", "since": "at >= :since", "is_open": "ended = 0"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    tool: str = ""
    since: datetime | None = None
    is_open: bool = False


def test_a_filter_that_wants_nothing_has_no_condition() -> None:
    assert filters.parts(TEXTS, Wanted()) == ([], {})
    assert filters.where([]) == ""


def test_values_are_parameters_and_flags_are_conditions_alone() -> None:
    at = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    found, parameters = filters.parts(TEXTS, Wanted(tool="a\0b", since=at, is_open=True))
    assert filters.where(found) == "WHERE tool = :tool AND at >= :since AND ended = 0"
    assert parameters["since"] == 1_000_000
    assert "\0" not in str(parameters["tool"])
