"""The words of a notice: the summary of the request, what stands on top of it, and its page."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.approvals import lines
from gateway.approvals.lines import Group, Unreadable
from gateway.approvals.notices import Telling
from gateway.crossing.showing import shown
from gateway.events.redact import Redactor
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, Notice, Vote
from gateway.types.values import replaced

_log = logging.getLogger("weighbridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Teller:
    """Says what a notice is about; all the rest of it is for those who log in."""

    vault: Vault
    redactor: Redactor
    page: Callable[[Approval], str]
    """Where a request is decided: an address, which gives no right; empty where there is none."""

    def telling(self, notice: Notice, approval: Approval, votes: Sequence[Vote]) -> Telling:
        """Return a notice with its words; without them where the request can't be read here.

        What people wrote as their reasons leaves as it goes into the log: redacted.
        """
        link = self.page(approval)
        votes = [replaced(each, reason=self._safe(each.reason, approval)) for each in votes]
        approval = replaced(approval, closed_reason=self._safe(approval.closed_reason, approval))
        try:
            rows = lines.rows(shown(approval, self.vault))
        except Unreadable as error:
            _log.warning("a notice of %s goes without words: %s", approval.approval_id, error)
            return Telling(notice=notice, approval=approval, link=link, votes=votes)
        return Telling(
            notice=notice,
            approval=approval,
            summary=next((row.text for row in rows if row.group is Group.SUMMARY), ""),
            shown=[(row.label, row.text) for row in rows if row.group is Group.TOP],
            link=link,
            votes=votes,
        )

    def _safe(self, text: str, approval: Approval) -> str:
        return self.redactor.text(text, tenant=approval.tenant)
