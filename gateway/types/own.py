"""The names of tools of the gateway's own, which are no tool of any server."""

from enum import StrEnum


class Own(StrEnum):
    """Each with what it is for."""

    WAIT = "gateway_wait"  # for a person's decision
    REPEAT = "gateway_repeat"  # a call that is to happen twice
