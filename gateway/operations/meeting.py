"""What a call finds under its key, and what that means for it: one function, no database."""

from enum import StrEnum
from typing import assert_never

from gateway.types.guarantees import OnVariant
from gateway.types.operations import FAILED, Operation, OpState, RetryClass


class Meeting(StrEnum):
    """What has to be done with the operation that is there."""

    NEW = "new"  # make the next generation
    AGAIN = "again"  # send this one again, in a new epoch
    MINE = "mine"  # this very call has it already: its claim was repeated
    JOIN = "join"
    SETTLED = "settled"
    CONFLICT = "conflict"
    VARIANT = "variant"
    LOST = "lost"  # its lease ran out: unknown, and then weighed again
    UNKNOWN = "unknown"


# What can be done once more: not what is being undone, nor what a person has said no to.
_REPEATED = frozenset({OpState.SUCCEEDED, OpState.FAILED_FINAL, OpState.COMPENSATED})
DAY = 86_400_000_000  # microseconds
_SAFE_TWICE = frozenset({RetryClass.KEYED, RetryClass.NATURAL})


def meet(
    found: Operation,
    wanted: Operation,
    *,
    on_variant: OnVariant,
    now: int,
    on_purpose: bool = False,
    known_for: int = DAY,
) -> Meeting:
    """Weigh the newest operation under a key against a call; times in microseconds.

    `known_for` is how long its server knows a request again by the key that it was given.

    A time that has passed makes a new operation out of a settled one, and so does a host that
    names it and repeats it `on_purpose`. Neither makes an unknown one sendable: what leads out of
    that is evidence.
    """
    if found.call_id == wanted.call_id and found.state is OpState.DISPATCHING:
        return Meeting.MINE
    if found.state is OpState.DISPATCHING and found.lease_until <= now:
        return Meeting.LOST
    match found.state:
        case OpState.ABANDONED:
            return Meeting.NEW
        case (
            OpState.SUCCEEDED
            | OpState.FAILED_FINAL
            | OpState.DENIED
            | OpState.COMPENSATING
            | OpState.COMPENSATED
        ):
            on_purpose = on_purpose and found.state in _REPEATED
            return _settled(found, wanted, on_variant, now, on_purpose=on_purpose)
        case OpState.READY | OpState.FAILED_RETRYABLE:
            if not _same_intent(found, wanted):
                return Meeting.CONFLICT
            if found.evidence != FAILED or _may_follow(found, wanted, now, known_for):
                return Meeting.AGAIN
            # By what is known now a second send may do harm: then an error is an answer as well.
            return _settled(found, wanted, on_variant, now, on_purpose=on_purpose)
        case OpState.INDETERMINATE:
            return _unknown(found, wanted, now, known_for)
        case OpState.PROPOSED | OpState.AWAITING_APPROVAL | OpState.DISPATCHING:
            return differs(found, wanted) or Meeting.JOIN
        case _:
            assert_never(found.state)


def _settled(
    found: Operation, wanted: Operation, on_variant: OnVariant, now: int, *, on_purpose: bool
) -> Meeting:
    if on_purpose and differs(found, wanted) is None:
        return Meeting.NEW
    same_request = (
        found.key.transport != ""
        and found.key.transport == wanted.key.transport
        and found.key.arguments == wanted.key.arguments
    )
    if not same_request:
        harmless = found.state is OpState.SUCCEEDED and wanted.retry is RetryClass.NATURAL
        if now >= found.replay_until or harmless:
            return Meeting.NEW
    other = differs(found, wanted)
    if other is Meeting.VARIANT and on_variant is OnVariant.REPLAY:
        return Meeting.SETTLED
    return other or Meeting.SETTLED


def _may_follow(found: Operation, wanted: Operation, now: int, known_for: int) -> bool:
    """Whether a call may be sent after the same one ran into an error."""
    return wanted.retry is RetryClass.READ or _is_harmless(found, wanted, now, known_for)


def _unknown(found: Operation, wanted: Operation, now: int, known_for: int) -> Meeting:
    other = differs(found, wanted)
    if other is not None:
        return other
    if not _is_harmless(found, wanted, now, known_for):
        return Meeting.UNKNOWN
    # While its request is open, another one beside it could overtake it.
    is_natural = found.retry is RetryClass.NATURAL
    return Meeting.JOIN if is_natural and found.lease_until > now else Meeting.AGAIN


def _is_harmless(found: Operation, wanted: Operation, now: int, known_for: int) -> bool:
    """Whether a second send does no harm, by what the first one was and what is known now."""
    # By what was sent: a key that the server never got, or got elsewhere, can't be known again.
    # Counted from the row on, which is there before the first send: rather too early than too late.
    is_remembered = now - found.created_at < known_for
    is_known = found.downstream_key != "" and found.injection != "" and is_remembered
    is_same = wanted.retry is RetryClass.NATURAL or found.injection == wanted.injection
    keyed = found.retry is RetryClass.KEYED and is_known and is_same
    return wanted.retry in _SAFE_TWICE and (keyed or found.retry is RetryClass.NATURAL)


def _same_intent(found: Operation, wanted: Operation) -> bool:
    return found.tool == wanted.tool and found.key.intent == wanted.key.intent


def differs(found: Operation, wanted: Operation) -> Meeting | None:
    """Say how a call differs from what is there, if it does."""
    if not _same_intent(found, wanted):
        return Meeting.CONFLICT
    return Meeting.VARIANT if found.key.arguments != wanted.key.arguments else None
