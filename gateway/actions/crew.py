"""The workers of a gateway, as their snapshots tell of them."""

from collections import defaultdict
from collections.abc import Iterable

from gateway.types.json import JsonObject
from gateway.types.workers import Worker


def worker_of(status: JsonObject) -> Worker | None:
    """Return which of several workers wrote a snapshot, None for a gateway that is alone."""
    told = status.get("worker")
    number, of = (told.get("number"), told.get("of")) if isinstance(told, dict) else (None, None)
    if not isinstance(number, int) or not isinstance(of, int):
        return None
    return Worker(number=number, of=of)


def absent(running: Iterable[JsonObject]) -> tuple[str, ...]:
    """Say which workers are away, by the snapshots of those that run; a sentence each."""
    seen: defaultdict[tuple[str, str, int], set[int]] = defaultdict(set)
    for status in running:
        worker = worker_of(status)
        if worker is not None:
            place = (str(status.get("pids")), str(status.get("front")), worker.of)
            seen[place].add(worker.number)
    return tuple(
        f"worker {number} of {of} at {front} does not serve right now"
        for (_, front, of), numbers in sorted(seen.items())
        for number in range(1, of + 1)
        if number not in numbers
    )
