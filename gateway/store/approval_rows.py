"""Approvals, votes and notices as rows, and rows as approvals, votes and notices."""

from gateway import jsontext
from gateway.approvals import clauses
from gateway.errors import JsonError
from gateway.store.engine import Row, Value
from gateway.store.rows import clean
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Assurance,
    Channel,
    Choice,
    Execute,
    Notice,
    NoticeStage,
    Vote,
)
from gateway.types.json import Json


def row_of(approval: Approval) -> dict[str, Value]:
    """Return the columns of an approval; texts are as every engine takes them."""
    return {
        "approval_id": approval.approval_id,
        "op_id": approval.op_id,
        "tenant": clean(approval.tenant),
        "requester": clean(approval.user),
        "client": clean(approval.client),
        "run_id": clean(approval.run_id),
        "server": clean(approval.server),
        "tool": clean(approval.tool),
        "call_id": approval.call_id,
        "trace": approval.trace,
        "binding": approval.binding,
        "revision": approval.revision,
        "rule": clean(approval.rule),
        "clause": clean(jsontext.canonical(clauses.to_json(approval.clause)).decode()),
        "risk": approval.risk,
        "execute": str(approval.execute),
        "state": str(approval.state),
        "version": approval.version,
        "not_before": approval.not_before,
        "decide_by": approval.decide_by,
        "use_by": approval.use_by,
        "answer_until": approval.answer_until,
        "created_at": approval.created_at,
        "decided_at": approval.decided_at,
        "closed_reason": clean(approval.closed_reason),
        "consumed_by": approval.consumed_by,
        "proposal": approval.proposal,
        "proposal_hash": approval.proposal_hash,
        "proposed_by": clean(approval.proposed_by),
        "replaces": approval.replaces,
        "escalated": approval.escalated,
        "is_told": int(approval.is_told),
        "left_at": approval.left_at,
        "presented": approval.presented,
        "presented_digest": approval.presented_digest,
    }


def approval_of(row: Row) -> Approval:
    """Return the approval that a row holds; raises ClauseError for a clause of another version."""
    return Approval(
        approval_id=row.text("approval_id"),
        op_id=row.text("op_id"),
        tenant=row.text("tenant"),
        user=row.text("requester"),
        client=row.text("client"),
        run_id=row.text("run_id"),
        server=row.text("server"),
        tool=row.text("tool"),
        call_id=row.text("call_id"),
        trace=row.text("trace"),
        binding=row.text("binding"),
        revision=row.text("revision"),
        rule=row.text("rule"),
        clause=clauses.from_json(_json(row.text("clause"))),
        risk=row.text("risk"),
        execute=Execute(row.text("execute")),
        state=ApprovalState(row.text("state")),
        version=row.integer("version"),
        not_before=row.integer("not_before"),
        decide_by=row.integer("decide_by"),
        use_by=row.integer("use_by"),
        answer_until=row.integer("answer_until"),
        created_at=row.integer("created_at"),
        decided_at=row.integer("decided_at"),
        closed_reason=row.text("closed_reason"),
        consumed_by=row.text("consumed_by"),
        proposal=row.text("proposal"),
        proposal_hash=row.text("proposal_hash"),
        proposed_by=row.text("proposed_by"),
        replaces=row.text("replaces"),
        escalated=row.integer("escalated"),
        is_told=row.integer("is_told") != 0,
        left_at=row.integer("left_at"),
        presented=row.text("presented"),
        presented_digest=row.text("presented_digest"),
    )


def vote_row(vote: Vote) -> dict[str, Value]:
    """Return the columns of a vote; roles are a JSON array in the order of their letters."""
    return {
        "approval_id": vote.approval_id,
        "approver": clean(vote.user),
        "issuer": clean(vote.issuer),
        "choice": str(vote.choice),
        "binding": vote.binding,
        "roles": clean(jsontext.dump([*sorted(map(clean, vote.roles))]).decode()),
        "channel": str(vote.channel),
        "assurance": str(vote.assurance),
        "reason": clean(vote.reason),
        "voted_at": vote.at,
    }


def vote_of(row: Row) -> Vote:
    """Return the vote that a row holds."""
    roles = _json(row.text("roles"))
    return Vote(
        approval_id=row.text("approval_id"),
        user=row.text("approver"),
        issuer=row.text("issuer"),
        choice=Choice(row.text("choice")),
        binding=row.text("binding"),
        roles=frozenset(each for each in roles if isinstance(each, str))
        if isinstance(roles, list)
        else frozenset(),
        channel=Channel(row.text("channel")),
        assurance=Assurance(row.text("assurance")),
        reason=row.text("reason"),
        at=row.integer("voted_at"),
    )


def notice_row(notice: Notice) -> dict[str, Value]:
    """Return the columns of a notice."""
    return {
        "notice_id": notice.notice_id,
        "approval_id": notice.approval_id,
        "tenant": clean(notice.tenant),
        "stage": str(notice.stage),
        "target": clean(notice.target),
        "created_at": notice.created_at,
        "next_at": notice.next_at,
        "attempts": notice.attempts,
        "done_at": notice.done_at,
        "problem": clean(notice.problem),
    }


def notice_of(row: Row) -> Notice:
    """Return the notice that a row holds."""
    return Notice(
        notice_id=row.text("notice_id"),
        approval_id=row.text("approval_id"),
        tenant=row.text("tenant"),
        stage=NoticeStage(row.text("stage")),
        target=row.text("target"),
        created_at=row.integer("created_at"),
        next_at=row.integer("next_at"),
        attempts=row.integer("attempts"),
        done_at=row.integer("done_at"),
        problem=row.text("problem"),
    )


def _json(text: str) -> Json:
    try:
        return jsontext.parse(text)
    except JsonError as error:
        raise clauses.ClauseError(f"the row of an approval can't be read: {error}") from None
