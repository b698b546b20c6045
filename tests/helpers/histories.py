"""Logs of made-up callers over a made-up company, the same for the same seed.

Whatever decides and writes is the gateway's own: judging, tickets, events and their redaction. Made
up are servers, counters of limits and the rows of runs, which are kept in memory.
"""

from collections import defaultdict
from dataclasses import dataclass
from random import Random

from tests.helpers.callers import Caller, Company
from tests.helpers.ledgers import MemoryLog


@dataclass
class History(Company):
    """Makes a log, one run after the other."""

    async def runs(self, first: int, many: int) -> None:
        """Add some runs, by their numbers."""
        for number in range(first, first + many):
            await Caller(self, Random(f"{self.seed}:{number}"), number).works()

    def forget(self) -> None:
        """Drop the log that there is so far; counters go on."""
        self.log = MemoryLog()
        self.books.journal.log = self.log


def kinds(log: MemoryLog) -> dict[str, int]:
    """Count the events of a log by kind and stage."""
    found: dict[str, int] = defaultdict(int)
    for each in log.kept:
        event = each.json()
        found[f"{event['kind']} {event['stage']}"] += 1
    return dict(found)
