"""How much the log keeps of a call, and what is kept beside it for whoever has the key."""

from enum import StrEnum

from gateway.types.values import value


class Level(StrEnum):
    """What of arguments and results is in events; all else about a call is there at any level."""

    METADATA = "metadata"  # their names, types and lengths
    REQUEST = "request"  # arguments, redacted
    FULL = "full"  # and what was answered, redacted


@value
class Audit:
    """What a contract says of its tool's calls in the log."""

    level: Level | None = None  # None: as the configuration has it
    seal: bool = False  # the arguments are kept as they were, encrypted


@value
class SealedCopy:
    """Arguments that are kept beside an event, and open with the key of their tenant alone."""

    key: str  # id of the data key
    wrapped: str  # that key, encrypted
    content: str  # what it encrypts
