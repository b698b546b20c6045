"""Who may agree with a changed policy, and how many still have to."""

from collections.abc import Collection, Iterable

from gateway.approvals.matching import same_person
from gateway.types.approvals import Approver, Channel
from gateway.types.proposals import Backing, Proposal, ProposalState


def lacks(proposal: Proposal, backings: Collection[Backing]) -> int:
    """Return how many more people have to agree."""
    return max(0, proposal.people - len(backings))


def obstacle(
    proposal: Proposal, backings: Iterable[Backing], who: Approver, roles: Collection[str]
) -> str:
    """Say why somebody can't agree with a proposal; an empty text when he can.

    Nobody counts twice: neither under the same name in another tenant, nor from the same account of
    a machine under another name.
    """
    missing = stranger(who, roles)
    if missing:
        return missing
    if proposal.state is not ProposalState.OPEN:
        return f"it is {proposal.state.value} already"
    for each in backings:
        if same_person(each.person.user, who.user):
            did = "proposed it" if each.is_proposer else "has agreed already"
            return f"{each.person.user} {did}; somebody else has to agree"
        is_same_shell = who.channel is Channel.TERMINAL and each.person.channel is Channel.TERMINAL
        if is_same_shell and each.person.issuer == who.issuer:
            account = who.issuer.removeprefix("os:")
            return (
                f"{each.person.user} stands behind it from the same account of this machine, "
                f"`{account}`; somebody else has to agree from another account, or on the page"
            )
    return ""


def stranger(who: Approver, roles: Collection[str]) -> str:
    """Say why somebody has no say at all; an empty text when he has."""
    if roles and who.roles.isdisjoint(roles):
        wanted = " or ".join(f"`{role}`" for role in sorted(roles))
        return f"{who.user} has no role that may agree ({wanted})"
    return ""
