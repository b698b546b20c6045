"""Two processes that use and change the same runs as fast as they can, and who looks at the log.

The log has one order, and every write that is sent is in it with its run: so whoever reads it from
its beginning knows for each write in which phase it was let through.
"""

import asyncio
import multiprocessing
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway import ids
from gateway.runs import machine, moves
from gateway.runs.machine import Go, Need, Terms
from gateway.runs.moves import Blocked
from gateway.store.claims import Wanted
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from gateway.types.guarantees import OnVariant
from gateway.types.operations import Met
from gateway.types.runs import Mover, Passage, Phase, Run
from gateway.types.tools import Effect, Risk
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event
from tests.helpers.operations import wanted
from tests.helpers.runs import a_run, started, told

TO: Final = (Phase.PLANNING, Phase.RETRIEVING, Phase.ACTING, Phase.ACTING, Phase.FINALIZING)
NEED: Final = Need(effect=Effect.WRITE, risk=Risk.HIGH, tool="desk.refund")
_PAGE: Final = 500


@dataclass
class Tally:
    """What came of it."""

    met: Counter[str] = field(default_factory=Counter[str])  # by the processes
    wrong: list[str] = field(default_factory=list[str])  # by who read the log
    sent: int = 0
    moved: int = 0


async def begin(url: str, many: int) -> list[str]:
    """Begin runs in a store that is there, and return their ids."""
    store = Store.open(url, origin=ORIGIN)
    try:
        made = [a_run(tenant=ids.new("t"), phase=Phase.ACTING) for _ in range(many)]
        for run in made:
            await store.runs.start(run, [], started)
        return [run.run_id for run in made]
    finally:
        store.close()


def processes(url: str, runs: Sequence[str], steps: int) -> Counter[str]:
    """Have two processes take so many steps each; return what each step came to, together."""
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    both = [
        context.Process(target=_play, args=(url, runs, steps, seed, results)) for seed in (1, 2)
    ]
    for each in both:
        each.start()
    met: Counter[str] = Counter()
    for _ in both:
        met += results.get(timeout=3600)
    for each in both:
        each.join()
    return met


def _play(url: str, runs: Sequence[str], steps: int, seed: int, results: Any) -> None:
    results.put(asyncio.run(_played(url, runs, steps, random.Random(seed))))


async def _played(url: str, runs: Sequence[str], steps: int, chance: random.Random) -> Counter[str]:
    met: Counter[str] = Counter()
    store = Store.open(url, origin=ORIGIN)
    try:
        for _ in range(steps):
            met[await _step(store, chance.choice(runs), chance)] += 1
    finally:
        store.close()
    return met


async def _step(store: Store, run_id: str, chance: random.Random) -> str:
    run = await store.runs.get(run_id)
    assert run is not None
    if chance.random() < 0.6:
        return await _write(store, run)
    after: Run | Blocked
    if run.is_paused:
        after = moves.resumed(run, None, now=1)
    elif chance.random() < 0.2:
        after = moves.paused(run)
    else:
        after = moves.moved(run, chance.choice(TO), Mover.HOST, None, now=1)
    if isinstance(after, Blocked):
        return "no way"
    return "too late" if await store.runs.change(run, after, told) is None else "changed"


async def _write(store: Store, run: Run) -> str:
    """Judge a write and claim it; whoever is faster in between has it judged anew, as calls are."""
    operation = wanted(key=ids.new("key"), tenant=run.tenant, run_id=run.run_id)
    for tries in range(5):
        met = machine.weigh(run, NEED, Terms(), now=0)
        if not isinstance(met, Go):
            return "blocked" if not tries else "closed meanwhile"
        passage = Passage(run=run, move_to=met.move_to, only=met.only)
        sent = an_event(
            id=ids.ulid(),
            kind=EventKind.TOOL_CALL,
            stage=Stage.STARTED,
            run=run.run_id,
            call=operation.call_id,
        )
        asked = Wanted(operation=operation, on_variant=OnVariant.CONFLICT, passage=passage)
        made = await store.operations.claim(asked, [sent], lease_s=3600)
        if made.met is Met.TAKEN:
            return "sent"
        assert made.met is Met.RUN_CHANGED
        again = await store.runs.get(run.run_id)
        assert again is not None
        run = again
    return "given up"


async def looked(url: str, runs: Sequence[str], met: Counter[str]) -> Tally:
    """Read the log from its beginning, and say which writes went through a closed phase."""
    tally = Tally(met=met)
    store = Store.open(url, origin=ORIGIN)
    try:
        for run_id in runs:
            await _read(store, run_id, tally)
    finally:
        store.close()
    return tally


async def _read(store: Store, run_id: str, tally: Tally) -> None:
    phase, is_paused, version, after = "", False, -1, 0
    entering = ""  # the call that was let through because it moves the run
    while True:
        page = await store.events.query(EventFilter(run=run_id, after=after, limit=_PAGE))
        for event in (each.json() for each in page):
            body = event["body"]
            assert isinstance(body, dict)
            if event["kind"] != "run":
                tally.sent += 1
                assert not entering
                if phase == "retrieving" and not is_paused:
                    entering = str(event["call"])
                elif phase != "acting" or is_paused:
                    tally.wrong.append(f"{run_id}: {event['call']} in {phase}, {is_paused}")
                continue
            if entering and (body["by"], event.get("call"), event["phase"]) != (
                "call",
                entering,
                "acting",
            ):
                tally.wrong.append(f"{run_id}: {entering} did not move it")
            tally.moved += event["stage"] == "moved"
            if body["version"] != version + 1:
                tally.wrong.append(f"{run_id}: version {body['version']} after {version}")
            entering, version = "", version + 1
            phase, is_paused = str(event["phase"]), body["paused"] is True
        if len(page) < _PAGE:
            break
        after = page[-1].seq
    row = await store.runs.get(run_id)
    assert row is not None
    if (str(row.phase), row.is_paused, row.version) != (phase, is_paused, version):
        tally.wrong.append(f"{run_id}: the row is not as its events say")
