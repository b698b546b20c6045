"""The policy's word on a call."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.types.approvals import ApprovalClause
from gateway.types.json import Json, JsonPointer
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Risk
from gateway.types.values import value


class Mode(StrEnum):
    """What decisions are for; texts are values of files and events, shared, and stable."""

    ENFORCE = "enforce"  # what is decided is done
    OBSERVE = "observe"  # what is decided is recorded, and every call passes


class DecisionEffect(StrEnum):
    """Strongest first: deny > require_approval > allow."""

    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"
    ALLOW = "allow"


class RedactAs(StrEnum):
    """What stands in a result where a value was."""

    HASH = "hash"  # a keyed digest: the same value gives the same digest within a tenant
    MASK = "mask"  # a note that a value was here
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """One path of a result that leaves in another form."""

    path: JsonPointer
    form: RedactAs


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """A condition on the rows, or on the documents, of a result: no others may leave."""

    path: JsonPointer  # of the list of rows, `*` for any key or index; empty: of the documents
    where: str  # CEL, as it was written
    rule: str
    holds: Callable[[Json], bool | None] = field(repr=False, compare=False)
    """For this call; None when the condition can't be evaluated for a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount:
    """What became of the rows and documents of a result that filters were about."""

    kept: int = 0
    removed: int = 0  # the failed ones included
    failed: int = 0  # the condition could not be evaluated

    def plus(self, other: "RowCount") -> "RowCount":
        """Return both together."""
        return RowCount(
            kept=self.kept + other.kept,
            removed=self.removed + other.removed,
            failed=self.failed + other.failed,
        )


NO_ROWS: Final = RowCount()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPolicy:
    """What of a structured result may leave: `keep` is a list of paths, empty means everything."""

    keep: tuple[JsonPointer, ...] = ()
    redact: tuple[Redaction, ...] = ()
    rows: tuple[RowFilter, ...] = ()

    @property
    def holds_back(self) -> bool:
        """Whether there is anything that may not leave, or not as it is."""
        return bool(self.keep or self.redact or self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """One argument that policy writes: a value put in its place, or a bound."""

    pointer: JsonPointer
    kind: str  # set | max | min | default
    value: Json  # already computed for this call
    rule: str
    expression: str = ""  # what computed it; empty: it stands in the policy


RUN_S: Final = 100 * 365 * 86400.0  # the window of a whole run: longer than any


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `maximum` (calls, or the sum of one argument) in `window_s` seconds per key."""

    id: str
    key: str  # the values of `per`, joined
    maximum: float
    window_s: float
    amount: float  # what this call takes: 1, or the argument's value
    rule: str

    @property
    def is_of_run(self) -> bool:
        """Whether it is counted for the whole life of a run."""
        return self.window_s >= RUN_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """Which limit had no room, and when it will have; infinite for one that never will."""

    limit: str
    retry_after_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowDecision:
    """What a rule in shadow mode would have decided; recorded, never enforced."""

    effect: DecisionEffect
    rule: str
    code: str


@value
class Inputs:
    """What a decision was made from beside names and arguments: words of ours, never a value."""

    effect: Effect
    risk: Risk  # after rules have raised it
    phase: Phase
    given: Risk | None = None  # the class before that; None: not told


@value
class Decision:
    """The policy's word; starts as a denial that nobody spoke."""

    effect: DecisionEffect = DecisionEffect.DENY
    code: str = "undecided"
    reason: str = ""
    rule: str = ""
    place: str = ""  # file:line of the rule
    matched: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    limits: tuple[Limit, ...] = ()
    output: OutputPolicy = field(default_factory=OutputPolicy)
    approval: ApprovalClause | None = None
    risk: Risk | None = None  # the class that matching rules raise the call to
    shadow: tuple[ShadowDecision, ...] = ()
    revision: str = ""
    inputs: Inputs | None = None  # None: nothing was decided

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it is about the arguments of its call: policy keeps most of these."""
        said = self.reason or self.constraints or self.limits or self.approval or self.shadow
        return self.revision != "" and not said
