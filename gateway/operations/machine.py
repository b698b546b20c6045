"""States of operations and the ways between them: one table, and nothing beside it."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.errors import WeighbridgeError
from gateway.types.operations import OpState, RetryClass

S = OpState


class OpEvent(StrEnum):
    """What can happen to an operation."""

    ADMIT = "admit"  # policy lets it through
    ASK = "ask"  # a person has to decide
    DENY = "deny"  # a person or policy said no
    CONSUME = "consume"  # its approval is used up by the very send
    DISPATCH = "dispatch"  # the intent to send is committed
    ABANDON = "abandon"  # it was never carried out and won't be
    SUCCEED = "succeed"
    FAIL_RETRYABLE = "fail_retryable"  # proved not to have been carried out
    FAIL_FINAL = "fail_final"
    LOSE = "lose"  # the lease ran out, or what came back proves nothing
    LATE_SUCCEED = "late_succeed"  # the answer of the same epoch, after all
    LATE_FAIL_RETRYABLE = "late_fail_retryable"
    LATE_FAIL_FINAL = "late_fail_final"
    RESOLVE_HAPPENED = "resolve_happened"  # by a lookup or a person
    RESOLVE_NOT_HAPPENED = "resolve_not_happened"
    COMPENSATE = "compensate"
    COMPENSATED = "compensated"
    COMPENSATION_FAILED = "compensation_failed"  # it stands as it did before


E = OpEvent

WAYS: Final[Mapping[tuple[OpState, OpEvent], OpState]] = MappingProxyType(
    {
        (S.PROPOSED, E.ADMIT): S.READY,
        (S.PROPOSED, E.ASK): S.AWAITING_APPROVAL,
        (S.PROPOSED, E.DENY): S.DENIED,
        (S.PROPOSED, E.ABANDON): S.ABANDONED,
        # No way leads back to `ready`: there an approval could be used without being used up.
        (S.AWAITING_APPROVAL, E.CONSUME): S.DISPATCHING,
        (S.AWAITING_APPROVAL, E.DENY): S.DENIED,
        (S.AWAITING_APPROVAL, E.ABANDON): S.ABANDONED,
        (S.READY, E.ASK): S.AWAITING_APPROVAL,
        (S.FAILED_RETRYABLE, E.ASK): S.AWAITING_APPROVAL,  # what was approved is used up
        (S.READY, E.DISPATCH): S.DISPATCHING,
        (S.READY, E.ABANDON): S.ABANDONED,
        (S.DISPATCHING, E.SUCCEED): S.SUCCEEDED,
        (S.DISPATCHING, E.FAIL_RETRYABLE): S.FAILED_RETRYABLE,
        (S.DISPATCHING, E.FAIL_FINAL): S.FAILED_FINAL,
        (S.DISPATCHING, E.LOSE): S.INDETERMINATE,
        (S.FAILED_RETRYABLE, E.DISPATCH): S.DISPATCHING,
        (S.FAILED_RETRYABLE, E.ABANDON): S.ABANDONED,
        (S.INDETERMINATE, E.LATE_SUCCEED): S.SUCCEEDED,
        (S.INDETERMINATE, E.LATE_FAIL_RETRYABLE): S.FAILED_RETRYABLE,
        (S.INDETERMINATE, E.LATE_FAIL_FINAL): S.FAILED_FINAL,
        (S.INDETERMINATE, E.RESOLVE_HAPPENED): S.SUCCEEDED,
        (S.INDETERMINATE, E.RESOLVE_NOT_HAPPENED): S.FAILED_RETRYABLE,
        (S.INDETERMINATE, E.DISPATCH): S.DISPATCHING,  # only for the classes of `RESENT`
        (S.SUCCEEDED, E.COMPENSATE): S.COMPENSATING,
        (S.COMPENSATING, E.COMPENSATED): S.COMPENSATED,
        (S.COMPENSATING, E.COMPENSATION_FAILED): S.SUCCEEDED,
    }
)

# Where not knowing is no reason against a second send: it does no harm.
RESENT: Final = frozenset({RetryClass.KEYED, RetryClass.NATURAL})

# Where something was carried out, whatever became of it then.
TOOK_EFFECT: Final = frozenset({S.SUCCEEDED, S.FAILED_FINAL, S.COMPENSATING, S.COMPENSATED})

TERMINAL: Final = frozenset(OpState) - {state for state, _ in WAYS}

# What an answer means when it comes after its operation was given up as unknown.
LATE: Final[Mapping[OpEvent, OpEvent]] = MappingProxyType(
    {
        E.SUCCEED: E.LATE_SUCCEED,
        E.FAIL_RETRYABLE: E.LATE_FAIL_RETRYABLE,
        E.FAIL_FINAL: E.LATE_FAIL_FINAL,
    }
)


class Impossible(WeighbridgeError):
    """An event that can't happen to an operation in its state."""

    def __init__(self, state: OpState, event: OpEvent) -> None:
        super().__init__(f"an operation that is `{state}` can't `{event}`")
        self.state = state
        self.event = event


def next_state(state: OpState, event: OpEvent, *, retry: RetryClass = RetryClass.NEVER) -> OpState:
    """Return the state after an event; raises `Impossible` where no way leads on."""
    if state not in sources(event, retry=retry):
        raise Impossible(state, event)
    return WAYS[state, event]


def sources(event: OpEvent, *, retry: RetryClass = RetryClass.NEVER) -> tuple[OpState, ...]:
    """Return the states in which an event can happen, for the guards of SQL statements."""
    return tuple(
        state
        for state, each in WAYS
        if each is event
        and not (state is S.INDETERMINATE and event is E.DISPATCH and retry not in RESENT)
    )
