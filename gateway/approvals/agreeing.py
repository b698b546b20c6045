"""Who may agree with a changed policy, and how many still have to."""

from collections.abc import Iterable, Mapping

from gateway.approvals.matching import same_account, same_person
from gateway.types.approvals import Approver
from gateway.types.proposals import Backing, Proposal, ProposalState
from gateway.types.values import replaced, value


@value
class Say:
    """Who has a say in changes of the policy, by the configuration of today.

    The folder is that of all tenants, so one of them has to be named: a role that another one
    gives its people, or its identity provider does, opens nothing here.
    """

    tenant: str  # of those who may agree; empty: nobody
    roles: frozenset[str]  # one of them each; empty: everybody of the tenant
    accounts: Mapping[tuple[str, str], frozenset[str]]  # tenant and user -> his roles
    issuer: str = ""  # of the provider; empty without one
    tenants: frozenset[str] = frozenset()  # the only ones it may speak for; empty: any

    def today(self, person: Approver) -> Approver | None:
        """Return somebody with the roles of now, None when he may no longer come in.

        A provider's roles were told at the login, and are those of his word.
        """
        if person.account is None:
            is_his_to_say = not self.tenants or person.tenant in self.tenants
            return person if person.issuer == self.issuer and is_his_to_say else None
        roles = self.accounts.get((person.tenant, person.user))
        return None if roles is None else replaced(person, roles=roles)


def standing(backings: Iterable[Backing], say: Say) -> tuple[Backing, ...]:
    """Return the words that count today, one of each person.

    Who may not agree any more does not count, and neither does who may be somebody that does.
    """
    found: list[Backing] = []
    for each in backings:
        today = say.today(each.person)
        is_entitled = today is not None and not stranger(today, say)
        if is_entitled and not any(_may_be_one(other.person, each.person) for other in found):
            found.append(each)
    return tuple(found)


def lacks(proposal: Proposal, backings: Iterable[Backing], say: Say) -> int:
    """Return how many more people have to agree."""
    return max(0, proposal.people - len(standing(backings, say)))


def obstacle(proposal: Proposal, backings: Iterable[Backing], who: Approver, say: Say) -> str:
    """Say why somebody can't agree with a proposal; an empty text when he can.

    Nobody counts twice: neither under another spelling, nor from the same account of a machine
    under another name, be it in the terminal or by a link that was made there.
    """
    missing = stranger(who, say)
    if missing:
        return missing
    if proposal.state is not ProposalState.OPEN:
        return f"it is {proposal.state.value} already"
    for each in standing(backings, say):
        user = each.person.user
        if same_person(user, who.user):
            did = "proposed it" if each.is_proposer else "has agreed already"
            return f"{user} {did}; somebody else has to agree"
        if same_account(each.person, who):
            return f"{user} stands behind it {_whence(each.person, who)}"
    return ""


def stranger(who: Approver, say: Say) -> str:
    """Say why somebody has no say at all; an empty text when he has."""
    if not say.tenant:
        return "nobody may agree: `activation.tenant` does not say whose people may"
    if who.tenant != say.tenant:
        return f"{who.user} is of a tenant whose people have no say in it"
    if say.roles and who.roles.isdisjoint(say.roles):
        wanted = " or ".join(f"`{role}`" for role in sorted(say.roles))
        return f"{who.user} has no role that may agree ({wanted})"
    return ""


def _may_be_one(one: Approver, other: Approver) -> bool:
    return same_person(one.user, other.user) or same_account(one, other)


def _whence(one: Approver, other: Approver) -> str:
    if one.account and other.account:
        return (
            f"from the same account of this machine, `{one.account}`; somebody else has to agree "
            "from another account, or by a link that was made from one"
        )
    return (
        "and nobody knows from which account of this machine one of the two comes; log in anew, "
        "or turn it down and propose it again"
    )
