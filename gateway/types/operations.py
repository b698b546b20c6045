"""What came back from a downstream, or why nothing did."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from gateway.types.approvals import Approval
from gateway.types.json import Json, JsonObject
from gateway.types.values import value


class Execution(StrEnum):
    """Whether the downstream may have acted."""

    NO = "no"
    YES = "yes"
    UNKNOWN = "unknown"


class Failure(StrEnum):
    """Why a request has no usable answer."""

    UNAVAILABLE = "unavailable"  # no connection, server down, start failed
    STARTING = "starting"
    BUSY = "busy"  # our own queue for this server is full
    TIMEOUT = "timeout"
    CLOSED = "closed"  # the connection ended while the call was in flight
    MALFORMED = "malformed"  # an answer that isn't JSON, or isn't a result
    TOO_LARGE = "too_large"
    UNAUTHORIZED = "unauthorized"  # the downstream refused the gateway's own credential
    RATE_LIMITED = "rate_limited"
    CANCELLED = "cancelled"  # our caller went away


@value
class Peer:
    """How a downstream is reached, for spans and events only."""

    transport: str  # `http` or `stdio`
    version: str = ""  # the MCP revision that is spoken with it
    address: str = ""  # `host` or `host:port`; nothing of a URL that could hold a secret


@value
class Delivered:
    """A result as received; `size` is the bytes of the message that carried it."""

    result: JsonObject
    size: int
    redactions: int = 0  # how often a credential of the gateway's own was taken out of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A JSON-RPC error from the downstream, as received."""

    code: int
    message: str
    data: Json = None
    size: int = 0
    status: int | None = None  # HTTP's, where it was an error too


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """No usable answer, and whether the downstream may have acted all the same."""

    failure: Failure
    executed: Execution
    detail: str  # for people: names the server, holds no secrets
    retry_after_s: float | None = None
    status: int | None = None  # HTTP's, where the answer was nothing else


Delivery: TypeAlias = Delivered | Rejected | Undelivered


class VerificationState(StrEnum):
    """Whether an outcome was checked, kept apart from whether the call succeeded."""

    NOT_DECLARED = "not_declared"
    VERIFIED = "verified"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    PENDING = "pending"  # goes on after the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the checks on an outcome said."""

    state: VerificationState
    detail: str = ""


class OpState(StrEnum):
    """Where an operation stands; `gateway.operations.machine` has the ways between."""

    PROPOSED = "proposed"  # validated, not decided
    DENIED = "denied"  # a person said no
    AWAITING_APPROVAL = "awaiting_approval"
    READY = "ready"  # decided, not sent
    DISPATCHING = "dispatching"  # the intent is committed; sent, or about to be
    SUCCEEDED = "succeeded"
    FAILED_RETRYABLE = "failed_retryable"  # proved not to have been carried out
    FAILED_FINAL = "failed_final"  # carried out, and the tool says that it failed
    INDETERMINATE = "indeterminate"  # sent, and nobody knows what became of it
    COMPENSATING = "compensating"
    COMPENSATED = "compensated"
    ABANDONED = "abandoned"  # never sent, given up


class RetryClass(StrEnum):
    """What makes it safe to send a call a second time."""

    READ = "read"  # it changes nothing
    KEYED = "keyed"  # the downstream knows the key again
    NATURAL = "natural"  # the same change twice is one change
    QUERY = "query"  # the downstream can be asked whether it happened
    NEVER = "never"


class KeySource(StrEnum):
    """Where the key of an operation comes from."""

    CALLER = "caller"  # the host, where the model can't see it
    CONTRACT = "contract"  # the argument that the contract names
    DERIVED = "derived"  # the intent fields


@value
class IntentKey:
    """What makes two calls the same: keyed digests, `hmac-sha256:` and 64 hex digits."""

    key: str
    source: KeySource
    scope: str  # digest over principal, server and run: no key of one meets another's
    intent: str  # digest over server, tool and the fields that identify the intent
    arguments: str  # digest over all arguments
    transport: str = ""  # digest over the id of a host's tool use: the same request once more


# The evidence of an attempt whose server asked something before it carries anything out.
ASKS_FIRST: Final = "its server asks first, and carries nothing out before the answer"

# The evidence of an attempt whose tool ran, and said that it failed.
FAILED: Final = "its answer is an error"


@value
class Operation:
    """One intent, whatever its attempts; times are whole microseconds since 1970 in UTC."""

    op_id: str
    tenant: str
    run_id: str = ""
    user: str = ""
    server: str
    tool: str  # `server.name`
    pin: str
    revision: str
    key: IntentKey
    generation: int = 0
    retry: RetryClass
    state: OpState
    epoch: int = 0  # the attempt that may settle it
    owner: str = ""  # the gateway that sends
    call_id: str = ""  # the call that sends, or sent last
    lease_until: int = 0
    downstream_key: str = ""  # what was injected, if anything
    injection: str = ""  # where, such as `header:Idempotency-Key`; empty where nothing arrives
    verification: VerificationState = VerificationState.NOT_DECLARED
    evidence: str = ""  # how the outcome is known, where that is not its own answer
    compensates: str = ""  # the operation that this one undoes
    compensation: str = ""  # the class that the contract gave it
    created_at: int = 0
    dispatched_at: int = 0
    settled_at: int = 0
    replay_until: int = 0  # from then on the same intent is a new operation
    check_at: int = 0  # when somebody has to look at the outcome again; 0: never
    shown: str = "{}"  # the arguments as people may see them: JSON, redacted
    arguments: str = ""  # sealed
    outcome: str = ""  # sealed; empty while there is none


class Met(StrEnum):
    """What a call finds under its key."""

    TAKEN = "taken"  # it may be sent, by whoever holds this epoch
    JOINED = "joined"  # the same is under way
    SETTLED = "settled"  # it has ended, and the answer is there
    CONFLICT = "conflict"  # the key was used for something else
    VARIANT = "variant"  # the same intent with other words
    UNKNOWN = "unknown"  # nobody knows whether it took place
    LOST = "lost"  # its sender shows no sign of life: it has to be given up, and its end told
    HELD = "held"  # a person has to decide, or has, and the call is to come back for it
    DENIED = "denied"  # a person said no
    EXPIRED = "expired"  # nobody decided in time; the next call asks anew
    OVER_LIMIT = "over_limit"
    RUN_CHANGED = "run_changed"  # its run is not as it was judged by: it has to be judged anew
    PHASE_BLOCKED = "phase_blocked"  # its phase lets through only what this call is not
    OUTDATED = "outdated"  # people would have to decide, and by a newer policy than this gateway's
    MISNAMED = "misnamed"  # what it is to repeat on purpose has another key, or isn't there


@value
class Claim:
    """The operation that a call met or made, and what that means for the call."""

    met: Met
    operation: Operation
    limit: str = ""  # with OVER_LIMIT: which
    retry_after_s: float = 0.0  # with OVER_LIMIT
    approval: Approval | None = None  # with HELD, DENIED and EXPIRED; with TAKEN: what it used up
