"""Who gives a command, and who somebody may say that he is."""

import os
import pwd
from collections.abc import Callable, Sequence

from gateway.actions.operations import Who
from gateway.cli import output
from gateway.config.admin import AccountSettings
from gateway.types.approvals import MACHINE, Approver, Assurance, Channel


def who(by: str) -> Who:
    """Return the name that is given, or the user of this machine, and that user in any case."""
    account = _account()
    return Who(by=by.strip() or account, account=account)


def _anybody(account: AccountSettings) -> bool:
    del account
    return True


def approver(
    accounts: Sequence[AccountSettings],
    user: str,
    tenant: str,
    may: Callable[[AccountSettings], bool] = _anybody,
) -> Approver:
    """Return who decides in this terminal, or end the command with what to write.

    `user` is what somebody says of himself; empty means the only account there is, or the one that
    is called like the user of this machine. `tenant` chooses where users share a name. Those of
    the tenant that `may` do it are named where nobody, or somebody unknown, was.
    """
    account = _account()
    found = _meant(accounts, user, account)
    chosen = next((each for each in found if each.tenant == tenant), None) or next(
        iter(found), None
    )
    if chosen is None:
        fit = [each for each in accounts if each.tenant == tenant and may(each)]
        output.fail(_unknown(accounts, fit, user, tenant))
    return Approver(
        tenant=chosen.tenant,
        user=chosen.user,
        roles=chosen.roles,
        assurance=Assurance.LOCAL,
        channel=Channel.TERMINAL,
        issuer=f"{MACHINE}{account}",  # a name can be claimed here; whose process it was can't
    )


def _meant(
    accounts: Sequence[AccountSettings], user: str, account: str
) -> Sequence[AccountSettings]:
    if user or len(accounts) > 1:
        return [each for each in accounts if each.user == (user or account)]
    return accounts


def _unknown(
    accounts: Sequence[AccountSettings], fit: Sequence[AccountSettings], user: str, tenant: str
) -> str:
    if not accounts:
        return "there are no `admin.accounts`, so nobody decides here; decide on the page"
    names = ", ".join(f"`{each.user}`" for each in fit[:10])
    who = f"{names} may" if names else f"no account of `{tenant}` may"
    if user:
        return f"`{user}` is not among `admin.accounts`; {who}"
    return f"say who does it with `--as`; {who}"


def _account() -> str:
    """Return the user that the process runs as; environments can say anything."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # in a container, say
        return f"uid {number}"
