"""What a contract says about asking people, between the file and the value, both ways."""

from typing import Final

from gateway.contracts.promises import ApprovalSection
from gateway.contracts.sections import said
from gateway.types.approvals import ApprovalNotes
from gateway.types.json import JsonObject

_USUAL: Final = ApprovalNotes()


def notes(section: ApprovalSection) -> ApprovalNotes:
    """Return what a section of a file says."""
    return ApprovalNotes(
        summary=section.summary or "",
        show=section.show or None,
        confirm=section.confirm or "",
        execute=section.execute,
        cancel_on_disconnect=section.on_disconnect == "cancel",
        reapprove_on_pin_change=section.on_pin_change == "reapprove",
    )


def section(known: ApprovalNotes) -> JsonObject:
    """Return the section `approval`, empty where nothing but the usual is said."""
    return said(
        summary=known.summary,
        show=dict(known.show or {}),
        confirm=known.confirm,
        execute=None if known.execute is _USUAL.execute else known.execute.value,
        on_disconnect="cancel" if known.cancel_on_disconnect else None,
        on_pin_change=None if known.reapprove_on_pin_change else "deny",
    )
