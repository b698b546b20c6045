"""What the pages say of requests: values for templates, made of rows, votes and the person's right.

Every text from outside is `visible` here; the templates escape it and set it apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from gateway import jsontext
from gateway.admin.proposals import laid_out
from gateway.approvals import ballot, lines, words
from gateway.approvals.binding import short
from gateway.approvals.lines import Group, Row, Unreadable
from gateway.approvals.matching import missing
from gateway.approvals.visible import visible
from gateway.crossing.showing import shown
from gateway.errors import JsonError
from gateway.store.vault import Vault, VaultBroken
from gateway.types.approvals import (
    Approval,
    ApprovalState,
    Approver,
    Assurance,
    Cast,
    Channel,
    Choice,
    Factor,
    Ruling,
    Vote,
)
from gateway.types.json import JsonObject

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = 1_000_000
_TITLE: Final = 240  # characters of a summary in a list; its own page has all of it
_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_HEADINGS: Final[Mapping[Group, str]] = {
    Group.ARGUMENTS: "What will be sent",
    Group.CHANGES: "What is new against the request that this one replaces",
    Group.CALL: "The call",
    Group.REQUESTER: "Who asks",
    Group.RULE: "Why it waits for a person",
}
_AROUND: Final = frozenset({Group.CALL, Group.REQUESTER, Group.RULE})
_STATES: Final[Mapping[ApprovalState, str]] = {
    ApprovalState.PENDING: "waiting",
    ApprovalState.APPROVED: "approved, not sent yet",
    ApprovalState.DENIED: "denied",
    ApprovalState.EXPIRED: "expired",
    ApprovalState.CANCELLED: "cancelled",
    ApprovalState.SUPERSEDED: "replaced",
    ApprovalState.CONSUMED: "approved and sent",
}

_BY: Final[Mapping[Channel, str]] = {
    Channel.PAGE: "here",
    Channel.TERMINAL: "in the terminal",
    Channel.ELICITATION: "in the agent's client",
}
_SURE: Final[Mapping[Assurance, str]] = {
    Assurance.AUTHENTICATED: "logged in at the identity provider",
    Assurance.LOCAL: "with a local account",
    Assurance.CLIENT_ASSERTED: "as that client says",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time, exact and as seen from now."""

    iso: str
    exact: str
    relative: str  # `in 12 minutes`, `3 hours ago`


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows of one group under the gateway's own heading."""

    heading: str
    rows: Sequence[Row]
    is_plain: bool  # says what stands around the call, and not what will be sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One vote."""

    user: str
    is_yes: bool
    when: Moment
    how: str  # the way it came, and how sure it is
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A request in a list."""

    approval_id: str
    title: str
    tool: str
    risk: str
    state: str
    state_words: str
    user: str
    asked: Moment
    until: Moment | None  # while it is open
    decided: Moment | None
    waits_for: str
    left: Moment | None  # when the last caller that waited for it went away, while it is undecided
    is_mine: bool  # whether who looks at it can decide about it now
    voted: bool  # whether he has


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What somebody can do about a request now; `why_not` says why he can't decide."""

    approve: bool
    deny: bool
    withdraw: bool
    cancel: bool
    reopen: bool
    why_not: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A request on its own page."""

    card: Card
    summary: Row | None
    top: Sequence[Row]
    sections: Sequence[Section]
    notes: Sequence[Row]  # words of the agent
    unreadable: str  # why what it is about can't be shown; then nobody can approve it
    votes: Sequence[Said]
    needs: str
    binding: str
    short: str
    rights: Rights
    not_before: Moment | None
    closed_reason: str
    replaces: str
    proposed: str  # what an approver would rather have, as JSON
    revision: str
    long: Sequence[int]  # the numbers of the rows that have to be unfolded


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How one person sees requests at one time."""

    vault: Vault
    person: Approver
    now: datetime

    def card(self, approval: Approval, votes: Sequence[Vote]) -> Card:
        """Return a request for a list; nothing but its summary is made ready for reading."""
        try:
            summary = lines.summary(shown(approval, self.vault))
        except Unreadable:
            summary = ""
        return self._card(approval, votes, summary)

    def sheet(self, approval: Approval, votes: Sequence[Vote]) -> Sheet:
        """Return a request with all that there is to see of it."""
        rows, unreadable = self._rows(approval)
        by_group = {group: [*found] for group, found in groupby(rows, lambda row: row.group)}
        summary = next(iter(by_group.get(Group.SUMMARY, [])), None)
        return Sheet(
            card=self._card(approval, votes, summary.text if summary is not None else ""),
            summary=summary,
            top=by_group.get(Group.TOP, []),
            sections=[
                Section(heading=heading, rows=by_group[group], is_plain=group in _AROUND)
                for group, heading in _HEADINGS.items()
                if group in by_group
            ],
            notes=by_group.get(Group.NOTE, []),
            unreadable=unreadable,
            votes=[self._said(each) for each in votes],
            needs=words.approvers(approval),
            binding=approval.binding,
            short=short(approval.binding),
            rights=self._rights(approval, votes, is_readable=not unreadable),
            not_before=self._moment(approval.not_before) if self._is_early(approval) else None,
            closed_reason=visible(approval.closed_reason),
            replaces=approval.replaces,
            proposed=self._proposed(approval),
            revision=approval.revision,
            long=[at for at, row in enumerate(rows) if row.long],
        )

    def document(self, approval: Approval) -> JsonObject | None:
        """Return what was shown, or None where it can't be read."""
        try:
            return shown(approval, self.vault)
        except Unreadable:
            return None

    def _proposed(self, approval: Approval) -> str:
        if not approval.proposal:
            return ""
        try:
            kept = self.vault.open(approval.tenant, approval.approval_id, approval.proposal)
            return laid_out(jsontext.parse_result(kept))
        except (VaultBroken, JsonError):
            return "(it can't be read any more)"

    def _rows(self, approval: Approval) -> tuple[Sequence[Row], str]:
        try:
            return lines.rows(shown(approval, self.vault)), ""
        except Unreadable as unreadable:
            return (), str(unreadable)

    def _card(self, approval: Approval, votes: Sequence[Vote], summary: str) -> Card:
        is_open = approval.state.is_open
        is_pending = approval.state is ApprovalState.PENDING
        return Card(
            approval_id=approval.approval_id,
            title=_title(approval, summary),
            tool=visible(approval.tool),
            risk=visible(approval.risk),
            state=approval.state.value,
            state_words=_STATES[approval.state],
            user=visible(approval.user),
            asked=self._moment(approval.created_at),
            until=self._moment(approval.decide_by if is_pending else approval.use_by)
            if is_open
            else None,
            decided=self._moment(approval.decided_at) if approval.decided_at else None,
            waits_for=words.lacking(_missing(approval, votes)) if is_pending else "",
            left=self._moment(approval.left_at) if words.away(approval) else None,
            is_mine=is_pending and self._cast(approval, votes, Choice.DENY).is_accepted,
            voted=any(each.user == self.person.user for each in votes),
        )

    def _rights(self, approval: Approval, votes: Sequence[Vote], *, is_readable: bool) -> Rights:
        yes = self._cast(approval, votes, Choice.APPROVE)
        no = self._cast(approval, votes, Choice.DENY)
        now = self._now
        withdrawal = ballot.judge_withdrawal(approval, votes, self.person, now=now)
        cancellation = ballot.judge_cancellation(approval, self.person, now=now)
        return Rights(
            approve=yes.is_accepted and is_readable,
            deny=no.is_accepted,
            withdraw=withdrawal.is_accepted,
            cancel=cancellation.is_accepted,
            reopen=ballot.judge_reopening(approval, self.person).is_accepted,
            why_not="" if no.is_accepted else words.said(Ruling(cast=no, approval=approval)),
        )

    def _cast(self, approval: Approval, votes: Sequence[Vote], choice: Choice) -> Cast:
        """Return what would become of a vote that was cast now."""
        return ballot.judge(approval, votes, self.person, choice, approval.binding, now=self._now)

    def _said(self, vote: Vote) -> Said:
        how = f"{_BY[vote.channel]}, {_SURE[vote.assurance]}"
        return Said(
            user=visible(vote.user),
            is_yes=vote.choice is Choice.APPROVE,
            when=self._moment(vote.at),
            how=how,
            reason=visible(vote.reason),
        )

    def _is_early(self, approval: Approval) -> bool:
        return approval.state is ApprovalState.PENDING and self._now < approval.not_before

    @property
    def _now(self) -> int:
        return (self.now - _EPOCH) // timedelta(microseconds=1)

    def _moment(self, at: int) -> Moment:
        return moment_of(at, self._now)


def moment_of(at: int, now: int) -> Moment:
    """Return a time as a page shows it; both in microseconds since 1970."""
    time = _EPOCH + timedelta(microseconds=at)
    return Moment(
        iso=time.isoformat(timespec="seconds"),
        exact=words.when(at),
        relative=_relative((at - now) / _SECOND),
    )


def _missing(approval: Approval, votes: Sequence[Vote]) -> tuple[tuple[Factor, int], ...]:
    return missing(approval.clause, votes, escalated=approval.escalated, requester=approval.user)


def _title(approval: Approval, summary: str) -> str:
    """Return the first line of a request; its own page shows all of it."""
    if not summary:
        return visible(approval.tool)
    return summary if len(summary) <= _TITLE else f"{summary[:_TITLE]}…"


def _relative(seconds: float) -> str:
    size = abs(seconds)
    for unit, length in _UNITS:
        count = round(size / length)
        if size >= length * 0.95:
            text = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"in {text}" if seconds > 0 else f"{text} ago"
    return "in less than a minute" if seconds > 0 else "just now"
