"""Why a call is made: because somebody asked for it, or for the sake of another one."""

from enum import StrEnum


class Cause(StrEnum):
    """Whose wish a call is; all but the first are those that events name (`calls.CAUSES`)."""

    CALLER = "caller"
    VERIFICATION = "verification"  # to see what a write did
    LOOKUP = "lookup"  # to find out whether a write took place
    COMPENSATION = "compensation"  # to undo a write
