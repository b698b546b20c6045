"""Runs against whoever knows their rules by heart: no write goes through a phase that is closed.

python -m bench.runs [--steps 100000] [--engine sqlite|postgres|both] [--only machine|processes]

First one run, one inside of it and one beside it, in any order of calls, moves, pauses, decisions
and ends, with calls that are judged at one time and claimed at another; then two processes that use
and change the same runs as fast as they can, held against the order of the log.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack

from hypothesis import HealthCheck, settings
from hypothesis import Phase as Part
from hypothesis.stateful import run_state_machine_as_test

from gateway.store.store import Store
from tests.helpers import run_races
from tests.helpers.databases import ORIGIN
from tests.helpers.postgres import own_postgres
from tests.helpers.run_machine import Runs, World

_STEPS = 50  # of one run
_RUNS = 4


def machine(url: str, steps: int) -> None:
    """Take so many steps, in one run after the other; an AssertionError is a violation."""
    Runs.world = world = World(stores=[Store.open(url, origin=ORIGIN) for _ in range(2)])
    began = time.monotonic()
    while world.rules < steps:
        examples = max(1, min(500, (steps - world.rules) // 30))
        run_state_machine_as_test(
            Runs,
            settings=settings(
                max_examples=examples,
                stateful_step_count=_STEPS,
                deadline=None,
                database=None,
                phases=[Part.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
    world.loop.close()
    for store in world.stores:
        store.close()
    print(
        f"  in any order: {world.rules} steps in {time.monotonic() - began:.0f} s: {world.sent} "
        f"writes sent ({world.again} once more, {world.taken_over} of them another run's before), "
        f"{world.held} met another run than they were judged by, 0 violations",
        flush=True,
    )


def processes(url: str, steps: int) -> bool:
    """Have two processes take so many steps together; return whether nothing was wrong."""
    began = time.monotonic()
    runs = asyncio.run(run_races.begin(url, _RUNS))
    met = run_races.processes(url, runs, steps // 2)
    tally = asyncio.run(run_races.looked(url, runs, met))
    came = ", ".join(f"{count} {what}" for what, count in sorted(tally.met.items()))
    print(f"  two processes: {sum(met.values())} steps in {time.monotonic() - began:.0f} s: {came}")
    print(f"  the log: {tally.sent} writes, {tally.moved} moves, {len(tally.wrong)} violations")
    for each in tally.wrong[:20]:
        print(f"    {each}")
    return not tally.wrong and 0 <= tally.sent - met["sent"] <= met["in doubt"]


def main() -> None:
    """Measure and print; the exit code says whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000, help="of each part on each engine")
    parser.add_argument("--engine", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--only", choices=("machine", "processes"))
    chosen = parser.parse_args()
    good = True
    for engine in ("sqlite", "postgres"):
        if chosen.engine not in (engine, "both"):
            continue
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weighbridge-runs-"))
            server = stack.enter_context(own_postgres()) if engine == "postgres" else None
            print(engine, flush=True)
            for part in ("machine", "processes"):
                if chosen.only not in (None, part):
                    continue
                url = server.create(part) if server else f"sqlite:///{folder}/{part}.db"
                if part == "machine":
                    machine(url, chosen.steps)
                else:
                    good &= processes(url, chosen.steps)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
