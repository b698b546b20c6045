"""The points on the way of a write between which a crash leaves something else behind."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias


class Failpoint(StrEnum):
    """Where a process may end; docs/explanation/crashes.md says what is found afterwards."""

    BEFORE_INTENT = "before_intent"  # nothing is committed
    AFTER_INTENT = "after_intent"  # the intent is committed, and nothing is sent
    AFTER_SEND = "after_send"  # the request is on its way; its answer is not here
    BEFORE_SETTLE = "before_settle"  # the answer is here; the outcome is not committed


Reached: TypeAlias = Callable[[Failpoint], None]


def go_on(point: Failpoint) -> None:
    """Do nothing: so it is everywhere but in tests, which end the process there."""
    del point
