"""The two commits of a write and nothing around them: the floor of what a governed write costs.

python -m bench.commits STORE_URL ROWS SECONDS: one caller, one connection; prints one JSON line.
"""

import itertools
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg import rows

from gateway import ids
from gateway.clock import SystemClock
from gateway.store import queries
from gateway.store.dialects import SQLITE, dialect_of

OPEN = {"state": "dispatching", "outcome": "", "settled_at": 0, "replay_until": 0}
Run = Callable[[str, dict], object]


def sample(url: str) -> dict:
    """Return the rows of the newest write in a store: its operation, and the events of its call."""
    newest = "SELECT * FROM operations WHERE state = 'succeeded' ORDER BY created_at DESC LIMIT 1"
    told = "SELECT * FROM events WHERE call_id = '{}' ORDER BY seq"
    if url.startswith(SQLITE):
        connection = sqlite3.connect(url.removeprefix(SQLITE))
        connection.row_factory = lambda cursor, row: dict(
            zip([column[0] for column in cursor.description], row, strict=True)
        )
    else:
        connection = psycopg.connect(url, row_factory=rows.dict_row)
    operation = connection.execute(newest).fetchone()
    events = connection.execute(told.format(operation["call_id"])).fetchall()
    connection.close()
    assert [event["kind"] for event in events[:2]] == ["authorization", "tool_call"], events
    assert len(events) == 4, events
    return {"operation": operation, "events": events}


def bare(url: str) -> Run:
    """Connect to a new store with the tables of the gateway, each commit synced to the disk."""
    engine = dialect_of(url, SystemClock()).connect(5.0)
    engine.has_table("meta")
    engine.close()
    texts = queries.statements() | {"begin": "BEGIN", "commit": "COMMIT"}
    if url.startswith(SQLITE):
        connection = sqlite3.connect(url.removeprefix(SQLITE), isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        return lambda name, row: connection.execute(texts[name], row)
    forms = {name: queries.psycopg_form(text).encode() for name, text in texts.items()}
    postgres = psycopg.connect(url, autocommit=True)
    return lambda name, row: postgres.execute(forms[name], row)


def write(run: Run, rows: dict, seq: int) -> None:
    """Commit the intent, then the outcome."""
    call, operation = ids.new("call"), {**rows["operation"], "op_id": ids.new("op")}
    operation |= {"call_id": call, "idem_key": f"sha256:{os.urandom(32).hex()}"}
    events = [
        {**event, "id": ids.ulid(), "call_id": call, "seq": seq + number}
        for number, event in enumerate(rows["events"])
    ]
    run("begin", {})
    run("add_operation", operation | OPEN)
    for event in events[:2]:
        run("append_event_at_once", event)
    run("commit", {})
    run("begin", {})
    settled = {"before": "dispatching", "now": operation["settled_at"]}
    run("settle_operation", operation | settled | {"is_open": 0, "unless_open": 0})
    for event in events[2:]:
        run("append_event_at_once", event)
    run("commit", {})


def main() -> None:
    url, rows, seconds = sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), float(sys.argv[3])
    run, found = bare(url), []
    until = time.perf_counter() + seconds
    for seq in itertools.count(1, len(rows["events"])):
        began = time.perf_counter()
        write(run, rows, seq)
        found.append((time.perf_counter() - began) * 1e6)
        if time.perf_counter() > until:
            break
    found.sort()
    print(
        json.dumps(
            {
                "calls": len(found),
                "per_second": 1e6 * len(found) / sum(found),
                "p50": found[len(found) // 2],
                "p99": found[int(len(found) * 0.99)],
            }
        )
    )


if __name__ == "__main__":
    main()
