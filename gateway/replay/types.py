"""What replay speaks of: a call as the log tells of it, what was said to it, and what would be."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from gateway.types.actors import Actor
from gateway.types.calls import Method
from gateway.types.decisions import DecisionEffect
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.leans import Lean
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.tools import Effect, Kind, Risk
from gateway.types.values import value


class Counters(StrEnum):
    """What limits are counted by."""

    RECORDED = "recorded"  # what calls really took: the effect of the change on each call alone
    SIMULATED = "simulated"  # what they would have taken: an earlier denial leaves more for later


class Gone(StrEnum):
    """Why a value is not there to be read."""

    REDACTED = "redacted"
    CUT = "cut"  # too large to be kept in the event
    NOT_ASKED = "not_asked"  # nobody looked it up when the call was judged
    NOT_KEPT = "not_kept"  # a definition or a revision that the store does not have
    LEFT_OUT = "left_out"  # its call is kept at the level `metadata`
    SHREDDED = "shredded"  # its sealed copy was destroyed
    SEALED = "sealed"  # and the key is not here
    CHANGED = "changed"  # its sealed copy is not what was sealed


@value
class Missing:
    """A value that an answer would depend on, and that the log does not hold."""

    place: str  # `/arguments/iban`, `run.fields.ticket`, `origin of /customer_id`
    why: Gone
    readers: tuple[str, ...] = ()  # who reads it: ids of rules, `schema`, `contract`, `runs.NAME`
    since: datetime | None = None  # when it was shredded

    @property
    def told(self) -> str:
        """Say why it is not there, for people."""
        return str(self.why) if self.since is None else f"{self.why} on {self.since:%F}"


@value
class Written:
    """A constraint on one argument: by its value, where that is known, else by its text."""

    pointer: JsonPointer
    kind: str  # set | max | min | default
    rule: str
    value: Json = None
    is_known: bool = True  # whether `value` is what was written
    expression: str = ""  # what computes it; empty: it stands in the policy


@value
class Taken:
    """A limit that a call takes of; None where its amount, or its terms, can't be told."""

    id: str
    rule: str
    amount: float | None
    key: str = ""
    maximum: float | None = None
    window_s: float | None = None


@value
class Rows:
    """A condition on rows, or with an empty path on documents, of a result."""

    path: JsonPointer
    where: str
    rule: str


@value
class Judgement:
    """What a call is told before it is sent, whoever says it: a rule, another check, a limit."""

    effect: DecisionEffect
    status: Status = Status.OK  # of the refusal by a check; `ok` where there is none
    code: str = ""
    reason: str = ""
    rule: str = ""
    place: str = ""  # file:line of the rule
    matched: tuple[str, ...] = ()
    does: Effect | None = None  # what it may do, after the contract's conditions
    risk: Risk | None = None  # after rules have raised it
    phase: str = ""  # in which it is made
    constraints: tuple[Written, ...] = ()
    limits: tuple[Taken, ...] = ()
    keep: tuple[JsonPointer, ...] = ()
    redact: Mapping[JsonPointer, str] = field(default_factory=dict[JsonPointer, str])
    rows: tuple[Rows, ...] = ()
    people: str = ""  # who has to say yes, in words; empty where nobody has to
    quorum: int = 0  # how many have to
    shadow: tuple[tuple[str, str], ...] = ()  # (rule, effect)
    exceeded: str = ""  # the limit that had no room for it

    @property
    def goes(self) -> DecisionEffect:
        """The effect with limits taken into account: a call without room does not go ahead."""
        return DecisionEffect.DENY if self.exceeded else self.effect


@value
class Word:
    """What one person said about a call that people were asked about."""

    by: str
    choice: str  # approve | deny
    at: datetime
    reason: str = ""  # redacted
    seq: int = 0


@value
class Asked:
    """A request that people decided about, as far as the log goes."""

    approval: str
    state: str  # pending | approved | denied | expired | cancelled | superseded | consumed
    words: tuple[Word, ...] = ()
    op: str = ""  # the operation that it is about

    @property
    def is_denied(self) -> bool:
        """Whether a person said no."""
        return self.state == "denied"


@value
class Ended:
    """How a call ended."""

    status: Status
    code: str
    executed: Execution
    seq: int
    rule: str = ""
    result: JsonObject | None = None  # redacted; kept only where it did not leave as it was


@value
class SideEffect:
    """What a call changed outside, or may have changed."""

    op: str
    outcome: str  # known | unknown
    executed: Execution
    object_type: str
    object_id: str  # redacted
    compensates: str = ""
    seq: int = 0


@value
class Money:
    """An amount that a call moves, by what a limit of its rules or of its run sums up."""

    amount: float
    currency: str = ""  # where an argument says it


@value
class Borrowed:
    """What is known of the state that a call is judged in which was never made in it."""

    has_counted: bool  # what is open and done in the run was counted
    knows_taint: bool
    traced: frozenset[JsonPointer] = frozenset()  # arguments whose origin was looked up


@value
class Recorded:
    """One judged call out of the log."""

    seq: int  # of its `authorization` event
    id: str  # of the same
    call: str
    at: datetime  # when it came in
    decided: datetime | None = None  # when its event was made
    tenant: str
    actor: Actor
    method: Method
    kind: Kind
    tool: str  # `server.name`, or the URI of a resource
    server: str
    name: str  # by which it was called
    arguments: JsonObject  # as they came, with markers in place of what is unknown
    unknown: Mapping[JsonPointer, Gone] = field(default_factory=dict[JsonPointer, Gone])
    """Places in the arguments of which the log does not hold the value; `""` for all of them."""
    shown: JsonObject | None = None
    """The arguments as events have them, where `arguments` are from a sealed copy."""
    gone: Mapping[JsonPointer, Gone] = field(default_factory=dict[JsonPointer, Gone])
    """Places in the arguments that are known from a sealed copy alone, and are shown to nobody."""
    shredded: datetime | None = None  # when its sealed copy was destroyed
    run: str = ""
    parent: str = ""  # the call for whose sake the gateway made it
    cause: str = ""
    revision: str = ""  # that it was judged by
    contract: str = ""  # pin of the reviewed definition
    judged: Judgement
    """As the event says; terms of limits and what was redacted are known by the revision alone."""
    inputs: JsonObject = field(default_factory=dict[str, Json])
    """Effect, class and phase that policy decided by; empty where it was not asked."""
    snapshot: JsonObject = field(default_factory=dict[str, Json])
    final: JsonObject | None = None  # the arguments as they were sent, where policy changed them
    asked: Asked | None = None
    ended: Ended | None = None  # None: it has not, as far as the log goes
    is_sent: bool = False  # the intent was kept: what it took of limits was taken
    effects: tuple[SideEffect, ...] = ()
    digest: str = ""  # keyed, over the arguments as they came
    would: str = ""  # what would have become of it, where decisions were only recorded
    borrowed: Borrowed | None = None  # of a call that was never made: it has another one's state

    @property
    def seen(self) -> JsonObject:
        """The arguments as people may see them."""
        return self.arguments if self.shown is None else self.shown

    @property
    def is_executed(self) -> bool:
        """Whether it took place, as far as anybody knows."""
        return self.ended is not None and self.ended.executed is Execution.YES


class Grade(StrEnum):
    """The three answers of replay."""

    SAME = "same"
    CHANGED = "changed"
    UNDECIDABLE = "undecidable"


class Why(StrEnum):
    """What is another one, strongest first."""

    EFFECT = "effect"
    LIMIT = "limit"
    APPROVAL = "approval"  # who has to say yes
    CONSTRAINT = "constraint"
    OUTPUT = "output"
    CLASS = "class"  # what it may do, or its class
    RULE = "rule"  # the same, said by another rule or check, or with another code


@value
class Compared:
    """One call under two revisions."""

    recorded: Recorded
    grade: Grade
    before: Judgement
    after: Judgement | None = None  # None: undecidable
    why: tuple[Why, ...] = ()  # strongest first
    grants: Lean = Lean.OTHER  # wider: more is let through than before
    missing: tuple[Missing, ...] = ()
    certain: DecisionEffect | None = None
    """Undecidable, but whatever is missing, this is the effect."""
    is_first: bool = False  # the first of its run that is not the same
    follows_divergence: bool = False  # an earlier call of its run is not the same
    is_faithful: bool | None = None
    """Whether judging it again under its own revision says what its event says; None: not kept.

    What is not comes from a bug, or from somebody who has changed the log.
    """
    overrides_denial: bool = False  # a person said no to it, and nobody would be asked any more
    money: Money | None = None
    operation: str = ""  # what its repeats have in common; empty: it counts by itself
    moves_nothing: bool = False  # it was given the answer of an earlier call

    @property
    def cause(self) -> Why | None:
        """The strongest of what is another one."""
        return self.why[0] if self.why else None

    @property
    def is_executed(self) -> bool:
        """Whether the call took place."""
        return self.recorded.is_executed


@value
class Subject:
    """What was replayed under what: with it a report can be made again."""

    revision: str  # the candidate
    counters: Counters
    since: datetime | None = None
    until: datetime | None = None
    tenant: str = ""
    run: str = ""
    before: tuple[str, ...] = ()  # the revisions that calls were judged by, in order
    folder: str = ""  # what stands before names of the candidate's files, and of no earlier ones
    definitions: str = ""  # of tools, where other ones were given: a digest over them
