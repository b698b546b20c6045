"""What `weighbridge status` shows: one snapshot of a running gateway."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.types.json import JsonObject
from gateway.types.workers import Worker

_PIDS: Final = Path("/proc/self/ns/pid")  # Linux: names the space in which pids are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of one gateway process, as it is written to the store."""

    version: str
    pid: int
    pids: str  # the machine, or the container on it, in which `pid` is counted
    front: str  # the URL, or `stdio`
    revision: str
    problem: str  # why the files on disk are not in force
    warnings: int
    servers: Sequence[JsonObject]
    quarantined: Sequence[JsonObject]
    unpinned: Sequence[str]  # tools without a contract
    unreviewed: Sequence[str]  # tools with a draft
    changed: Sequence[str]
    store: JsonObject
    telemetry: Sequence[JsonObject]
    approvals: JsonObject  # how many requests wait for a decision
    checkpoints: JsonObject  # how far checkpoints of the event log go, and who was handed them
    proposed: Sequence[JsonObject] = ()  # revisions that wait for people to agree
    identity: Sequence[str] = ()  # why keys of issuers can't be had or renewed
    mode: str = "enforce"  # what decisions are for
    mode_problem: str = ""  # why the configuration file on disk has no say in that
    observed: JsonObject | None = None  # what would have been, where decisions are only recorded
    worker: Worker | None = None  # which of several that serve one port

    def as_json(self) -> JsonObject:
        """Return the form that is stored."""
        return {
            "version": self.version,
            "pid": self.pid,
            "pids": self.pids,
            "front": self.front,
            "worker": (
                {"number": self.worker.number, "of": self.worker.of} if self.worker else None
            ),
            "mode": self.mode,
            "mode_problem": self.mode_problem,
            "observed": self.observed,
            "revision": self.revision,
            "problem": self.problem,
            "warnings": self.warnings,
            "servers": list(self.servers),
            "quarantined": list(self.quarantined),
            "unpinned": list(self.unpinned),
            "unreviewed": list(self.unreviewed),
            "changed": list(self.changed),
            "store": self.store,
            "telemetry": list(self.telemetry),
            "proposed": list(self.proposed),
            "identity": list(self.identity),
            "approvals": self.approvals,
            "checkpoints": self.checkpoints,
        }


def counted_here() -> str:
    """Return the machine and, on Linux, the pid namespace of this process.

    Containers of one machine may share its name, and count their processes from 1 all the same.
    """
    try:
        space = str(_PIDS.readlink())
    except OSError:  # not Linux
        space = ""
    return " ".join(part for part in (platform.node(), space) if part)


def is_dead(status: JsonObject) -> bool:
    """Say whether the process of a stored snapshot is certainly gone.

    Of a process counted elsewhere, and of one whose gateway didn't say where, nothing is known.
    """
    pid = status.get("pid")
    if not isinstance(pid, int) or pid <= 0 or status.get("pids") != counted_here():
        return False
    if os.name == "nt":  # where signal 0 would end the process
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):  # somebody else's; no pid of this system
        return False
    return False
