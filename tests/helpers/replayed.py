"""A log of a few calls, and folders of other rules to judge them by."""

import shutil
from pathlib import Path

from tests.helpers.recorded import RULES
from tests.helpers.workspaces import Workspace

WIDER = RULES.replace("100.0", "1000.0")
NARROWER = RULES.replace("100.0", "60.0")
OF_IBAN = RULES.replace("args.amount <= 100.0", 'args.iban.startsWith("DE") || args.amount > 90.0')


def changed(made: Workspace, folder: Path, rules: str) -> str:
    """Return the path of a policy folder like the one in force, with other rules."""
    other = folder / "policies"
    shutil.copytree(made.loaded().settings.policies, other)
    (written,) = other.glob("*.yaml")
    written.write_text(rules, encoding="utf-8")
    return str(other)
