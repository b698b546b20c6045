"""The names of tools of the gateway's own, which are no tool of any server."""

from enum import StrEnum


class Own(StrEnum):
    """Each with what it is for."""

    WAIT = "gateway_wait"  # for a person's decision
    REPEAT = "gateway_repeat"  # a call that is to happen twice
    RUN_START = "run_start"
    RUN_STATUS = "run_status"
    RUN_SET_FIELD = "run_set_field"
    RUN_SET_PHASE = "run_set_phase"
    RUN_FINISH = "run_finish"
    RUN_HANDOFF = "run_handoff"
