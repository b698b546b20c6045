"""Whether what rules hold can be decided: that there are people for it, and a place where."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from gateway.approvals.matching import missing
from gateway.approvals.words import lacking
from gateway.config.admin import AccountSettings
from gateway.config.settings import Settings
from gateway.types.approvals import ApprovalClause, Assurance, Channel, Choice, Factor, Vote


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """Why nobody could decide about what a rule holds, and the mend."""

    found: str
    mend: str


def lacks(rules: Iterable[tuple[str, ApprovalClause]], settings: Settings) -> Iterator[Lack]:
    """Yield what is missing for each rule, by its id, with the clause that it asks people under.

    Who may log in at an identity provider isn't known here, so with one everything may be well.
    """
    for rule, clause in rules:
        if clause.self_confirm or settings.admin.oidc is not None:
            continue
        if clause.min_assurance is Assurance.AUTHENTICATED:
            yield Lack(
                found=f"the rule `{rule}` wants approvers to log in at an identity provider, "
                "and there is none",
                mend="set `admin.oidc`, or a weaker `min_assurance` in the rule",
            )
            continue
        open_factors = _open(clause, settings)
        if open_factors:
            yield Lack(
                found=f"nobody could decide what the rule `{rule}` holds; it takes "
                f"{lacking(open_factors)}",
                mend="add people with such roles to `admin.accounts`, apart from who asks; or set "
                "`admin.oidc`",
            )


def _open(clause: ApprovalClause, settings: Settings) -> tuple[tuple[Factor, int], ...]:
    """Return who is missing though all people of a tenant say yes: of the tenant with the fewest.

    Where the only account is whoever acts locally, he is the one who asks as well.
    """
    requester = "" if settings.admin.asks_who else settings.identity.local.user
    accounts = sorted(settings.accounts, key=lambda each: each.tenant)
    found = [
        missing(clause, map(_yes, people), escalated=len(clause.escalation), requester=requester)
        for _, people in groupby(accounts, key=lambda each: each.tenant)
    ]
    everybody = tuple((each, each.count) for each in clause.factors)
    return min(found, key=lambda each: sum(count for _, count in each), default=everybody)


def _yes(account: AccountSettings) -> Vote:
    return Vote(
        approval_id="",
        user=account.user,
        choice=Choice.APPROVE,
        binding="",
        roles=account.roles,
        channel=Channel.TERMINAL,
        assurance=Assurance.LOCAL,
    )
