"""What a contract promises of a write: its key, retries, checks of its outcome, the way back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Final

from gateway.types.json import Json, JsonPointer
from gateway.types.operations import RetryClass


class Normal(StrEnum):
    """How a field is made comparable before its digest is taken; NFC always comes first."""

    UPPER = "upper"
    LOWER = "lower"
    TRIM = "trim"


class OnVariant(StrEnum):
    """What the same intent with other ignored fields gets."""

    CONFLICT = "conflict"
    REPLAY = "replay"
    APPROVE = "approve"


class Repeat(StrEnum):
    """Whether somebody may carry out the same intent a second time on purpose."""

    DENY = "deny"
    APPROVE = "approve"
    ALLOW = "allow"


class InjectPlace(StrEnum):
    """Where a server wants the key that it knows a repeated request by."""

    ARGUMENT = "arg"
    META = "meta"
    HEADER = "header"


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """The key for the server: a pointer into the arguments, a `_meta` key, or a header's name."""

    place: InjectPlace
    name: str
    as_uuid: bool = True  # a UUID (version 5 over the operation's key), else 64 hex digits
    known_for_s: float = 86_400.0  # how long the server knows a request again by its key


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTemplate:
    """A call to be made of what is known.

    A text that is one reference (`$args.path`, `$result.path`, `$old.path`, `$op.id`, `$op.key`)
    stands for the value with its type; inside of other text a reference is put in as text. `$$` is
    a dollar sign. `$result` is the structured content, or the JSON of a lone text block.
    """

    tool: str  # `server.name`
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A read that shows whether a write took place."""

    call: CallTemplate
    found: str  # CEL over `args`, `result`, `op`: whether it happened
    absent_after_s: float  # how long after the send "not found" proves that it did not


OF_RUN: Final = inf  # the window of a whole run: as long as its operations are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """Which arguments make two calls the same intent, and whether to send one again."""

    intent: tuple[JsonPointer, ...] | None = None  # None: all arguments but the ignored
    ignore: tuple[JsonPointer, ...] = ()
    key_from: JsonPointer = ""  # the argument that is a business key by itself
    normalise: Mapping[JsonPointer, Normal] = field(default_factory=dict[JsonPointer, Normal])
    window_s: float | None = None  # None: the configured one; `OF_RUN`: a whole run
    on_variant: OnVariant = OnVariant.CONFLICT
    repeat: Repeat = Repeat.DENY
    retry: RetryClass = RetryClass.NEVER
    inject: Injection | None = None
    not_executed_on: tuple[int | str, ...] = ()  # JSON-RPC codes, HTTP statuses, words of a text
    lookup: Lookup | None = None
    is_cancel_safe: bool = False  # a given-up write may be cancelled at the server
    is_declared: bool = False  # whether somebody wrote it: an assumed window is shorter


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How long a change may take to show."""

    pending: str = ""  # CEL over `args`, `result`: not there yet
    not_found_ok_for_s: float = 0.0
    interval_s: float = 2.0
    max_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Readback:
    """A read that shows whether a write did what it says."""

    call: CallTemplate
    expect: str  # CEL over `args`, `result` (of the read), `answer` (of the write), `old`
    wait: Wait = field(default_factory=Wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """A digest that the server has to have come to as well."""

    of: str  # a reference, such as `$args.body`
    equals: str  # a reference, such as `$result.sha256`
    algorithm: str = "sha256"


class CompensationClass(StrEnum):
    """What can be done about a write once it is made (Richardson's steps of a saga)."""

    COMPENSATABLE = "compensatable"
    PIVOT = "pivot"  # from here on the only way is forward
    RETRIABLE = "retriable"  # after the pivot: repeated until it succeeds
    IRREVERSIBLE = "irreversible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation:
    """The operation that undoes a write, or why there is none."""

    kind: CompensationClass
    call: CallTemplate | None = None  # None only where there is nothing to call
    reason: str = ""  # why it can't be undone
    capture: tuple[JsonPointer, ...] = ()  # of the result: kept though the result is minimised
    deadline_s: float | None = None  # after it, nothing can be undone any more
    is_idempotent: bool = False  # may be sent again when its outcome is unknown
    verify: Readback | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenObject:
    """What a write makes or changes, as events name it: a type such as `crm.ticket`, and an id.

    The id is a text with references like those of a `CallTemplate`, such as `$result.id`.
    """

    type: str
    id: str
