"""A log of twenty thousand events is given out whole, in the memory of a few pages."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers.workspaces import Workspace, a_workspace

COUNT = 20_000
# 30 MB of events; every thousandth was denied.
FILL = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
INSERT INTO events (seq, id, at, kind, stage, tenant, run_id, call_id, tool, actor_user, decision,
                    rule, status, trace_id, body)
SELECT n, 'e' || n, 1796029200000000 + n, 'authorization', 'decided', 'acme', '', 'call_' || n,
       'crm.find', 'sam', CASE WHEN n % 1000 THEN 'allow' ELSE 'deny' END, 'r', 'ok', '',
       '{"v":1,"id":"e' || n || '","ts":"2026-11-30T09:00:00.000000Z","kind":"authorization",'
       || '"stage":"decided","tenant":"acme","call":"call_' || n || '","gateway":{"instance":"i",'
       || '"version":"1"},"body":{"method":"tools/call","tool":"crm.find","decision":"'
       || CASE WHEN n % 1000 THEN 'allow' ELSE 'deny' END || '","note":"' || :note || '"}}'
FROM numbers
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    found = a_workspace(tmp_path_factory.mktemp("large"))
    with found.store():
        pass
    with closing(sqlite3.connect(found.folder / "store.db")) as store:
        store.execute(FILL, {"count": COUNT, "note": "x" * 1_200})
        store.commit()
    return found


def peak(place: Workspace, out: Path, *words: str) -> int:
    """Run a command in a process of its own; return the most memory that it held, in KiB."""
    command = [sys.executable, "-m", "gateway", "events", *words, "--config", str(place.config)]
    with out.open("wb") as file, subprocess.Popen(command, stdout=file) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)


@pytest.fixture(scope="module")
def least(place: Workspace, tmp_path_factory: pytest.TempPathFactory) -> int:
    """What a command holds that gives out next to nothing."""
    return peak(place, tmp_path_factory.mktemp("few") / "out", "ask", "readers")


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("query", "--all", "--csv", "--newest", "--method", "tools/call"), COUNT + 1),
        (("export", "--format", "ocsf"), COUNT),
        (("ask", "decided"), COUNT // 1000 + 1),
    ],
    ids=["all as csv", "all as ocsf", "the few that were denied"],
)
def test_the_memory_that_it_takes_does_not_grow_with_the_log(
    words: tuple[str, ...], lines: int, place: Workspace, least: int, tmp_path: Path
) -> None:
    most = peak(place, tmp_path / "all", *words)
    with (tmp_path / "all").open("rb") as file:
        found = sum(1 for _ in file)
    assert lines <= found < lines + 20  # the commands themselves write a few
    assert most - least < 25 * 1024
