"""What the script of the demo is made of: calls of agents, commands of people, and cues."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from gateway.types.approvals import ApprovalState, Cast
from gateway.types.json import Json, JsonObject
from gateway.types.operations import OpState
from gateway.types.outcomes import Status

ACME: Final = "acme"
GLOBEX: Final = "globex"
# In a command: the operation and the request for approval of the last line that had one, and the
# first digits of what the request is bound to, as the last command showed them.
OP: Final = "OP"
REQUEST: Final = "REQUEST"
BINDING: Final = "BINDING"

Observe: TypeAlias = Callable[[JsonObject], str]


class Surprise(Exception):
    """A call went ahead as expected and brought something else than expected."""


class Cue(StrEnum):
    """What happens behind the scenes before a call; the value is a path of the desk's."""

    REWRITE = "/demo/rewrite"  # the desk publishes another definition of `CHANGED_TOOL`
    LOSE_THE_TICKETS_ANSWER = "/demo/lose-answer/open_ticket"
    DIE_IN_THE_REFUND = "/demo/die/refund"
    RESTART = ""  # the desk, which has died, is started again


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
    shows_events: bool = False  # its events are in the second table
    shows_books: bool = False  # the desk's own books are told after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of a person, about one operation or request, and what it has to show."""

    shows: str
    words: tuple[str, ...]  # after `weighbridge`
    status: (
        OpState | ApprovalState | Cast
    )  # the state of what it is about, or what became of a vote
    observe: Observe = lambda _row: ""  # puts the one row that it prints in words; raises Surprise
    cue: Cue | None = None
    shows_books: bool = False

    @property
    def is_refused(self) -> bool:
        """Whether the gateway has to refuse what the person wants."""
        return isinstance(self.status, Cast) and not self.status.is_accepted


Line: TypeAlias = Step | Command
"""One line of the script."""
