"""Answers from the log about calls and people: what was denied or approved, by whom, who looked.

Each row is told by one event and those that it names; however long a time is, little is held.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.actions import questions
from gateway.actions.questions import Log
from gateway.approvals.matching import same_person
from gateway.store.events import StoredEvent
from gateway.store.selection import Selection
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject

DECIDED: Final = (
    *("time", "tenant", "user", "tool", "outcome", "by", "approvers", "rule", "code", "reason"),
    *("request", "call", "revision", "seq"),
)
REVIEWS: Final = (
    *("time", "tenant", "tool", "requester", "outcome", "approvers", "separate", "roles"),
    *("channel", "assurance", "needed", "waited_s", "reason", "rule", "request", "call", "seq"),
)
READERS: Final = ("time", "how", "by", "account", "tenant", "asked", "events", "seq", "about")
OUTCOMES: Final = ("denied", "approved", "expired", "voided", "used")
_STAGES: Final[Mapping[str, str]] = {
    Stage.EXPIRED: "expired",
    Stage.VOIDED: "voided",
    Stage.USED: "used",
}


async def decided(
    log: Log, wanted: Selection, outcomes: Sequence[str] = OUTCOMES
) -> AsyncIterator[JsonObject]:
    """Yield every call that was denied, and each end of a request to people, with who decided.

    Of a time and of tenants, tools and users as `wanted` says. A call whose denial was only
    recorded, and that passed, is none of them. Raises StoreUnavailable.
    """
    denied = replace(
        wanted,
        kinds=(EventKind.AUTHORIZATION.value,),
        stages=(Stage.DECIDED.value,),
        decisions=(DecisionEffect.DENY.value,),
    )
    ended = replace(
        wanted,
        kinds=(EventKind.APPROVAL.value,),
        stages=(Stage.DECIDED.value, *_STAGES),
        actors=(),  # who acts is an approver; who asked is in the body
    )
    async for event in _merged(questions.each(log, denied), questions.each(log, ended)):
        if b'"observed"' in event.body and "observed" in _told(event)[1]:
            continue  # it passed
        row = _row(event)
        is_of_user = not wanted.actors or row["user"] in wanted.actors
        if row["outcome"] in outcomes and is_of_user:
            yield row


async def reviews(
    log: Log, wanted: Selection, *, only_breaches: bool = False
) -> AsyncIterator[JsonObject]:
    """Yield every request that people decided, and whether all who did are others than asked.

    With `only_breaches`, those where somebody decided about himself. Raises StoreUnavailable.
    """
    ended = replace(
        wanted, kinds=(EventKind.APPROVAL.value,), stages=(Stage.DECIDED.value,), actors=()
    )
    async for event in questions.each(log, ended):
        told, body = _told(event)
        requester = _text(_object(body.get("requester")).get("user"))
        deciders = _deciders(told, body)
        is_separate = not any(same_person(each, requester) for each in deciders)
        if only_breaches and is_separate:
            continue
        waited = body.get("waited_us")
        yield {
            "time": told.get("ts"),
            "tenant": told.get("tenant"),
            "tool": body.get("tool"),
            "requester": requester,
            "outcome": body.get("status"),
            "approvers": [*deciders],
            "separate": is_separate,
            "roles": _object(told.get("actor")).get("roles"),
            "channel": body.get("channel"),
            "assurance": body.get("assurance"),
            "needed": _needed(body),
            "waited_s": waited // 1_000_000 if isinstance(waited, int) else None,
            "reason": body.get("reason"),
            "rule": body.get("rule"),
            "request": body.get("approval"),
            "call": told.get("call"),
            "seq": event.seq,
        }


async def readers(log: Log, wanted: Selection) -> AsyncIterator[JsonObject]:
    """Yield who read the log, by which command or page, and what for. Raises StoreUnavailable.

    Of tenants also who read more than one's events, or a call or run by its id, which may be of any
    tenant: such a reading is `about` `any`, or about those that were named.
    """
    tenants = (*wanted.tenants, "") if wanted.tenants else ()
    reads = replace(wanted, tenants=tenants, kinds=(EventKind.ADMIN.value,), actions=("log_read",))
    async for event in questions.each(log, reads):
        told, body = _told(event)
        about = _about(told, body)
        if wanted.tenants and about and not {*about} & {*wanted.tenants}:
            continue
        yield {
            "time": told.get("ts"),
            "how": body.get("how"),
            "by": body.get("by"),
            "account": body.get("account"),
            "tenant": told.get("tenant"),
            "about": [*about] or ["any"],
            "asked": body.get("asked"),
            "events": body.get("events"),
            "seq": event.seq,
        }


def _about(told: JsonObject, body: JsonObject) -> tuple[str, ...]:
    """Return the tenants whose events were read; empty where they may be of any."""
    if tenant := _text(told.get("tenant")):
        return (tenant,)
    named = _object(body.get("asked")).get("tenant")
    several = named if isinstance(named, list) else [named]
    return tuple(_text(each) for each in several if each)


async def presented(log: Log, approval: str) -> frozenset[str]:
    """Return the digests that the log has of what approvers of a request were shown: one, if any.

    Raises StoreUnavailable.
    """
    wanted = Selection(kinds=(EventKind.APPROVAL.value,), approvals=(approval,))
    return frozenset(
        [
            _text(_told(each)[1].get("presented_digest"))
            async for each in questions.each(log, wanted)
        ]
    )


def _row(event: StoredEvent) -> JsonObject:
    told, body = _told(event)
    is_request = told.get("kind") == EventKind.APPROVAL.value
    user = _object(body.get("requester") if is_request else told.get("actor")).get("user")
    outcome = _STAGES.get(str(told.get("stage")), body.get("status")) if is_request else "denied"
    by_people = is_request and outcome in ("approved", "denied")
    return {
        "time": told.get("ts"),
        "tenant": told.get("tenant"),
        "user": user,
        "tool": body.get("tool") or body.get("name"),
        "outcome": outcome,
        "by": "people" if by_people else "rule" if body.get("rule") else "gateway",
        "approvers": [*_deciders(told, body)] if by_people else [],
        "rule": body.get("rule"),
        "code": body.get("code"),
        "reason": body.get("reason") or body.get("why"),
        "request": body.get("approval"),
        "call": body.get("used_by") or told.get("call"),
        "revision": body.get("revision"),
        "seq": event.seq,
    }


def _deciders(told: JsonObject, body: JsonObject) -> tuple[str, ...]:
    """Return who decided as it was decided: those whose votes stand, and whose word it was."""
    choice = body.get("choice") or ("approve" if body.get("status") == "approved" else "deny")
    votes = body.get("votes")
    found = [
        _text(vote.get("approver"))
        for vote in (votes if isinstance(votes, list) else [])
        if isinstance(vote, dict) and vote.get("choice") == choice
    ]
    last = _text(_object(told.get("actor")).get("user"))
    return tuple(dict.fromkeys([*found, last] if last else found))


def _needed(body: JsonObject) -> int:
    """Return how many people had to say yes."""
    factors = _object(body.get("clause")).get("factors")
    counts = [
        each.get("count")
        for each in (factors if isinstance(factors, list) else [])
        if isinstance(each, dict)
    ]
    return sum(count for count in counts if isinstance(count, int))


async def _merged(
    one: AsyncIterator[StoredEvent], other: AsyncIterator[StoredEvent]
) -> AsyncIterator[StoredEvent]:
    """Yield the events of both in the order of the log."""
    left, right = await anext(one, None), await anext(other, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left.seq < right.seq):
            assert left is not None  # noqa: S101 - one of both is there
            yield left
            left = await anext(one, None)
        else:
            yield right
            right = await anext(other, None)


def _told(event: StoredEvent) -> tuple[JsonObject, JsonObject]:
    told = event.json()
    return told, _object(told.get("body"))


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
