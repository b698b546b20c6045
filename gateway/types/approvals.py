"""A person's decision about one exact call: who may give it, what it is about, where it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.types.values import value


class ApprovalState(StrEnum):
    """Where an approval stands; `gateway.approvals.machine` has the ways between."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"  # nobody decided in time, or nobody used it in time
    CANCELLED = "cancelled"  # taken back: by who asked, or by an approver before it was used
    SUPERSEDED = "superseded"  # the call, its tool or the rule is another one now
    CONSUMED = "consumed"  # used up by the very send

    @property
    def is_open(self) -> bool:
        """Whether it can still come to be used."""
        return self in _OPEN


_OPEN = frozenset({ApprovalState.PENDING, ApprovalState.APPROVED})


class Choice(StrEnum):
    """What an approver says."""

    APPROVE = "approve"
    DENY = "deny"


class Channel(StrEnum):
    """By which way a person decided."""

    ELICITATION = "elicitation"  # the caller's own client was asked
    TERMINAL = "terminal"  # `weighbridge approvals`, by who may read the configuration
    PAGE = "page"  # the admin listener, after a login


class Assurance(StrEnum):
    """How sure it is that a person decided, and who; weakest first."""

    CLIENT_ASSERTED = "client_asserted"  # the agent's client says so; it may answer by itself
    LOCAL = "local"  # somebody with this machine's account
    AUTHENTICATED = "authenticated"  # a login at the organisation's identity provider

    @property
    def rank(self) -> int:
        """Order for "at least as sure as"."""
        return _SURE[self]


_SURE = {each: rank for rank, each in enumerate(Assurance)}


class Fallback(StrEnum):
    """What follows when the caller's client can't be asked."""

    OOB = "oob"  # out of band: the call is held, and approvers have their own surface
    DENY = "deny"


class Execute(StrEnum):
    """Who sends an approved call."""

    ON_REENTRY = "on_reentry"  # the caller, by calling again; one that is held goes on by itself
    ON_APPROVAL = "on_approval"  # the gateway, at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One group of which `count` different people have to say yes.

    Somebody who is in several groups counts for one of them: the same person never is two.
    """

    name: str
    roles: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """Who else may decide, for any factor, once a request has waited for `after_s`."""

    after_s: float
    roles: tuple[str, ...] = ()
    users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalClause:
    """Who has to say yes; a request keeps the clause that it was made under."""

    factors: tuple[Factor, ...]
    denials: int = 1  # so many people who say no end it
    requester_may_approve: bool = False
    self_confirm: bool = False  # the caller's own client may be asked (`users: [self]`)
    min_assurance: Assurance = Assurance.LOCAL
    not_before_s: float = 0.0  # nobody can approve before: time to think
    expires_s: float = 1800.0  # undecided until then, it is over
    use_within_s: float | None = (
        None  # of the decision; None: 15 min of high risk, else `expires_s`
    )
    escalation: tuple[Escalation, ...] = ()
    fallback: Fallback = Fallback.OOB

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role that may decide, in the order of the rule."""
        return tuple(dict.fromkeys(role for each in self.factors for role in each.roles))

    @property
    def users(self) -> tuple[str, ...]:
        """Every user that may decide, in the order of the rule."""
        return tuple(dict.fromkeys(user for each in self.factors for user in each.users))

    @property
    def quorum(self) -> int:
        """How many people it takes."""
        return sum(each.count for each in self.factors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalNotes:
    """What a contract says about asking people: the words, and how an approved call goes on."""

    summary: str = ""  # a text with references such as `$args.amount`; empty: the gateway's own
    show: Mapping[str, str] | None = None  # label -> pointer into the arguments, shown on top
    confirm: str = ""  # pointer: a value that who confirms inline has to type
    execute: Execute = Execute.ON_REENTRY
    cancel_on_disconnect: bool = False
    reapprove_on_pin_change: bool = True  # else a changed tool ends the request with a denial


MACHINE: Final = "os:"  # begins the issuer of who comes from an account of the machine


@value
class Approver:
    """Somebody who decides, as the surface knows him; never anything that an agent holds."""

    tenant: str
    user: str
    roles: frozenset[str]
    assurance: Assurance
    channel: Channel
    issuer: str = ""  # the provider of the login, or `os:` and an account of the machine

    @property
    def account(self) -> str | None:
        """The account of the machine that gave the command, or made the link of the login.

        Empty for one that nobody noted; None where an identity provider says who it is.
        """
        if self.issuer and not self.issuer.startswith(MACHINE):
            return None
        return self.issuer.removeprefix(MACHINE)


@value
class Vote:
    """One person's word on one approval; the last one counts until it is decided."""

    approval_id: str
    user: str
    choice: Choice
    binding: str  # of what he saw
    roles: frozenset[str]
    channel: Channel
    assurance: Assurance
    issuer: str = ""
    reason: str = ""
    at: int = 0  # microseconds since 1970 in UTC


@value
class Approval:
    """One request for a decision; times are whole microseconds since 1970 in UTC, 0 for none."""

    approval_id: str
    op_id: str
    tenant: str
    user: str  # who asks: the requester
    client: str
    run_id: str = ""
    server: str
    tool: str  # `server.name`
    call_id: str  # the call that asked
    trace: str = ""  # its `traceparent`, for links
    binding: str  # `sha256:…` over the call: what a decision is about
    revision: str  # of the policy
    rule: str
    clause: ApprovalClause
    risk: str
    execute: Execute = Execute.ON_REENTRY
    state: ApprovalState = ApprovalState.PENDING
    version: int = 0  # counts the changes of the row
    not_before: int = 0
    decide_by: int
    use_by: int = 0
    answer_until: int  # a denial is told again until then
    created_at: int = 0
    decided_at: int = 0
    closed_reason: str = ""  # why it is no longer open, in words for people and the model
    consumed_by: str = ""  # the call that was sent under it
    proposal: str = ""  # sealed: arguments that an approver would rather have; JSON
    proposed_by: str = ""  # whose no came with them
    proposal_hash: str = ""  # digest of the same, as of a call's arguments; empty once it was taken
    replaces: str = ""  # the approval that this one took the place of
    escalated: int = 0  # how many steps of the clause have been taken
    is_told: bool = False  # whether its caller has learned that it expired
    left_at: int = 0  # when the last caller that was held went away; 0 once one is back
    presented: str  # sealed: what approvers are shown; JSON
    presented_digest: str  # `sha256:…` over the same


class Cast(StrEnum):
    """What became of a vote, or of another wish about a request."""

    COUNTED = "counted"  # others have to decide as well
    APPROVED = "approved"
    DENIED = "denied"
    REVOKED = "revoked"  # a no after it was approved, and before it was used
    WITHDRAWN = "withdrawn"  # taken back by who gave it, while nothing is decided
    CANCELLED = "cancelled"  # the request itself, by who asked or who runs the gateway
    REOPENED = "reopened"  # the decision stands; the call may be asked about again
    ALREADY_VOTED = "already_voted"
    SAME_ACCOUNT = "same_account"  # of the machine: one account is one person
    ALREADY_DECIDED = "already_decided"  # its state says how
    NOT_FOUND = "not_found"  # also for another tenant's
    NOT_ENTITLED = "not_entitled"
    SELF_APPROVAL = "self_approval"
    WRONG_BINDING = "wrong_binding"  # he saw something else
    TOO_EARLY = "too_early"
    TOO_LATE = "too_late"
    TOO_WEAK = "too_weak"  # the rule wants a surer login

    @property
    def is_accepted(self) -> bool:
        """Whether anything was changed."""
        return self in _ACCEPTED


_ACCEPTED = frozenset(
    {
        Cast.COUNTED,
        Cast.APPROVED,
        Cast.DENIED,
        Cast.REVOKED,
        Cast.WITHDRAWN,
        Cast.CANCELLED,
        Cast.REOPENED,
    }
)


@value
class Ruling:
    """What became of a vote, and the approval as it stands after it."""

    cast: Cast
    approval: Approval | None = None  # None with NOT_FOUND
    votes: tuple[Vote, ...] = ()  # that stand after it


class NoticeStage(StrEnum):
    """What approvers are told about."""

    REQUESTED = "requested"
    ESCALATED = "escalated"  # others may decide as well from now on
    DECIDED = "decided"
    EXPIRED = "expired"
    CANCELLED = "cancelled"  # also when another request took its place


@value
class Notice:
    """One thing that one address has to be told; times are whole microseconds since 1970."""

    notice_id: str
    approval_id: str
    tenant: str
    stage: NoticeStage
    target: str  # the name of a configured address
    created_at: int
    next_at: int  # when it is told, or tried again
    attempts: int = 0
    done_at: int = 0  # 0: not told yet
    problem: str = ""  # what went wrong last, in one line without secrets
