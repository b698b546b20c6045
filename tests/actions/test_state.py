"""The snapshot of a running gateway, as it is stored."""

import os
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest

from gateway import jsontext
from gateway.actions.state import Snapshot, counted_here, is_dead
from gateway.types.json import Json
from gateway.types.workers import Worker

LISTS = {"servers", "quarantined", "unpinned", "unreviewed", "changed", "telemetry", "identity"} | {
    "proposed"
}


def test_everything_of_a_snapshot_is_stored_under_its_own_name() -> None:
    values: dict[str, Any] = {
        "version": "1",
        "pid": 7,
        "pids": "box pid:[1]",
        "front": "stdio",
        "revision": "sha256:a",
        "problem": "p",
        "warnings": 2,
        "servers": ({"name": "crm"},),
        "quarantined": ({"tool": "crm.bad"},),
        "unpinned": ("crm.a",),
        "unreviewed": ("crm.b",),
        "changed": ("crm.c",),
        "store": {"ok": True},
        "telemetry": ({"signal": "traces"},),
        "proposed": ({"revision": "sha256:b"},),
        "identity": ("https://idp: 503",),
        "approvals": {"pending": 2},
        "checkpoints": {"size": 12},
        "mode": "observe",
        "mode_problem": "q",
        "observed": {"calls": 3},
        "worker": Worker(number=2, of=4),
    }
    assert values.keys() == {field.name for field in fields(Snapshot)}
    stored = Snapshot(**values).as_json()
    values["worker"] = {"number": 2, "of": 4}
    assert stored == {
        name: list(value) if name in LISTS else value for name, value in values.items()
    }
    assert jsontext.parse(jsontext.dump(stored)) == stored


def test_a_process_of_this_machine_is_dead_once_it_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        status: dict[str, Json] = {"pid": child.pid, "pids": counted_here()}
        assert not is_dead(status)
        child.kill()
    assert is_dead(status)
    assert not is_dead({**status, "pids": "another machine"})
    assert not is_dead({"pid": child.pid})  # of an earlier version, which didn't say where


@pytest.mark.parametrize("pid", [os.getpid(), 1, 0, -1, 10**30, "7", None])
def test_a_process_that_may_live_is_not_called_dead(pid: Json) -> None:
    assert not is_dead({"pid": pid, "pids": counted_here()})
