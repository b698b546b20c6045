"""What runs are like by the words of their reference: a model that knows nothing of their code."""

from dataclasses import dataclass, field
from typing import Final

from gateway.runs.machine import Need
from gateway.runs.templates import Guard, Template
from gateway.types.runs import Mode, Passage, Phase

P = Phase
OVER: Final = (P.COMPLETED, P.HANDOFF, P.FAILED)
LOW, HIGH, LAST = TOOLS = ("desk.low", "desk.high", "desk.last")
TEMPLATE: Final = Template(
    name="work",
    enter_when={
        P.ACTING: (Guard(text="open_ops < 2", holds=lambda run: run.open_ops < 2),),
        P.FINALIZING: (Guard(text="open_ops == 0", holds=lambda run: run.open_ops == 0),),
    },
    tools={P.ACTING: frozenset({LOW, HIGH}), P.FINALIZING: frozenset({LAST})},
    finalizers=frozenset({LAST}),
    during_wait=frozenset({LOW}),
)


@dataclass(frozen=True)
class Attempt:
    """A write as it was judged; whether it may still be sent is another question."""

    run: str  # which of the runs
    need: Need
    name: str  # its key in the store
    passage: Passage
    repeats: str = ""


@dataclass
class Books:
    """What is known of calls, whichever run they are of: their keys in the store."""

    approved: set[str] = field(default_factory=set[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])  # not carried out; in which run


@dataclass
class Model:
    """What one run is like, by the rules and by what was done to it."""

    name: str
    mode: Mode
    books: Books
    phase: Phase
    around: "Model | None" = None
    back: Phase | None = None
    is_paused: bool = False
    is_tainted: bool = False
    open: set[str] = field(default_factory=set[str])  # operations
    pending: set[str] = field(default_factory=set[str])  # keys of calls

    @property
    def is_over(self) -> bool:
        """Whether it has come to an end."""
        return self.phase in OVER

    @property
    def is_held(self) -> bool:
        """Whether a run around it lets it change nothing."""
        above = self.around
        while above is not None:
            if above.is_over or above.is_paused:
                return True
            above = above.around
        return False

    def lets(self, tool: str, name: str) -> bool:
        """Whether a write may be sent now, by the words of the reference."""
        if self.is_paused or self.is_held:
            return False
        if self.phase is P.FAILED:
            return self.books.failed.get(name) == self.name
        if self.phase is not P.AWAITING_APPROVAL:
            return self._has_room(tool, self.phase)
        return self.back is _where(tool) and (name in self.books.approved or tool == LOW)

    def asks(self, tool: str) -> bool:
        """Whether people may be asked about a write now."""
        if self.is_paused or self.is_held or self.is_over:
            return False
        if self.phase is not P.AWAITING_APPROVAL:
            return self._has_room(tool, self.phase)
        return self.back is _where(tool)

    def _has_room(self, tool: str, phase: Phase) -> bool:
        if tool == LAST:
            may_finalize = self.mode is Mode.AUTO and not self.open
            return phase is P.FINALIZING or (phase is P.ACTING and may_finalize)
        may_act = self.mode is Mode.AUTO and len(self.open) < 2
        return phase is P.ACTING or (phase is P.RETRIEVING and may_act)

    def enters(self, tool: str) -> None:
        """Take the run to where a write that was let through is made."""
        if self.phase in (P.RETRIEVING, P.ACTING):
            self.phase = _where(tool)

    def count(self) -> None:
        """Wait for people as long as they have to decide."""
        if self.is_over or bool(self.pending) is (self.phase is P.AWAITING_APPROVAL):
            return
        if self.pending:
            self.phase, self.back = P.AWAITING_APPROVAL, self.phase
        else:
            self.phase, self.back = self.back or P.ACTING, None

    def goes_on(self) -> None:
        """Resume: out of a pause, or out of what was given up."""
        self.is_paused = False
        if self.is_over:
            self.phase = P.RETRIEVING
            self.count()

    def ends(self, to: Phase, *, paused: bool = False) -> None:
        """Come to an end; a pause that its model may not end stays."""
        self.phase, self.back, self.is_paused = to, None, paused


def _where(tool: str) -> Phase:
    return P.FINALIZING if tool == LAST else P.ACTING
