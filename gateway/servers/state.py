"""What operators see of a server."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ServerStatus(StrEnum):
    """Where a server is in its life."""

    STARTING = "starting"  # its first attempt is under way
    READY = "ready"
    FAILED = "failed"  # attempts go on, with growing pauses
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedTool:
    """A tool, prompt or resource that is kept back though its server is fine."""

    name: str
    pointer: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """One server at one moment; texts hold no secrets."""

    name: str
    status: ServerStatus
    since: datetime  # UTC, of this status
    reason: str = ""  # why it failed, or did last
    required: bool = False
    transport: str = ""  # stdio | http
    era: str = ""
    version: str = ""  # the revision that is spoken
    server: str = ""  # the server's own name for itself
    tools: int = 0  # callable ones
    quarantined: tuple[QuarantinedTool, ...] = ()
    list_error: str = ""  # why the last tools/list failed
    stale: bool = False  # the tools are those of an earlier, good list
    attempts: int = 0  # connections tried since the start
    in_flight: int = 0
    lanes: int = 0  # connections that belong to one caller
    pid: int = 0
    stderr_tail: str = ""
