"""The process groups that this process started, for an end that leaves no time to ask."""

import contextlib
import os
import signal

# Of the process, as groups are: a signal handler has nothing else at hand.
_running: set[int] = set()


def began(group: int) -> None:
    """Take note of a group, by the id of its leader."""
    _running.add(group)


def ended(group: int) -> None:
    """Forget a group that has no members any more: its id may become another's."""
    _running.discard(group)


def kill_all() -> None:
    """Kill every member of every group; whoever waits for them learns of it as of any exit."""
    for group in tuple(_running):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
