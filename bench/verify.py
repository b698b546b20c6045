"""How many events a second `events verify` reads, hashes and compares, and in how much memory.

The events are those of made-up callers, told again and again under ids of their own, as other calls
in other runs, and written by the store as any others. What is measured is the whole verification
against a checkpoint outside: every byte hashed, every column held against what its event says. With
`--replay`, the same log is replayed afterwards under a policy with a planted change.
"""

import argparse
import asyncio
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count, islice
from pathlib import Path

from bench.replay import replays
from gateway import ids
from gateway.actions.verifying import Depth, cores, verify
from gateway.cli.progress import Bar
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report
from gateway.replay.history import Span
from gateway.replay.reporting import reported
from gateway.replay.watching import Watched
from gateway.store.store import Store
from gateway.types.events import Event
from gateway.types.json import JsonObject
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

    def __str__(self) -> str:
        """Say it in words."""
        return f"memory: {self.first >> 20} MiB before, {self.most >> 20} MiB at most"


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


def _others(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events again and again, each time as those of other calls, a day later."""
    for turn in count():
        later = timedelta(days=turn)  # by whole ones: rules may go by the time of the day
        for each in events:
            run = f"{turn}-{each.run}" if each.run else ""
            yield replaced(
                each,
                id=ids.ulid(),
                at=each.at + later,
                call=f"{turn}-{each.call}",
                run=run,
                body=_another(each.body, turn, later),
            )


def _another(body: JsonObject, turn: int, later: timedelta) -> JsonObject:
    """Return a body with an operation and a request of its own, and a run that ends later."""
    own: JsonObject = {
        name: f"{turn}-{body[name]}" for name in ("op", "approval") if body.get(name)
    }
    snapshot = body.get("snapshot")
    run = snapshot.get("run") if isinstance(snapshot, dict) else None
    if isinstance(snapshot, dict) and isinstance(run, dict) and isinstance(run.get("ends_at"), int):
        ends_at = int(str(run["ends_at"])) + later // timedelta(microseconds=1)
        own["snapshot"] = {**snapshot, "run": {**run, "ends_at": ends_at}}
    return {**body, **own}


async def _write(store: Store, many: int, made: History, events: Sequence[Event]) -> Mark:
    """Write so many events with their checkpoints; return the last of these."""
    await made.runs(0, _RUNS)
    source = _others(events)
    note, size = "", 0
    for first in range(0, many, _AT_ONCE):
        store.events.append([*islice(source, min(_AT_ONCE, many - first))])
        await store.events.kept()
    while (covers := await store.checkpoints.make(by(SIGNER), most=_COVERED)) is not None:
        note, size = covers.note, covers.size
    return Mark(size=size, note=note, place="outside", is_outside=True)


async def replay(store: Store, made: History) -> None:
    """Replay all of the log under a policy with a planted change, and print what that takes."""
    _, candidate = replays(made, "a larger bound")
    watched = await Watched.of(store.events, Span())
    memory, bar = Memory(), Bar()
    quarters = [0.25, 0.5, 0.75]

    def told(calls: int) -> None:
        if calls % 500 == 0:
            memory.look()
            bar.show(watched.share, f"{calls:,} calls")
            if quarters and watched.share >= quarters[0]:
                print(f"{quarters.pop(0):.0%}: {calls:,} calls, {_held() >> 20} MiB", flush=True)

    start = time.process_time()
    report = await reported(watched, Span(), candidate, told=told)
    cpu = time.process_time() - start
    bar.end()
    each_s = report.calls / cpu
    print(f"replay: {report.calls} calls in {report.runs} runs, {each_s:,.0f} calls/s of a core")
    print(memory)


async def measure(
    many: int, folder: Path, *, replays_too: bool = False, depth: Depth = Depth.COLUMNS
) -> int:
    """Print the figures; return how many faults were found."""
    store = Store.open(f"sqlite:///{folder}/verify.db", origin=ORIGIN)
    start = time.perf_counter()
    log = _Heard()
    made = History(log=log)
    outside = await _write(store, many, made, log.events)
    wrote = time.perf_counter() - start
    gc.collect()
    memory, bar = Memory(), Bar()

    def told(done: int, last: int) -> None:
        memory.look()
        bar.show(done / last, f"event {done:,} of {last:,}")

    start, used = time.perf_counter(), time.process_time()
    trust = Trust([SIGNER.key])
    report: Report = await verify(store.checkpoints, trust, [outside], depth=depth, told=told)
    took, cpu = time.perf_counter() - start, time.process_time() - used
    bar.end()
    size = (folder / "verify.db").stat().st_size
    print(f"{many} events, {size / many:.0f} bytes each on disk, written in {wrote:.1f} s")
    print(f"verify: {many / took:,.0f} events/s on {cores()} cores")
    print(
        f"processor time: {cpu / many * 1e6:.2f} us an event, {many / cpu:,.0f} events/s of a core"
    )
    print(memory)
    print(f"{report.checked} checkpoints held against it, {len(report.faults)} faults", flush=True)
    if replays_too:
        await replay(store, made)
    store.close()
    return len(report.faults)


def main() -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--replay", action="store_true", help="replay the log afterwards as well")
    parser.add_argument("--only-bytes", action="store_true", help="as `events verify` has it")
    said = parser.parse_args()
    depth = Depth.BYTES if said.only_bytes else Depth.COLUMNS
    with tempfile.TemporaryDirectory(prefix="wb-verify-") as folder:
        work = measure(said.events, Path(folder), replays_too=said.replay, depth=depth)
        return 1 if asyncio.run(work) else 0


if __name__ == "__main__":
    sys.exit(main())
