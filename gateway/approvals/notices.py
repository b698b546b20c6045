"""What approvers are told of a request, as a CloudEvent or as a message for a chat.

A notice names a page and carries no right: who follows its link has to log in there.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, assert_never

from gateway.approvals.matching import same_person
from gateway.approvals.visible import visible
from gateway.approvals.words import approvers, away, when
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Notice,
    NoticeStage,
    Vote,
)
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

TYPE: Final = "weighbridge.approval"  # and the stage, in the `type` of a CloudEvent
SOURCE: Final = "urn:weighbridge:approvals"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST: Final = 600  # characters of one value; the page shows all of it
_SECTION: Final = 2900  # Slack takes 3,000 characters in a block
_MOST_SHOWN: Final = 8
_ENDED_SINCE: Final = frozenset(
    {ApprovalState.CANCELLED, ApprovalState.SUPERSEDED, ApprovalState.EXPIRED}
)


@value
class Telling:
    """One notice with what it is about; `shown` are the label and the value of each line.

    Summary, labels and values come as approvers read them everywhere, which is `visible` already:
    written out twice, its signs would be words of their own.
    """

    notice: Notice
    approval: Approval
    summary: str = ""  # empty: what was asked can't be read by this gateway
    shown: Sequence[tuple[str, str]] = ()
    link: str = ""  # of the page; empty where there is none
    votes: Sequence[Vote] = ()  # that stand by now


def is_overtaken(notice: Notice, approval: Approval) -> bool:
    """Whether a notice asks people for what is no longer to be decided."""
    asks = notice.stage in (NoticeStage.REQUESTED, NoticeStage.ESCALATED)
    return asks and approval.state is not ApprovalState.PENDING


def state_told(notice: Notice, approval: Approval) -> ApprovalState:
    """Return the state that a notice is about: a decided request may be used, or gone, since."""
    if notice.stage is not NoticeStage.DECIDED or approval.state is ApprovalState.DENIED:
        return approval.state
    return ApprovalState.APPROVED


def cloud_event(told: Telling) -> JsonObject:
    """Return a CloudEvent 1.0 in structured JSON."""
    notice, approval, clause = told.notice, told.approval, told.approval.clause
    shown: list[Json] = [{"label": label, "value": text} for label, text in _shown(told)]
    state = state_told(notice, approval)
    return {
        "specversion": "1.0",
        "id": notice.notice_id,
        "source": SOURCE,
        "type": f"{TYPE}.{notice.stage.value}",
        "subject": approval.approval_id,
        "time": _time(notice.created_at),
        "datacontenttype": "application/json",
        "data": {
            "approval_id": approval.approval_id,
            "op_id": approval.op_id,
            "tenant": approval.tenant,
            "state": state.value,
            "reason": visible(_reason(told)),
            "decided_by": _deciders(told),
            "tool": visible(approval.tool),
            "summary": _cut(told.summary),
            "shown": shown,
            "risk": approval.risk,
            "rule": visible(approval.rule),
            "requester": {
                "user": visible(approval.user),
                "client": visible(approval.client),
                "left_at": _time(approval.left_at) if approval.left_at else None,
            },
            "run_id": approval.run_id or None,
            "binding": approval.binding,
            "approvers": {
                "roles": [visible(role) for role in clause.roles],
                "users": [visible(user) for user in clause.users],
                "quorum": clause.quorum,
            },
            "created_at": _time(approval.created_at),
            "decide_by": _time(approval.decide_by),
            "use_by": _time(approval.use_by) if approval.use_by else None,
            "url": told.link or None,
        },
    }


def slack(told: Telling) -> JsonObject:
    """Return a message for an incoming webhook: the text says all, the blocks say it again.

    Blocks are plain text, in which nothing is a link, a mention or a mark; so only the gateway's
    own link is one. What takes Slack's messages without blocks shows the text.
    """
    head, lines = _headline(told), [f"{label}: {text}" for label, text in _lines(told)]
    body = "\n".join((_cut(told.summary), *lines) if told.summary else lines)
    where = f"{_way(told)}: {told.link}" if told.link else ""
    return {
        "text": _escaped("\n".join(filter(None, (head, body, where)))),
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [
            _plain(head),
            _plain(body),
            *([_linked(_way(told), told.link)] if told.link else ()),
        ],
    }


def _reason(told: Telling) -> str:
    """Say why the request is no longer open, as of what is told; a yes keeps its reasons."""
    approval = told.approval
    is_as_told = state_told(told.notice, approval) is approval.state
    return approval.closed_reason if is_as_told else ""


def _deciders(told: Telling) -> list[Json]:
    """Return who decided, in the order of their votes; nobody while it is undecided."""
    return [
        {
            "user": visible(vote.user),
            "choice": vote.choice.value,
            "channel": vote.channel.value,
            "assurance": vote.assurance.value,
            "reason": _cut(visible(vote.reason)),
            "self": same_person(vote.user, told.approval.user),
            "at": _time(vote.at),
        }
        for vote in _deciding(told)
    ]


def _deciding(told: Telling) -> list[Vote]:
    """Return the votes that stood when it was decided; none while it is undecided."""
    if told.notice.stage is not NoticeStage.DECIDED:
        return []
    approval = told.approval
    if approval.state in _ENDED_SINCE:
        # `decided_at` is when that was, and a no of that moment took the approval back.
        return [each for each in told.votes if each.at < approval.decided_at]
    return [each for each in told.votes if each.at <= approval.decided_at]


def _voter(vote: Vote) -> str:
    way = f"{visible(vote.user)} ({vote.choice.value}, {vote.channel.value}, {vote.assurance})"
    return f"{way}: {_cut(visible(vote.reason))}" if vote.reason else way


def _headline(told: Telling) -> str:
    tool = visible(told.approval.tool)
    match told.notice.stage:
        case NoticeStage.REQUESTED:
            return f"A call of {tool} waits for a decision"
        case NoticeStage.ESCALATED:
            return f"A call of {tool} still waits; more people may decide about it now"
        case NoticeStage.DECIDED:
            return f"A call of {tool} was {_decided(told.approval.state)}"
        case NoticeStage.EXPIRED:
            return f"A call of {tool} was not decided or not used in time"
        case NoticeStage.CANCELLED:
            return f"A call of {tool} is no longer asked for"
        case _:
            assert_never(told.notice.stage)


def _decided(state: ApprovalState) -> str:
    match state:
        case ApprovalState.APPROVED | ApprovalState.CONSUMED:
            return "approved"
        case ApprovalState.DENIED:
            return "denied"
        case _:  # since then, and before this was told
            return f"decided, and is {state.value} now"


def _lines(told: Telling) -> list[tuple[str, str]]:
    """Return what stands under the summary: of the call, and of the request."""
    approval = told.approval
    with_client = f" with {visible(approval.client)}" if approval.client else ""
    lines = [
        *_shown(told),
        ("asked by", f"{visible(approval.user)} of {visible(approval.tenant)}{with_client}"),
        ("rule", visible(approval.rule)),
        ("risk", approval.risk),
    ]
    if approval.state is ApprovalState.PENDING:
        lines += [("decided by", approvers(approval)), ("until", when(approval.decide_by))]
        lines += [("requester", gone)] if (gone := away(approval)) else []
    lines += [("decided by", _voter(vote)) for vote in _deciding(told)]
    if approval.state is not ApprovalState.PENDING and approval.closed_reason:
        lines.append(("reason", _cut(visible(approval.closed_reason))))
    return [*lines, ("request", approval.approval_id)]


def _shown(told: Telling) -> list[tuple[str, str]]:
    shown = [(label, _cut(text)) for label, text in told.shown[:_MOST_SHOWN]]
    left = len(told.shown) - len(shown)
    return [*shown, ("and", f"{left} more on the page")] if left else shown


def _cut(text: str) -> str:
    """Say how much was left out of a long text."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text) - _LONGEST} characters more on the page)"


def _way(told: Telling) -> str:
    return "Decide there" if told.approval.state is ApprovalState.PENDING else "See it there"


def _plain(text: str) -> JsonObject:
    whole = text if len(text) <= _SECTION else f"{text[:_SECTION]}… (more on the page)"
    return {"type": "section", "text": {"type": "plain_text", "text": whole, "emoji": False}}


def _linked(way: str, link: str) -> JsonObject:
    text = f"<{_escaped(link)}|{way}>"
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _escaped(text: str) -> str:
    """Write out what Slack takes for a link, a mention or an entity."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(at: int) -> str:
    return (_EPOCH + timedelta(microseconds=at)).isoformat().replace("+00:00", "Z")
