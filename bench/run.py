"""Run all targets interleaved and write a table of medians and ratios.

scripts/bench [--rounds 3] [--seconds 2] [--sizes 200,32768] [--only weighbridge] [--out FOLDER]
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from bench.load import run as load_here
from bench.targets import Target, targets

ROOT = Path(__file__).resolve().parent.parent
CONCURRENCY = (1, 16, 64)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def tree_cpu(pid: int) -> float:
    """CPU seconds of a process and its children."""
    process = psutil.Process(pid)
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        times = one.cpu_times()
        total += times.user + times.system
    return total


def tree_pss(pid: int) -> float:
    """Memory in MiB, shared pages counted once."""
    process = psutil.Process(pid)
    return (
        sum(one.memory_full_info().pss for one in (process, *process.children(recursive=True)))
        / 2**20
    )


def measure(spec: dict) -> dict:
    """Run the load in a process of its own, so that its cost is not the target's."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.load", json.dumps(spec)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the load failed on {spec}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def first_answer(spec: dict, deadline_s: float = 60.0) -> None:
    until = time.perf_counter() + deadline_s
    while True:
        try:
            found = asyncio.run(load_here({**spec, "seconds": 0.001, "concurrency": 1}))
            if found["calls"] and not found["wrong"]:
                return
        except (OSError, ConnectionError, ValueError, IndexError, BaseExceptionGroup):
            pass
        if time.perf_counter() > until:
            raise SystemExit(f"no right answer from {spec}")
        time.sleep(0.02)


def spans_at(collector_port: int) -> int:
    """How many spans have come to the collector so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{collector_port}/", timeout=5) as answer:
        return int(answer.read())


def wait_for(port: int, deadline_s: float = 10.0) -> None:
    """Wait until somebody listens."""
    until = time.perf_counter() + deadline_s
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.perf_counter() > until:
                raise
            time.sleep(0.02)
        else:
            return


def environment(target: Target, collector_port: int) -> dict[str, str]:
    """The caller's environment, with exactly the exporter that the target is about."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    if target.traced:
        found["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{collector_port}"
    return found


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
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command, key = target.command(port, backend_port, Path(folder))
        began = time.perf_counter()
        log = open(Path(folder) / "log", "w+")  # noqa: SIM115 - lives as long as the process
        process = (
            subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
            if command
            else None
        )
        try:
            spec = {
                "port": port if process else backend_port,
                "tool": target.tool,
                "key": key,
                "size": 200,
            }
            first_answer(spec)
            found: dict = {"cold_start_s": time.perf_counter() - began, "cells": {}}
            found["calls"] = measure({**spec, "concurrency": 4, "seconds": 0.5})["calls"]
            for size in sizes:
                for concurrency in CONCURRENCY:
                    found["cells"][f"{size}/{concurrency}"] = cell(
                        process, {**spec, "size": size, "concurrency": concurrency}, seconds
                    )
            found["calls"] += sum(one["calls"] for one in found["cells"].values())
            found["pss_mib"] = tree_pss(process.pid) if process else 0.0
            return found
        except SystemExit:
            log.seek(0)
            print(log.read()[-3000:], file=sys.stderr)
            raise
        finally:
            if process:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            log.close()


def cell(process: subprocess.Popen | None, spec: dict, seconds: float) -> dict:
    before = tree_cpu(process.pid) if process else 0.0
    found = measure({**spec, "seconds": seconds})
    after = tree_cpu(process.pid) if process else 0.0
    if found["wrong"]:
        raise SystemExit(f"wrong answers: {found['wrong'][:2]}")
    found["cpu_ms"] = (after - before) * 1000 / found["calls"]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--sizes", default="200,32768")
    parser.add_argument("--only", default="", help="comma-separated names of targets")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    chosen = [
        one
        for one in targets()
        if not options.only or one.name in ("direct", "pass-through", *options.only.split(","))
    ]
    backend_port = free_port()
    backend = subprocess.Popen(
        [sys.executable, "-m", "bench.downstream", str(backend_port)], cwd=ROOT
    )
    collector_port = free_port()
    collector = subprocess.Popen(
        [sys.executable, "-m", "bench.collector", str(collector_port)], cwd=ROOT
    )
    results: dict[str, list[dict]] = {target.name: [] for target in chosen}
    try:
        wait_for(collector_port)
        for number in range(options.rounds):
            # Another order each round, so that nobody always runs on a warm or a tired machine.
            for target in chosen[number % len(chosen) :] + chosen[: number % len(chosen)]:
                results[target.name].append(
                    round_of(target, backend_port, collector_port, sizes, options.seconds)
                )
                print(f"round {number + 1}: {target.name} done", file=sys.stderr)
    finally:
        for helper in (backend, collector):
            helper.terminate()
            helper.wait()
    text = table(results, sizes)
    print(text)
    if options.out:
        out = Path(options.out)
        out.mkdir(parents=True, exist_ok=True)
        (out / "results.json").write_text(json.dumps(results, indent=1))
        (out / "results.md").write_text(text + "\n")
    print(f"{os.cpu_count()} cores, {options.rounds} rounds of {options.seconds} s a cell")


if __name__ == "__main__":
    main()
