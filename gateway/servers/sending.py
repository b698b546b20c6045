"""One request over HTTP, from its first attempt to its last."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.servers.connection import NOTHING
from gateway.servers.hearing import Hearing
from gateway.types.json import JsonObject
from gateway.types.operations import Execution, Failure, Undelivered
from gateway.types.relay import Ear


@dataclass(slots=True, kw_only=True, eq=False)
class Sending:
    """What is asked, and how far that has got."""

    method: str
    params: JsonObject
    ear: Ear | None = None
    hearing: Hearing | None = None
    capabilities: JsonObject = field(default_factory=lambda: NOTHING)
    log_level: str = ""
    traceparent: str = ""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])
    may_cancel: bool = True  # the server may learn that nobody waits
    number: int = 0  # the id of the attempt that was sent last; 0: nothing was sent
    answered: bool = False  # the server has begun to answer
    told: bool = False  # the server was told that nobody waits

    @property
    def executed(self) -> Execution:
        """Whether the server may have acted, when nobody waits for it any more."""
        return Execution.UNKNOWN if self.number else Execution.NO


def broken(server: str, error: Exception, call: Sending) -> Undelivered:
    """Say whether a request that failed on an open connection may have arrived."""
    if isinstance(error, ValueError) and not call.answered:  # it never left
        return Undelivered(
            failure=Failure.UNAVAILABLE,
            executed=Execution.NO,
            detail=f"a header for `{server}` can't be sent",
        )
    return Undelivered(
        failure=Failure.CLOSED,
        executed=Execution.UNKNOWN,
        detail=f"`{server}` closed the connection before it answered in full",
    )
