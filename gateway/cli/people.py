"""Who gives a command."""

import os
import pwd

from gateway.actions.operations import Who


def who(by: str) -> Who:
    """Return the name that is given, or the user of this machine, and that user in any case."""
    account = _account()
    return Who(by=by.strip() or account, account=account)


def _account() -> str:
    """Return the user that the process runs as; environments can say anything."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # in a container, say
        return f"uid {number}"
