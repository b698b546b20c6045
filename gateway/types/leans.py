"""Which way a change goes, for whoever reviews it."""

from enum import StrEnum


class Lean(StrEnum):
    """What a change of rules or contracts does to what callers may do; the first is read first."""

    WIDER = "wider"  # more is let through, or with less to hold it back
    NARROWER = "narrower"
    OTHER = "other"  # neither, or nobody can tell
