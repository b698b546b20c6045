"""What the script of the demo is made of: calls, commands, requests of hosts, and cues."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from gateway.client import AsyncClient, Package, RunState
from gateway.types.approvals import ApprovalState, Cast
from gateway.types.json import Json, JsonObject
from gateway.types.operations import OpState
from gateway.types.outcomes import Status
from gateway.types.runs import Phase

ACME: Final = "acme"
GLOBEX: Final = "globex"
# In a command: the operation, the request for approval and the run of the last line that had one,
# and the first digits of what the request is bound to, as the last command showed them.
OP: Final = "OP"
REQUEST: Final = "REQUEST"
BINDING: Final = "BINDING"
RUN: Final = "RUN"

Observe: TypeAlias = Callable[[JsonObject], str]


class Surprise(Exception):
    """A call went ahead as expected and brought something else than expected."""


class Stands(StrEnum):
    """How a run stands where that is no phase."""

    PAUSED = "paused"


class Cue(StrEnum):
    """What happens behind the scenes before a line; for the desk, the value is a path of its."""

    REWRITE = "/demo/rewrite"  # the desk publishes another definition of `CHANGED_TOOL`
    LOSE_THE_TICKETS_ANSWER = "/demo/lose-answer/open_ticket"
    DIE_IN_THE_REFUND = "/demo/die/refund"
    RESTART_THE_DESK = "desk"  # which has died
    RESTART_THE_GATEWAY = "gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of one agent, and how it has to end."""

    tenant: str
    shows: str  # why the step is in the script
    tool: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    status: Status = Status.OK
    rule: str = ""
    code: str = ""  # finer than the status; empty: not compared
    replayed: bool = False  # the answer of an earlier call, given again
    observe: Observe = lambda _result: ""  # puts a result in words; raises Surprise
    raw: bool = False  # as bytes, since the client library can't send this
    cue: Cue | None = None
    in_run: bool = False  # the host names the last run beside the call, where no model sees it
    events_of: str = ""  # what it is called in the second table, which has its events
    shows_books: bool = False  # the desk's own books are told after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of a person, about one operation, request or run, and what it has to show."""

    shows: str
    words: tuple[str, ...]  # after `weighbridge`
    # The state of what it is about, or what became of a vote.
    status: OpState | ApprovalState | Cast | Phase | Stands
    observe: Observe = lambda _row: ""  # puts the one row that it prints in words; raises Surprise
    cue: Cue | None = None
    shows_books: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the gateway has to refuse what the person wants."""
        return isinstance(self.status, Cast) and not self.status.is_accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a host, the program around an agent, and the phase that it has to show."""

    shows: str
    asks: str  # in the words of HTTP
    ask: Callable[[AsyncClient, str], Awaitable[RunState | Package]]  # with the last run
    status: Phase
    observe: Callable[[RunState | Package], str]  # raises Surprise
    cue: Cue | None = None
    shows_books: bool = False


Line: TypeAlias = Step | Command | Request
"""One line of the script."""
