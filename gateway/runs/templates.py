"""Templates of runs: what a kind of work has to collect, and what lets it go on and finish."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gateway.types.runs import Mode, Phase, Run
from gateway.types.tools import Risk

LimitKind: TypeAlias = Literal["calls", "writes", "tokens", "money"]

# Phases in which writes are possible at all: there `tools` names the writes, and reads are free.
WRITING = frozenset({Phase.ACTING, Phase.AWAITING_APPROVAL, Phase.FINALIZING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A condition on a run, with the words that it is told by when it isn't met."""

    text: str  # as it was written, such as `fields.customer_id` or `evidence >= 1`
    holds: Callable[[Run], bool]  # never raises: what can't be evaluated does not hold


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """What a field of a run needs; a field without a rule is never collected."""

    required: bool = False  # is a guard of `acting` and of completion already; said for people
    sources: tuple[str, ...] = ()  # `host`, `user`, `model` or a type that results yield; () = any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimit:
    """At most so much in the whole life of a run."""

    kind: LimitKind
    maximum: float
    argument: str = ""  # `money`: the JSON pointer of the amount
    tools: frozenset[str] = (
        frozenset()
    )  # `money`: whose amount counts; empty: every write that has one


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One kind of work, as a file below `policies/runs` describes it."""

    name: str
    mode: Mode = Mode.AUTO
    objective: str = ""  # of runs that name none themselves
    fields: Mapping[str, FieldRule] = field(default_factory=dict[str, FieldRule])
    enter_when: Mapping[Phase, tuple[Guard, ...]] = field(
        default_factory=dict[Phase, tuple[Guard, ...]]
    )
    tools: Mapping[Phase, frozenset[str] | None] = field(
        default_factory=dict[Phase, frozenset[str] | None]
    )  # as `server.name`; None or nothing for a phase: every tool that policy allows
    finalizers: frozenset[str] = frozenset()  # writes of class low or medium while finalizing
    during_wait: frozenset[str] = frozenset()  # the same while people have to decide
    completed_when: tuple[Guard, ...] = ()
    wall_s: float = 0.0  # from the start; 0: no limit
    idle_s: float = 0.0  # since the last call; 0: what the configuration says
    limits: tuple[RunLimit, ...] = ()
    explicit_for: frozenset[Risk] = frozenset()  # classes that need a run by name, not by caller
    place: str = ""  # `file:line`

    @property
    def reads_taint(self) -> bool:
        """Whether some guard depends on what others could write into."""
        guards = (
            *self.completed_when,
            *(each for some in self.enter_when.values() for each in some),
        )
        return any("tainted" in guard.text for guard in guards)

    def guards(self, phase: Phase) -> tuple[Guard, ...]:
        """Return what has to hold before a run enters a phase."""
        return self.completed_when if phase is Phase.COMPLETED else self.enter_when.get(phase, ())

    def lets(self, phase: Phase, tool: str, *, is_read: bool) -> bool:
        """Say whether a phase has room for a tool (`server.name`), by this template alone."""
        named = self.tools.get(phase)
        return named is None or tool in named or (is_read and phase in WRITING)
