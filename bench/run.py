"""Run all targets interleaved and write a table of medians and ratios.

scripts/bench [--rounds 3] [--seconds 2] [--sizes 200,32768] [--only weighbridge] [--out FOLDER]
scripts/bench --writes [--postgres]   a governed write beside its two commits done bare
scripts/bench --against REVISION      a governed read beside that of an older revision
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

from bench import against, writes
from bench.processes import environment, helper, running, spans_at, tree_pss
from bench.targets import Target, targets

CONCURRENCY = (1, 16, 64)


def round_of(
    target: Target, backend_port: int, collector_port: int, sizes: list[int], seconds: float
) -> dict:
    before = spans_at(collector_port)
    found = one_run(target, backend_port, environment(target, collector_port), sizes, seconds)
    # The target has ended, so that all that it had to export is there.
    found["spans"] = spans_at(collector_port) - before
    return found


def one_run(
    target: Target, backend_port: int, environ: dict[str, str], sizes: list[int], seconds: float
) -> dict:
    with running(target, backend_port, environ) as one:
        found: dict = {"cold_start_s": one.cold_start_s, "cells": {}}
        found["calls"] = one.cell(0.5, concurrency=4)["calls"]
        for size in sizes:
            for concurrency in CONCURRENCY:
                cell = one.cell(seconds, size=size, concurrency=concurrency)
                found["cells"][f"{size}/{concurrency}"] = cell
                found["calls"] += cell["calls"]
        found["pss_mib"] = tree_pss(one.process.pid) if one.process else 0.0
        return found


def table(results: dict[str, list[dict]], sizes: list[int]) -> str:
    lines = [
        "| target | size | callers | CPU ms a call | × pass-through | calls/s | p50 ms | p99 ms "
        "| added p50 ms | added p99 ms |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for size in sizes:
        for concurrency in CONCURRENCY:
            key = f"{size}/{concurrency}"
            for name, rounds in results.items():
                lines.append(row(name, key, size, concurrency, rounds, results))
    lines += ["", "| target | cold start s | memory MiB (PSS) | spans a call |"]
    lines += ["| --- | --- | --- | --- |"]
    for name, rounds in results.items():
        start = statistics.median(one["cold_start_s"] for one in rounds)
        memory = statistics.median(one["pss_mib"] for one in rounds)
        spans = statistics.median(one["spans"] / one["calls"] for one in rounds)
        lines.append(f"| {name} | {start:.2f} | {memory:.0f} | {spans:.2f} |")
    return "\n".join(lines)


def row(name: str, key: str, size: int, callers: int, rounds: list[dict], results: dict) -> str:
    def median(what: str, of: list[dict]) -> float:
        return statistics.median(one["cells"][key][what] for one in of)

    ratios = [
        mine["cells"][key]["cpu_ms"] / bare["cells"][key]["cpu_ms"]
        for mine, bare in zip(rounds, results["pass-through"], strict=True)
    ]
    ratio = f"{statistics.median(ratios):.2f}" if name != "direct" else "–"
    added = [
        (median(what, rounds) - median(what, results["direct"])) / 1000 for what in ("p50", "p99")
    ]
    return (
        f"| {name} | {size} | {callers} | {median('cpu_ms', rounds):.3f} | {ratio} "
        f"| {median('per_second', rounds):.0f} | {median('p50', rounds) / 1000:.2f} "
        f"| {median('p99', rounds) / 1000:.2f} | {added[0]:.2f} | {added[1]:.2f} |"
    )


def compare(options: argparse.Namespace) -> tuple[dict, str]:
    sizes = [int(size) for size in options.sizes.split(",")]
    chosen = [
        one
        for one in targets()
        if not options.only or one.name in ("direct", "pass-through", *options.only.split(","))
    ]
    results: dict[str, list[dict]] = {target.name: [] for target in chosen}
    with helper("bench.downstream") as backend, helper("bench.collector") as collector:
        for number in range(options.rounds):
            # Another order each round, so that nobody always runs on a warm or a tired machine.
            for target in chosen[number % len(chosen) :] + chosen[: number % len(chosen)]:
                results[target.name].append(
                    round_of(target, backend, collector, sizes, options.seconds)
                )
                print(f"round {number + 1}: {target.name} done", file=sys.stderr)
    return results, table(results, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--sizes", default="200,32768", help="bytes of an argument, for reads")
    parser.add_argument("--only", default="", help="comma-separated names of targets")
    parser.add_argument("--writes", action="store_true", help="writes and their two commits")
    parser.add_argument("--postgres", action="store_true", help="with --writes: not on SQLite")
    parser.add_argument("--against", default="", metavar="REVISION", help="what Git calls it")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    if options.writes:
        results, text = writes.compare(options.rounds, options.seconds, options.postgres)
    elif options.against:
        results, text = against.compare(options.against, options.rounds, options.seconds)
    else:
        results, text = compare(options)
    print(text)
    if options.out:
        out = Path(options.out)
        out.mkdir(parents=True, exist_ok=True)
        (out / "results.json").write_text(json.dumps(results, indent=1))
        (out / "results.md").write_text(text + "\n")
    print(f"{os.cpu_count()} cores, {options.rounds} rounds of {options.seconds} s a cell")


if __name__ == "__main__":
    main()
