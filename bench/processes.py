"""Start what is measured, wait for it, and ask the system what it used."""

import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.load import run as load_here
from bench.targets import Target

ROOT = Path(__file__).resolve().parent.parent
_APART = 1_000_000_000  # more than one load numbers


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


def tree_rss(pid: int) -> float:
    """Memory in MiB as the system counts it for each process, added up."""
    process = psutil.Process(pid)
    each = (one.memory_info().rss for one in (process, *process.children(recursive=True)))
    return sum(each) / 2**20


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


def environment(target: Target, collector_port: int = 0) -> dict[str, str]:
    """The caller's environment, with exactly the exporter that the target is about."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    if target.traced:
        found["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://127.0.0.1:{collector_port}"
    return found


@contextmanager
def helper(module: str, *arguments: str) -> Iterator[int]:
    """Run a server of the bench beside the targets; yield its port."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", module, str(port), *arguments], cwd=ROOT)
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A target that has given its first right answer; `process` is None for `direct`."""

    process: subprocess.Popen | None
    spec: dict
    folder: Path
    cold_start_s: float
    _cells: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def cell(self, seconds: float, **changes: object) -> dict:
        """Put it under load; `cpu_ms` is what a call cost it."""
        before = tree_cpu(self.process.pid) if self.process else 0.0
        first = next(self._cells) * _APART  # no two calls of a run have the same arguments
        found = measure({**self.spec, **changes, "seconds": seconds, "first": first})
        after = tree_cpu(self.process.pid) if self.process else 0.0
        if found["wrong"]:
            raise SystemExit(f"wrong answers: {found['wrong'][:2]}")
        # Of a target that sits at pipes, the load started it, and knows.
        found.setdefault("cpu_ms", (after - before) * 1000 / found["calls"])
        return found


@contextmanager
def running(target: Target, backend_port: int, environ: dict[str, str]) -> Iterator[Running]:
    """Start a target in a folder of its own, and stop it at the end."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command, key = target.command(port, backend_port, Path(folder))
        spec = {
            "port": port if command else backend_port,
            "tool": target.tool,
            "key": key,
            "size": 200,
            "era": target.era,
            "kind": target.kind,
            **target.more,
        }
        if target.is_stdio:
            spec["argv"] = command
            yield Running(process=None, spec=spec, folder=Path(folder), cold_start_s=0.0)
            return
        began = time.perf_counter()
        log = open(Path(folder) / "log", "w+")  # noqa: SIM115 - lives as long as the process
        process = (
            subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
            if command
            else None
        )
        try:
            first_answer(spec)
            started = time.perf_counter() - began
            yield Running(process=process, spec=spec, folder=Path(folder), cold_start_s=started)
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
