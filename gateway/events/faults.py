"""What can be wrong with a log, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class FaultKind(StrEnum):
    """What can be wrong with a log."""

    MISSING = "missing"  # a number has no event
    ARCHIVED = "archived"  # said to be in an archive, and no event under a checkpoint says so
    STRAY = "stray"  # an event has a number that an archive took
    CHANGED = "changed"  # an event isn't what was signed
    REWRITTEN = "rewritten"  # among these events, something isn't what was signed
    CUT_OFF = "cut_off"  # events at the end are gone
    SIGNATURE = "signature"  # a checkpoint is signed by nobody who is trusted
    COLUMNS = "columns"  # what queries go by isn't what the event says
    MALFORMED = "malformed"  # an event is no JSON object
    SEALED = "sealed"  # what is kept sealed beside an event isn't what the event says
    TILE = "tile"  # the kept hashes aren't those of the events, which are as signed


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong, with the first and the last event that it is about."""

    kind: FaultKind
    first: int
    last: int
    what: str


def follows(previous: Fault, fault: Fault) -> bool:
    """Whether a fault goes on where another one ended."""
    return (
        previous.kind == fault.kind
        and previous.what == fault.what
        and previous.last + 1 == fault.first
        and fault.kind is not FaultKind.SIGNATURE
    )


def merged(faults: Sequence[Fault]) -> list[Fault]:
    """Return the faults in the order of the events, those of one kind side by side as one."""
    ranks = {kind: rank for rank, kind in enumerate(FaultKind)}
    found: list[Fault] = []
    for fault in sorted(faults, key=lambda fault: (ranks[fault.kind], fault.first, fault.last)):
        if found and follows(found[-1], fault):
            found[-1] = replace(found[-1], last=fault.last)
        else:
            found.append(fault)
    return sorted(found, key=lambda fault: (fault.first, ranks[fault.kind]))
