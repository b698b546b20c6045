"""What `weighbridge status` shows: one snapshot of a running gateway."""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.types.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of one gateway process, as it is written to the store."""

    version: str
    pid: int
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
    identity: Sequence[str] = ()  # why keys of issuers can't be had or renewed

    def as_json(self) -> JsonObject:
        """Return the form that is stored."""
        return {
            "version": self.version,
            "pid": self.pid,
            "front": self.front,
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
            "identity": list(self.identity),
            "approvals": self.approvals,
        }
