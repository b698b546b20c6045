"""The parts of the comparison: which targets each holds side by side, under which loads."""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench import targets
from bench.downstream import MANY
from bench.processes import environment, helper, running, spans_at, tree_pss, tree_rss
from bench.targets import DIRECT, GATEWAY, IN_A_RUN, PASS, TRACED, Target
from bench.writes import postgres_stores

Cells = dict[str, dict]
CALLERS = (1, 16, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table: `cells` are loads by name; `base` is the target that others are divided by."""

    name: str
    about: str
    targets: Callable[[], list[Target]]
    cells: Cells
    base: str = "pass-through"


def sized(sizes: tuple[int, ...], callers: tuple[int, ...] = CALLERS) -> Cells:
    """Loads of all these sizes and numbers of callers."""
    names = {200: "200 B", 32_768: "32 KB"}
    return {
        f"{names[size]}, {each} caller{'s' if each > 1 else ''}": {
            "size": size,
            "concurrency": each,
        }
        for size in sizes
        for each in callers
    }


def _at(callers: tuple[int, ...]) -> Cells:
    return sized((200,), callers)


def _echo(name: str, command: targets.Command, **more: object) -> Target:
    return Target(name=name, tool="bench__echo", command=command, **more)


def _eras() -> list[Target]:
    front = _echo("stdio to HTTP", targets.weighbridge_stdio, is_stdio=True)
    return [
        PASS,
        replace(GATEWAY, name="HTTP to HTTP"),
        replace(GATEWAY, name="handshake HTTP to HTTP", era="handshake"),
        front,
        replace(front, name="handshake stdio to HTTP", era="handshake"),
        _echo("HTTP to handshake HTTP", targets.weighbridge_to("legacy")),
        _echo("HTTP to stdio", targets.weighbridge_to("stdio")),
        _echo("HTTP to HTTP that streams", targets.weighbridge, backend="sse"),
        replace(
            _echo("handshake HTTP to stdio", targets.weighbridge_to("stdio")),
            era="handshake",
        ),
    ]


def _hop() -> list[Target]:
    return [DIRECT, *targets.others(), PASS, GATEWAY, TRACED, IN_A_RUN]


def _workers() -> list[Target]:
    return [
        PASS,
        _echo("1 process", targets.weighbridge),
        _echo("2 workers", targets.weighbridge_workers(2)),
        _echo("2 workers handshake", targets.weighbridge_workers(2), era="handshake"),
    ]


def _fields() -> list[Target]:
    rows = Target(
        name="whole", tool="bench__rows", backend="rows", kind="rows",
        command=targets.weighbridge_rows(is_kept=False),
    )  # fmt: skip
    kept = targets.weighbridge_rows(is_kept=True)
    return [rows, replace(rows, name="minimised", kind="kept", command=kept)]


def _rules() -> list[Target]:
    return [_echo(f"{count} rules", targets.weighbridge_rules(count)) for count in (10, 1000)]


PARTS = {
    part.name: part
    for part in (
        Part(
            name="hop",
            about="a read, beside the same call without a gateway, through plain proxies and peers",
            targets=_hop,
            cells=sized((200, 32_768)),
        ),
        Part(
            name="eras",
            about="a read at the same gateway, by how its callers and its server speak",
            targets=_eras,
            cells=_at((1, 16)),
            base="HTTP to HTTP",
        ),
        Part(
            name="workers",
            about="a read at one process, and at several on one port",
            targets=_workers,
            cells=_at((16, 64)),
            base="1 process",
        ),
        Part(
            name="fields",
            about="a result of 32 KB in fields, whole and with three of its fields kept",
            targets=_fields,
            cells={"1 caller": {"concurrency": 1}, "16 callers": {"concurrency": 16}},
            base="whole",
        ),
        Part(
            name="rules",
            about="a read under a policy with so many more rules about its tool",
            targets=_rules,
            cells=_at((1, 16)),
            base="10 rules",
        ),
    )
}


def measured(part: Part, rounds: int, seconds: float, only: frozenset[str]) -> dict:
    """Run a part in rounds, each in another order; returns the cells of each target, by round."""
    chosen = [
        each for each in part.targets() if not only or each.name in {*only, part.base, "direct"}
    ]
    found: dict[str, list[dict]] = {target.name: [] for target in chosen}
    left_out: dict[str, str] = {}
    with ExitStack() as stack:
        collector = stack.enter_context(helper("bench.collector"))
        backends = {
            words: stack.enter_context(helper("bench.downstream", *words.split()))
            for words in {target.backend for target in chosen}
        }
        for number in range(rounds):
            turn = number % len(chosen)
            for target in chosen[turn:] + chosen[:turn]:
                if target.name in left_out:
                    continue
                before = spans_at(collector)
                try:
                    one = _of(target, backends[target.backend], collector, part.cells, seconds)
                except SystemExit as failed:
                    if not target.is_other:
                        raise
                    left_out[target.name] = str(failed).strip().splitlines()[-1][:200]
                    print(f"left out: {target.name}: {failed}", file=sys.stderr)
                    continue
                # The target has ended, so that all that it had to export is there.
                one["spans"] = (spans_at(collector) - before) / one["calls"]
                found[target.name].append(one)
                print(f"{part.name}, round {number + 1}: {target.name}", file=sys.stderr)
    kept = {name: rounds for name, rounds in found.items() if name not in left_out}
    return {"about": part.about, "base": part.base, "targets": kept, "left_out": left_out}


def _of(target: Target, backend: int, collector: int, cells: Cells, seconds: float) -> dict:
    with running(target, backend, environment(target, collector)) as one:
        found: dict = {"cold_start_s": one.cold_start_s, "cells": {}, "calls": 0}
        if one.process:
            time.sleep(0.5)
            found["idle_mib"] = tree_pss(one.process.pid)
        found["calls"] += one.cell(min(seconds, 0.5), concurrency=4)["calls"]
        for name, changes in cells.items():
            cell = one.cell(seconds, **changes)
            found["cells"][name] = cell
            found["calls"] += cell["calls"]
        found["pss_mib"] = tree_pss(one.process.pid) if one.process else 0.0
        return found


def stores(rounds: int, seconds: float, only: frozenset[str]) -> dict:
    """Reads and writes on either engine, with spans exported and without."""
    cells = _at((1, 16))
    found: dict[str, list[dict]] = {}
    with ExitStack() as stack:
        collector = stack.enter_context(helper("bench.collector"))
        backend = stack.enter_context(helper("bench.downstream", "write"))
        fresh = stack.enter_context(postgres_stores())
        for number in range(rounds):
            for engine in ("SQLite", "PostgreSQL"):
                for tool in ("echo", "note"):
                    for is_traced in (False, True):
                        does = {"echo": "read", "note": "write"}[tool]
                        name = f"{does} on {engine}{' traced' if is_traced else ''}"
                        if only and name not in only:
                            continue
                        with fresh() if engine == "PostgreSQL" else _nothing() as url:
                            target = Target(
                                name=name,
                                tool=f"bench__{tool}",
                                command=targets.weighbridge_writes(url),
                                traced=is_traced,
                            )
                            one = _of(target, backend, collector, cells, seconds)
                        found.setdefault(name, []).append(one)
                        print(f"stores, round {number + 1}: {name}", file=sys.stderr)
    about = "reads and writes on both engines, with three spans of each call exported and without"
    return {"about": about, "base": "read on SQLite", "targets": found}


@contextmanager
def _nothing() -> Iterator[str]:
    yield ""


def lists(rounds: int, seconds: float, only: frozenset[str]) -> dict:
    """The whole list of 10 servers with 50 tools each, beside the same bytes from memory."""
    count = 10 * len(MANY)
    gateway = Target(
        name="weighbridge", tool="", command=targets.weighbridge_many(10), kind="list",
        backend="many", more={"tools": count},
    )  # fmt: skip
    found: dict[str, list[dict]] = {"from memory": [], "weighbridge": []}
    with helper("bench.downstream", "many") as backend, tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        for number in range(rounds):
            with running(gateway, backend, environment(gateway)) as one:
                pages.write_bytes(b"\n".join(_pages(one.spec)))
                found["weighbridge"].append(_list_cells(one, seconds))
            with helper("bench.static", str(pages)) as port:
                memory = replace(gateway, command=targets.direct)
                with running(memory, port, environment(memory)) as one:
                    found["from memory"].append(_list_cells(one, seconds))
            print(f"list, round {number + 1}", file=sys.stderr)
    about = (
        f"`tools/list` to its end, {count} tools of 10 servers, beside the same bytes from memory"
    )
    return {"about": about, "base": "from memory", "targets": found}


def _list_cells(one, seconds: float) -> dict:
    cells = {
        f"{callers} caller{'s' if callers > 1 else ''}": one.cell(seconds, concurrency=callers)
        for callers in (1, 8)
    }
    return {"cold_start_s": one.cold_start_s, "cells": cells, "calls": 0, "spans": 0}


def _pages(spec: dict) -> list[bytes]:
    """Every page of the list as the gateway sends it."""
    code = (
        "import asyncio,sys,orjson;from bench.load import Http\n"
        "async def main(spec):\n"
        "    ask,cursor,n=Http(spec),None,0\n"
        "    while True:\n"
        "        n+=1;params={'cursor':cursor} if cursor else {}\n"
        "        result=(await ask('tools/list',params,n))['result']\n"
        "        print(orjson.dumps(result).decode());cursor=result.get('nextCursor')\n"
        "        if not cursor: return\n"
        "asyncio.run(main(orjson.loads(sys.argv[1])))"
    )
    words = [sys.executable, "-c", code, json.dumps(spec)]
    done = subprocess.run(words, cwd=targets.ROOT, capture_output=True, check=True)
    return done.stdout.splitlines()


def starts(rounds: int, seconds: float, only: frozenset[str]) -> dict:
    """From the command to the first right answer, and memory at rest.

    The gateway once with three servers, and once with the one that the others have. All servers are
    behind HTTP, and no children: what is counted is the gateway's own process.
    """
    three = Target(
        name="weighbridge with three servers", tool="bench__tool_00", backend="many",
        command=targets.weighbridge_many(3),
    )  # fmt: skip
    found: dict[str, list[dict]] = {}
    with helper("bench.downstream", "many") as many, helper("bench.downstream") as one_tool:
        for number in range(rounds):
            for target in (three, GATEWAY, PASS, *targets.others()):
                backend = many if target.backend == "many" else one_tool
                with running(target, backend, environment(target)) as one:
                    time.sleep(min(2.0, 4 * seconds))
                    pid = one.process.pid
                    at_rest = {"idle_mib": tree_pss(pid), "idle_rss_mib": tree_rss(pid)}
                    found.setdefault(target.name, []).append(
                        {"cold_start_s": one.cold_start_s, "cells": {}, **at_rest}
                    )
            print(f"start, round {number + 1}", file=sys.stderr)
    about = "from the command to the first right answer, and memory at rest"
    return {"about": about, "base": "fastmcp proxy", "targets": found}


def memory(rounds: int, seconds: float, only: frozenset[str], *, calls: int = 200_000) -> dict:
    """Memory over very many calls: in each tenth of them, after the first."""
    del rounds, only
    calls = calls if seconds >= 1 else 5_000  # a smoke run
    rss: list[float] = []
    done = 0
    with (
        helper("bench.downstream") as backend,
        running(GATEWAY, backend, environment(GATEWAY)) as one,
    ):
        while done < calls:
            done += one.cell(min(seconds, 2.0) * 2, concurrency=16)["calls"]
            rss.append(tree_rss(one.process.pid))
            print(f"memory: {done} calls, {rss[-1]:.1f} MiB", file=sys.stderr)
    settled = rss[max(1, len(rss) // 10) :] or rss
    middle = statistics.median(settled)
    spread = max(abs(each - middle) / middle for each in settled)
    return {
        "about": f"memory over {done} calls of 16 callers",
        "calls": done,
        "rss_mib": rss,
        "median_mib": middle,
        "spread": spread,
    }


SPECIAL: dict[str, Callable[..., dict]] = {
    "stores": stores,
    "list": lists,
    "start": starts,
    "memory": memory,
}
