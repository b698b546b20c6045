"""Events about requests for approval: who was asked, who said what, and how each one ended.

One event for each change of a request, and for each attempt to decide it that was refused. All of
them name the call that asked, so that its story holds them; texts of people are redacted here.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.events.envelope import timestamp
from gateway.events.forms import COUNT, FLAG, TEXT, TEXTS, TIME, about, an_object, one_of
from gateway.events.redact import Redactor
from gateway.types.actors import Actor, person
from gateway.types.approvals import (
    Approval,
    ApprovalClause,
    ApprovalState,
    Approver,
    Assurance,
    Cast,
    Channel,
    Choice,
    Execute,
    Ruling,
    Vote,
)
from gateway.types.events import Event, EventKind, Stage
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Risk
from gateway.types.values import value

_TEXT: Final = 1_000  # characters of what somebody wrote
_LISTED: Final = 50
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 253_402_300_799_999_999  # the end of the year 9999: no text has a later time
_TRACE: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")

_STAGES: Final[Mapping[Cast, Stage]] = {
    Cast.COUNTED: Stage.VOTED,
    Cast.WITHDRAWN: Stage.VOTED,
    Cast.APPROVED: Stage.DECIDED,
    Cast.DENIED: Stage.DECIDED,
    Cast.REVOKED: Stage.VOIDED,
    Cast.CANCELLED: Stage.VOIDED,
    Cast.REOPENED: Stage.REOPENED,
}


@value
class Word:
    """What somebody wanted, and what became of it."""

    approver: Approver
    ruling: Ruling
    choice: Choice | None = None  # None where it was no vote
    reason: str = ""


def stage_of(cast: Cast) -> Stage:
    """Return the stage of the event that tells of a ruling."""
    return _STAGES.get(cast, Stage.REFUSED)


def event(
    approval: Approval,
    stage: Stage,
    redactor: Redactor,
    *,
    id: str,
    at: datetime,
    word: Word | None = None,
    actor: Actor | None = None,
) -> Event:
    """Tell of a change of a request, which is as it is after it; `word` is what brought it about.

    Without a word, `actor` is who brought it about: the requester, or nobody but the time.
    """
    body = _request(approval, redactor)
    if word is not None:
        body |= _word(approval, word, redactor)
        actor = _actor(word.approver)
    trace = _TRACE.fullmatch(approval.trace)
    return Event(
        id=id,
        at=at,
        kind=EventKind.APPROVAL,
        stage=stage,
        body=body,
        tenant=approval.tenant,
        call=approval.call_id,
        run=approval.run_id,
        trace_id=trace[1] if trace else "",
        span_id=trace[2] if trace else "",
        actor=actor,
    )


def ruled(word: Word, redactor: Redactor, *, id: str, at: datetime) -> tuple[Event, ...]:
    """Tell of a ruling; of a request that is not there, nothing."""
    approval = word.ruling.approval
    if approval is None:
        return ()
    return (event(approval, stage_of(word.ruling.cast), redactor, id=id, at=at, word=word),)


def _request(approval: Approval, redactor: Redactor) -> JsonObject:
    body: JsonObject = {
        "approval": approval.approval_id,
        "op": approval.op_id,
        "tool": approval.tool,
        "server": approval.server,
        "status": str(approval.state),
        "binding": approval.binding,
        "presented_digest": approval.presented_digest,
        "rule": approval.rule,
        "revision": approval.revision,
        "risk": approval.risk,
        "execute": str(approval.execute),
        "requester": {"user": approval.user, "client": approval.client},
        "clause": _clause(approval.clause),
        "decide_by": _time(approval.decide_by),
    }
    for name, at in (("not_before", approval.not_before), ("use_by", approval.use_by)):
        if at:
            body[name] = _time(at)
    if approval.decided_at:
        body["waited_us"] = max(0, approval.decided_at - approval.created_at)
    if approval.closed_reason:
        body["why"] = _text(redactor, approval.closed_reason, approval.tenant)
    if approval.escalated:
        body["escalated"] = approval.escalated
    if approval.state is ApprovalState.DENIED and approval.proposal_hash:
        body["proposal_digest"] = approval.proposal_hash
    if approval.consumed_by:
        body["used_by"] = approval.consumed_by
    if approval.replaces:
        body["replaces"] = approval.replaces
    return body


def _clause(clause: ApprovalClause) -> JsonObject:
    factors: list[Json] = [
        {
            "name": each.name,
            "roles": list(each.roles),
            "users": list(each.users),
            "count": each.count,
        }
        for each in clause.factors
    ]
    return {
        "factors": factors,
        "denials": clause.denials,
        "min_assurance": str(clause.min_assurance),
        "requester_may_approve": clause.requester_may_approve,
    }


def _word(approval: Approval, word: Word, redactor: Redactor) -> JsonObject:
    approver, ruling = word.approver, word.ruling
    said: JsonObject = {
        "cast": str(ruling.cast),
        "channel": str(approver.channel),
        "assurance": str(approver.assurance),
        "votes": [_vote(each) for each in ruling.votes[:_LISTED]],
    }
    if word.choice is not None:
        said["choice"] = str(word.choice)
    if word.reason:
        said["reason"] = _text(redactor, word.reason, approval.tenant)
    is_own = person(approver.user) == person(approval.user)
    if is_own and word.choice is not None and ruling.cast.is_accepted:
        said["self_approval"] = True
    return said


def _vote(vote: Vote) -> Json:
    return {
        "approver": vote.user,
        "choice": str(vote.choice),
        "channel": str(vote.channel),
        "assurance": str(vote.assurance),
        "at": _time(vote.at),
    }


def _actor(approver: Approver) -> Actor:
    return Actor(
        user=approver.user,
        tenant=approver.tenant,
        roles=approver.roles,
        scopes=frozenset(),
        client="",
        method=str(approver.channel),
        issuer=approver.issuer,
    )


def _text(redactor: Redactor, text: str, tenant: str) -> str:
    return redactor.text(text[: 2 * _TEXT], tenant=tenant)[:_TEXT]


def _time(at: int) -> str:
    return timestamp(_EPOCH + timedelta(microseconds=min(at, _LATEST)))


_CLAUSE: Final = an_object(
    {
        "factors": {
            "type": "array",
            "items": an_object({"name": TEXT, "roles": TEXTS, "users": TEXTS, "count": COUNT}),
        },
        "denials": about(COUNT, "so many people who say no end it"),
        "min_assurance": one_of(Assurance),
        "requester_may_approve": about(FLAG, "the rule opts out of the check of a second person"),
    }
)
_VOTE: Final = an_object(
    {
        "approver": TEXT,
        "choice": one_of(Choice),
        "channel": one_of(Channel),
        "assurance": one_of(Assurance),
        "at": TIME,
    }
)
_BODY: Final[JsonObject] = {
    "approval": about(TEXT, "id of the request"),
    "op": about(TEXT, "id of the operation"),
    "tool": about(TEXT, "`server.name`"),
    "server": TEXT,
    "status": about(one_of(ApprovalState), "of the request from now on"),
    "binding": about(TEXT, "digest over the call: what a decision is about"),
    "presented_digest": about(TEXT, "over what approvers are shown"),
    "rule": TEXT,
    "revision": about(TEXT, "of the policy that had people asked"),
    "risk": one_of(Risk),
    "execute": about(one_of(Execute), "who sends the call once it is approved"),
    "requester": an_object({"user": TEXT, "client": TEXT}),
    "clause": _CLAUSE,
    "decide_by": TIME,
    "not_before": about(TIME, "nobody can approve before"),
    "use_by": about(TIME, "what is approved can be used until then"),
    "waited_us": about(COUNT, "from the request to its decision, or its end"),
    "why": about(TEXT, "why it is no longer open, redacted"),
    "escalated": about(COUNT, "steps of the escalation that have been taken"),
    "proposal_digest": about(TEXT, "of the arguments that who denied would rather have"),
    "used_by": about(TEXT, "the call that was sent under it"),
    "replaces": about(TEXT, "the request that this one took the place of"),
    "cast": about(one_of(Cast), "what became of what the actor of the event wanted"),
    "choice": about(one_of(Choice), "of a vote"),
    "channel": about(one_of(Channel), "by which way he decided"),
    "assurance": about(one_of(Assurance), "how sure it is that it was him"),
    "reason": about(TEXT, "in his words, redacted"),
    "votes": about({"type": "array", "items": _VOTE}, "that stand from now on, the first 50"),
    "self_approval": about({"const": True}, "who asked has decided himself, as the rule lets him"),
}
_WORD: Final = frozenset({"cast", "channel", "assurance", "votes"})
_OPTIONAL: Final = _WORD | {
    *("not_before", "use_by", "waited_us", "why", "escalated", "proposal_digest", "used_by"),
    *("replaces", "choice", "reason", "self_approval"),
}


def _body(*required: str) -> JsonObject:
    return an_object(_BODY, _OPTIONAL - set(required))


BODIES: Final[Mapping[Stage, JsonObject]] = {
    Stage.REQUESTED: _body(),
    Stage.VOTED: _body(*_WORD),
    Stage.REFUSED: _body(*_WORD),
    Stage.DECIDED: _body(*_WORD),
    Stage.ESCALATED: _body("escalated"),
    Stage.EXPIRED: _body("why"),
    Stage.USED: _body("used_by"),
    Stage.VOIDED: _body(),
    Stage.REOPENED: _body(*_WORD),
}
