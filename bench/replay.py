"""How fast a log is judged again, whether all of it comes out the same, and what memory it takes.

Made-up callers over a made-up company: every call is judged, recorded and redacted by the gateway's
own code, then judged again under its own revision, and under one with a planted change.
"""

import argparse
import asyncio
import gc
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass

from gateway.replay import history
from gateway.replay.history import Span
from gateway.replay.replaying import Replay
from gateway.replay.reporting import reported
from gateway.replay.types import Grade
from gateway.revision import Revision
from gateway.store.events import EventFilter, StoredEvent
from tests.helpers.histories import History
from tests.helpers.ledgers import MemoryLog
from tests.helpers.planted import NARROWER, WIDER

_AT_ONCE = 500  # runs: a whole log of ten thousand would not be kept in memory
_MIB = 1024


def replays(made: History, change: str) -> tuple[Replay, Replay]:
    """Return what judges by the revision of then, and by one with a planted change."""
    other = {**WIDER, **NARROWER}[change](made.world).revision()

    async def past(id: str) -> Revision | None:
        return made.revision if id == made.revision.id else None

    own = Replay(candidate=made.revision, past=past, definitions=made.definitions)
    return own, Replay(candidate=other, past=past, definitions=made.definitions)


async def measure(runs: int, seed: int, change: str) -> int:
    """Print the figures; return how many calls were not the same under their own revision."""
    made = History(seed=seed)
    own, candidate = replays(made, change)
    grades, kinds = Counter[str](), Counter[Grade]()
    calls = unfaithful = unknown = size = events = 0
    judging = reading = comparing = 0.0
    for first in range(0, runs, _AT_ONCE):
        await made.runs(first, min(_AT_ONCE, runs - first))
        size, events = size + made.log.size, events + len(made.log.kept)
        gc.freeze()  # of the calls alone that are made up here
        start = time.process_time()
        read = [each async for each in history.calls(made.log, Span())]
        reading += time.process_time() - start
        start = time.process_time()
        for call in read:
            again = await own.compared(call)
            calls, unknown = calls + 1, unknown + bool(call.unknown)
            unfaithful += again.grade is not Grade.SAME or again.is_faithful is not True
        judging += time.process_time() - start
        start = time.process_time()
        for call in read:
            compared = await candidate.compared(call)
            kinds[compared.grade] += 1
            if compared.grade is Grade.CHANGED:
                grades[f"{compared.grants} {compared.cause}"] += 1
        comparing += time.process_time() - start
        made.forget()
        gc.unfreeze()
    print(f"{runs} runs, {calls} calls, {events} events of {size / events:.0f} bytes")
    print(f"of {unknown} calls the log does not hold all arguments")
    same = calls - unfaithful
    print(f"self-check: {same} of {calls} the same ({same / calls:.4%})")
    print(f"reading: {calls / reading:.0f} calls/s of processor time")
    print(f"judging again: {calls / judging:.0f} calls/s, {judging / calls * 1e6:.0f} us a call")
    print(
        f"two revisions: {calls / comparing:.0f} pairs of decisions a second,"
        f" {comparing / calls * 1e6:.0f} us a pair"
    )
    both = calls / (reading + comparing)
    print(f"both, as a replay of the log does: {both:.0f} calls/s of processor time")
    told = ", ".join(f"{kind} {kinds[kind]}" for kind in Grade)
    print(f"planted `{change}`: {told}; {dict(grades)}")
    return unfaithful


@dataclass(slots=True)
class Again:
    """A log that is one stretch of events over and over, each time of other runs and calls."""

    events: list[StoredEvent]
    times: int

    async def query(self, wanted: EventFilter) -> list[StoredEvent]:
        """Return events after a number, or those of one call."""
        if wanted.call:
            time, _, call = wanted.call.partition("-")
            place = self._place(int(time))
            return [
                self._event(place, number)
                for number, each in enumerate(self.events)
                if f'"call":"{call}"'.encode() in each.body
            ]
        many = len(self.events)
        last = min(wanted.after + wanted.limit, many * self.times)
        return [self._event(self._place(at // many), at % many) for at in range(wanted.after, last)]

    def _place(self, time: int) -> tuple[int, bytes]:
        return time * len(self.events), str(time).encode()

    def _event(self, place: tuple[int, bytes], number: int) -> StoredEvent:
        before, time = place
        body = self.events[number].body
        for name in (b'"call":"', b'"run":"'):
            body = body.replace(name, name + time + b"-", 1)
        return StoredEvent(seq=before + number + 1, body=body)


async def measure_memory(events: int, seed: int, change: str) -> None:
    """Replay a log of so many events, and print what memory that takes as it goes on."""
    made = History(seed=seed)
    await made.runs(0, _AT_ONCE)
    log = Again(made.log.kept, times=max(1, events // len(made.log.kept)))
    made.log = MemoryLog()
    _, candidate = replays(made, change)
    gc.freeze()
    whole = log.times * len(log.events)
    print(f"{whole} events, read as {log.times} times {len(log.events)}")
    every = max(1, whole // 25)
    start = time.process_time()

    def told(calls: int) -> None:
        if calls % every == 0:
            print(f"  {calls} calls: {_memory()} MiB")

    report = await reported(log, Span(), candidate, told=told)
    spent = time.process_time() - start
    print(f"  {report.calls} calls in {report.runs} runs: {_memory()} MiB, {spent:.0f} s")


def _memory() -> int:
    """Return how much memory this process has at the moment, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as read:
        return int(read.read().split()[1]) * resource.getpagesize() // _MIB // _MIB


def main() -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--change", default="a larger bound", choices=[*WIDER, *NARROWER])
    parser.add_argument("--events", type=int, help="replay a log of so many, and watch the memory")
    said = parser.parse_args()
    if said.events is not None:
        asyncio.run(measure_memory(said.events, said.seed, said.change))
        return 0
    return 1 if asyncio.run(measure(said.runs, said.seed, said.change)) else 0


if __name__ == "__main__":
    sys.exit(main())
