"""Why a call is made: because somebody asked for it, or for the sake of another one."""

from enum import StrEnum
from typing import Final


class Cause(StrEnum):
    """Whose wish a call is: that of its caller, or of the gateway itself."""

    CALLER = "caller"
    VERIFICATION = "verification"  # to see what a write did
    LOOKUP = "lookup"  # to find out whether a write took place
    COMPENSATION = "compensation"  # to undo a write


# The gateway's own; events name no other.
OWN: Final = tuple(each for each in Cause if each is not Cause.CALLER)
