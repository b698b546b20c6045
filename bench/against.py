"""A governed read beside that of an older revision, both alive, in turn."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import ROOT, environment, helper, running
from bench.targets import Target, weighbridge

CALLERS = 16


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Yield a folder with the files of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "revision"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(place), revision], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def environment_of(target: Target, place: Path) -> dict[str, str]:
    """Return an environment in which Python finds the gateway of that folder first."""
    environ = environment(target) | {"PYTHONPATH": str(place)}
    found = subprocess.run(
        [sys.executable, "-P", "-c", "import gateway; print(gateway.__file__)"],
        env=environ,
        cwd=place,
        check=True,
        capture_output=True,
        text=True,
    )
    if not found.stdout.startswith(os.path.realpath(place)):
        raise SystemExit(f"another gateway was found: {found.stdout.strip()}")
    return environ


def compare(revision: str, rounds: int, seconds: float) -> tuple[dict, str]:
    target = Target(name="weighbridge", tool="bench__echo", command=weighbridge)
    results: dict[str, list[dict]] = {"now": [], revision: []}
    with (
        helper("bench.downstream") as backend,
        checked_out(revision) as place,
        running(target, backend, environment_of(target, ROOT)) as new,
        running(target, backend, environment_of(target, place)) as old,
    ):
        sides = [("now", new), (revision, old)]
        for _, one in sides:
            one.cell(1.0, concurrency=CALLERS)
        for number in range(rounds):
            for name, one in sides if number % 2 else sides[::-1]:
                results[name].append(one.cell(seconds, concurrency=CALLERS))
            print(f"round {number + 1} done", file=sys.stderr)
    return results, table(results, revision)


def table(results: dict[str, list[dict]], revision: str) -> str:
    lines = [
        f"| a read of {CALLERS} callers | CPU ms a call | calls/s | p50 ms | p99 ms |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, cells in results.items():
        cpu, rate, middle, most = (
            statistics.median(cell[what] for cell in cells)
            for what in ("cpu_ms", "per_second", "p50", "p99")
        )
        lines.append(
            f"| {name} | {cpu:.3f} | {rate:.0f} | {middle / 1000:.2f} | {most / 1000:.2f} |"
        )
    both = list(zip(results["now"], results[revision], strict=True))
    for what, said in (("cpu_ms", "CPU a call"), ("p50", "p50"), ("p99", "p99")):
        found = [new[what] / old[what] for new, old in both]
        lines.append(
            f"{'' if what != 'cpu_ms' else chr(10)}{said}, now to {revision}: "
            f"{statistics.median(found):.3f} ({min(found):.3f} to {max(found):.3f})"
        )
    return "\n".join(lines)
