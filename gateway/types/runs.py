"""The phases of governed work."""

from enum import StrEnum


class Phase(StrEnum):
    """Where a run stands; what each phase allows is the table in `runs.machine`."""

    CREATED = "created"
    PLANNING = "planning"
    RETRIEVING = "retrieving"
    ACTING = "acting"
    AWAITING_APPROVAL = "awaiting_approval"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    HANDOFF = "handoff"
    FAILED = "failed"
