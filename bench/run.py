"""Measure side by side, in rounds of turns, with every answer checked.

scripts/bench [--part hop,…] [--rounds 3] [--seconds 1.2] [--only TARGETS] [--docs] [--out FILE]
scripts/bench --writes [--postgres]   a governed write beside its two commits done bare
scripts/bench --against REVISION      a governed read beside that of an older revision

Parts: hop, eras, stores, workers, fields, rules, list, start, memory. With `--docs`, what was
measured is kept in docs/explanation/speed.json, each part by itself, and the page and its picture
are made from that.
"""

import argparse
import json
import os
import platform
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench import against, report, writes
from bench.parts import PARTS, SPECIAL, measured

_ALL = ("hop", "eras", "stores", "workers", "fields", "rules", "list", "start", "memory")


def compare(options: argparse.Namespace) -> dict:
    only = frozenset(filter(None, options.only.split(",")))
    found: dict = {}
    for name in options.part.split(","):
        run = SPECIAL.get(name) or (lambda *given, part=PARTS[name]: measured(part, *given))
        found[name] = run(options.rounds, options.seconds, only)
        if not found[name].get("targets", True):
            raise SystemExit(f"no target of the part `{name}` is called `{options.only}`")
        found[name] |= {
            "rounds": options.rounds,
            "seconds": options.seconds,
            "at": datetime.now(UTC).date().isoformat(),
        }
    return {
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "parts": found,
    }


def keep(results: dict, path: Path) -> dict:
    """Put the parts of now in the place of those that are kept."""
    old = json.loads(path.read_text())["parts"] if path.exists() else {}
    parts = old | results["parts"]
    kept = {**results, "parts": {name: parts[name] for name in _ALL if name in parts}}
    path.write_text(json.dumps(kept, indent=1) + "\n")
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", default=",".join(_ALL), help="comma-separated names of parts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.2, help="of each load")
    parser.add_argument("--only", default="", help="comma-separated names of targets")
    parser.add_argument("--docs", action="store_true", help="keep it, and make page and picture")
    parser.add_argument("--writes", action="store_true", help="writes and their two commits")
    parser.add_argument("--postgres", action="store_true", help="with --writes: not on SQLite")
    parser.add_argument("--against", default="", metavar="REVISION", help="what Git calls it")
    parser.add_argument("--out", default="", metavar="FILE", help="also write it there, as JSON")
    options = parser.parse_args()
    # Whatever ends this ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unknown = set(options.part.split(",")) - set(_ALL)
    if unknown:
        parser.error(f"no part `{min(unknown)}`; there are {', '.join(_ALL)}")
    if options.writes:
        results, text = writes.compare(options.rounds, options.seconds, options.postgres)
    elif options.against:
        results, text = against.compare(options.against, options.rounds, options.seconds)
    else:
        results = compare(options)
        text = report.whole(results)
        if options.docs:
            kept = keep(results, report.RESULTS)
            report.PAGE.write_text(report.filled(report.PAGE.read_text(), kept))
            if "hop" in kept["parts"]:
                report.PICTURE.write_text(report.picture(kept))
    print(text)
    if options.out:
        Path(options.out).write_text(json.dumps(results, indent=1))
    print(f"{os.cpu_count()} cores, {options.rounds} rounds of {options.seconds} s a load")


if __name__ == "__main__":
    main()
