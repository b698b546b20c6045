"""Two processes that use and change the same runs as fast as they can, and who looks at the log.

Every second run is inside of another one. The log has one order, and every write that is sent is in
it with its run: so whoever reads it from its beginning knows for each write in which phase it was
let through, and whether the run around it let it go on.
"""

import asyncio
import multiprocessing
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty
from typing import Any, Final

from gateway import ids
from gateway.errors import StoreUnavailable
from gateway.runs import machine, moves
from gateway.runs.machine import Go, Need, Terms
from gateway.runs.moves import Blocked
from gateway.store.claims import Wanted
from gateway.store.events import EventFilter
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from gateway.types.guarantees import OnVariant
from gateway.types.json import JsonObject
from gateway.types.operations import Met
from gateway.types.runs import Mover, Passage, Phase, Run
from gateway.types.tools import Effect, Risk
from tests.helpers.databases import ORIGIN
from tests.helpers.events import an_event
from tests.helpers.operations import wanted
from tests.helpers.runs import a_run, started, told

TO: Final = (Phase.PLANNING, Phase.RETRIEVING, Phase.ACTING, Phase.ACTING, Phase.FINALIZING)
GIVEN_UP: Final = (Phase.FAILED, Phase.HANDOFF)
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
    """Begin so many runs in a store that is there, in pairs, and return their ids."""
    store = Store.open(url, origin=ORIGIN)
    names: list[str] = []
    try:
        for _ in range(many // 2):
            outer = a_run(tenant=ids.new("t"), phase=Phase.ACTING)
            inner = a_run(tenant=outer.tenant, phase=Phase.ACTING, parent=outer.run_id)
            for run in (outer, inner):
                await store.runs.start(run, [], started)
                names.append(run.run_id)
        return names
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
        met += _result(results, both)
    for each in both:
        each.join()
    return met


def _result(results: Any, both: Sequence[Any]) -> Counter[str]:
    """Wait for what a process has come to, as long as none of them has died."""
    while True:
        try:
            return results.get(timeout=1)
        except Empty:
            assert all(each.exitcode in (None, 0) for each in both), "a process has died"


def _play(url: str, runs: Sequence[str], steps: int, seed: int, results: Any) -> None:
    results.put(asyncio.run(_played(url, runs, steps, random.Random(seed))))


async def _played(url: str, runs: Sequence[str], steps: int, chance: random.Random) -> Counter[str]:
    met: Counter[str] = Counter()
    store = Store.open(url, origin=ORIGIN)
    try:
        for _ in range(steps):
            try:
                met[await _step(store, chance.choice(runs), chance)] += 1
            except StoreUnavailable:  # a slow machine: what became of it, the log tells
                met["in doubt"] += 1
    finally:
        store.close()
    return met


async def _step(store: Store, run_id: str, chance: random.Random) -> str:
    run = await store.runs.get(run_id)
    assert run is not None
    if chance.random() < 0.6:
        return await _write(store, run)
    after: Run | Blocked
    if run.is_paused or run.phase.is_final:
        after = moves.resumed(run, None, now=1)
    elif chance.random() < 0.2:
        after = moves.paused(run)
    elif chance.random() < 0.1:
        after = moves.ended(run, chance.choice(GIVEN_UP), Mover.HOST, None, now=1)
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
            tenant=run.tenant,
            run=run.run_id,
            call=operation.call_id,
        )
        asked = Wanted(operation=operation, on_variant=OnVariant.CONFLICT, passage=passage)
        made = await store.operations.claim(asked, [sent], lease_s=3600)
        if made.met is Met.TAKEN:
            return "sent"
        if made.met is Met.PHASE_BLOCKED:  # a failed run sends nothing but what it had begun
            return "blocked"
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
        rows = [await store.runs.get(run_id) for run_id in runs]
        followed = {each.run_id: Followed(each) for each in rows if each is not None}
        assert len(followed) == len(runs)
        for tenant in {each.row.tenant for each in followed.values()}:
            await _read(store, tenant, followed, tally)
        for each in followed.values():
            now = (str(each.row.phase), each.row.is_paused, each.row.version)
            if now != (each.phase, each.is_paused, each.version):
                tally.wrong.append(f"{each.row.run_id}: the row is not as its events say")
    finally:
        store.close()
    return tally


@dataclass
class Followed:
    """A run as its events say, and its row at the end."""

    row: Run
    phase: str = ""
    is_paused: bool = False
    version: int = -1
    entering: str = ""  # the call that was let through because it moves the run

    @property
    def is_open(self) -> bool:
        """Whether it lets runs inside of it go on."""
        return not self.is_paused and self.phase not in ("completed", "failed", "handoff")


async def _read(store: Store, tenant: str, runs: Mapping[str, Followed], tally: Tally) -> None:
    after = 0
    while True:
        page = await store.events.query(EventFilter(tenant=tenant, after=after, limit=_PAGE))
        for event in (each.json() for each in page):
            followed = runs[str(event["run"])]
            if event["kind"] == "run":
                _changed(event, followed, tally)
            else:
                _sent(event, followed, runs, tally)
        if len(page) < _PAGE:
            return
        after = page[-1].seq


def _sent(event: JsonObject, run: Followed, runs: Mapping[str, Followed], tally: Tally) -> None:
    tally.sent += 1
    assert not run.entering
    around = runs.get(run.row.parent)
    if run.is_paused or (around is not None and not around.is_open):
        tally.wrong.append(f"{run.row.run_id}: {event['call']} while it was held")
    elif run.phase == "retrieving":
        run.entering = str(event["call"])
    elif run.phase != "acting":
        tally.wrong.append(f"{run.row.run_id}: {event['call']} in {run.phase}")


def _changed(event: JsonObject, run: Followed, tally: Tally) -> None:
    body = event["body"]
    assert isinstance(body, dict)
    by = (body["by"], event.get("call"), event["phase"])
    if run.entering and by != ("call", run.entering, "acting"):
        tally.wrong.append(f"{run.row.run_id}: {run.entering} did not move it")
    tally.moved += event["stage"] == "moved"
    if body["version"] != run.version + 1:
        tally.wrong.append(f"{run.row.run_id}: version {body['version']} after {run.version}")
    run.entering, run.version = "", run.version + 1
    run.phase, run.is_paused = str(event["phase"]), body["paused"] is True
