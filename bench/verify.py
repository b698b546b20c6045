"""How many events a second `events verify` reads, hashes and compares, and in how much memory.

The events are those of made-up callers, told again and again under ids of their own, and written by
the store as any others. What is measured is the whole verification against a checkpoint outside, on
one core: every byte hashed, every column held against what its event says.
"""

import argparse
import asyncio
import gc
import resource
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from gateway import ids
from gateway.actions.verifying import cores, verify
from gateway.cli.progress import Bar
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report
from gateway.store.store import Store
from gateway.types.events import Event
from gateway.types.values import replaced
from tests.helpers.databases import ORIGIN
from tests.helpers.histories import History, MemoryLog
from tests.helpers.tampering import SIGNER, by

_RUNS = 200  # whose events are told again and again
_AT_ONCE = 2_000
_COVERED = 10_000  # events by each checkpoint, as of a log that has made some


class Memory:
    """What this process holds of the memory, in bytes: at first, and at most whenever it looked."""

    def __init__(self) -> None:
        self.first = self.most = _held()

    def look(self) -> None:
        """Look again."""
        self.most = max(self.most, _held())


def _held() -> int:
    with open("/proc/self/statm", encoding="ascii") as read:
        return int(read.read().split()[1]) * resource.getpagesize()


class _Heard(MemoryLog):
    """A log that keeps the events themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.events = list[Event]()

    def add(self, event: Event) -> None:
        """Keep one event."""
        super().add(event)
        self.events.append(event)


async def _told() -> list[Event]:
    log = _Heard()
    await History(log=log).runs(0, _RUNS)
    return log.events


async def _write(store: Store, many: int) -> Mark:
    """Write so many events with their checkpoints; return the last of these."""
    source = iter(cycle(await _told()))
    note, size = "", 0
    for first in range(0, many, _AT_ONCE):
        count = min(_AT_ONCE, many - first)
        store.events.append([replaced(each, id=ids.ulid()) for each in islice(source, count)])
        await store.events.kept()
    while (made := await store.checkpoints.make(by(SIGNER), most=_COVERED)) is not None:
        note, size = made.note, made.size
    return Mark(size=size, note=note, place="outside", is_outside=True)


async def measure(many: int, folder: Path) -> int:
    """Print the figures; return how many faults were found."""
    store = Store.open(f"sqlite:///{folder}/verify.db", origin=ORIGIN)
    start = time.perf_counter()
    outside = await _write(store, many)
    wrote = time.perf_counter() - start
    gc.collect()
    memory, bar = Memory(), Bar()

    def told(done: int, last: int) -> None:
        memory.look()
        bar.show(done / last, f"event {done:,} of {last:,}")

    start, used = time.perf_counter(), time.process_time()
    report: Report = await verify(store.checkpoints, Trust([SIGNER.key]), [outside], told=told)
    took, cpu = time.perf_counter() - start, time.process_time() - used
    bar.end()
    size = (folder / "verify.db").stat().st_size
    store.close()
    print(f"{many} events, {size / many:.0f} bytes each on disk, written in {wrote:.1f} s")
    print(f"verify: {many / took:,.0f} events/s on {cores()} cores")
    print(
        f"processor time: {cpu / many * 1e6:.2f} us an event, {many / cpu:,.0f} events/s of a core"
    )
    print(
        f"peak memory {memory.most >> 20} MiB, {memory.most - memory.first >> 20} MiB above before"
    )
    print(f"{report.checked} checkpoints held against it, {len(report.faults)} faults")
    return len(report.faults)


def main() -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wb-verify-") as folder:
        return 1 if asyncio.run(measure(said.events, Path(folder))) else 0


if __name__ == "__main__":
    sys.exit(main())
