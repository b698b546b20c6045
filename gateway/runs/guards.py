"""What a run still lacks, in the words of its template."""

from collections.abc import Sequence

from gateway.runs.templates import Guard
from gateway.types.runs import Run


def unmet(guards: Sequence[Guard], run: Run) -> tuple[str, ...]:
    """Return the texts of guards that don't hold; empty where nothing is missing.

    A guard that breaks does not hold.
    """
    return tuple(guard.text for guard in guards if not _holds(guard, run))


def _holds(guard: Guard, run: Run) -> bool:
    try:
        return guard.holds(run) is True
    except Exception:  # a condition that can't be evaluated opens nothing
        return False
