"""Where decisions about requests for approval are made, whichever surface they come from.

Terminal, page and the caller's own client all come here, and so do the sweeps: each change is
committed with its event and with what approvers have to be told, and wakes whoever waits for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gateway import ids, jsontext
from gateway.clock import Clock
from gateway.events import approvals as events
from gateway.events.approvals import Word
from gateway.events.redact import Redactor
from gateway.store.approvals import Approvals
from gateway.store.times import microseconds
from gateway.store.vault import Vault
from gateway.types.approvals import (
    Approval,
    Approver,
    Cast,
    Choice,
    Notice,
    NoticeStage,
    Ruling,
)
from gateway.types.events import Event, Stage
from gateway.types.json import JsonObject

_REASON: Final = 1_000  # characters
_TOLD: Final = {
    Cast.APPROVED: NoticeStage.DECIDED,
    Cast.DENIED: NoticeStage.DECIDED,
    Cast.REVOKED: NoticeStage.CANCELLED,
    Cast.CANCELLED: NoticeStage.CANCELLED,
}


def _as_they_are(tool: str, arguments: JsonObject) -> JsonObject:
    del tool
    return arguments


def _faultless(tool: str, arguments: JsonObject) -> Sequence[str]:
    del tool, arguments
    return ()


def _nobody(approval: Approval) -> None:
    del approval


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Takes votes and ends requests. Every method raises StoreUnavailable.

    Then nobody knows whether it was committed; to say the same again does no harm.
    """

    approvals: Approvals
    redactor: Redactor
    clock: Clock
    vault: Vault
    targets: Callable[[str, NoticeStage], Sequence[str]]
    """The addresses that are told of a stage, for a tenant."""
    woken: Callable[[Approval], None] = _nobody
    """Called after each change, with the request as it is then."""
    own: Callable[[str, JsonObject], JsonObject] = _as_they_are
    """The arguments of a tool (`server.name`) without what the gateway puts into them."""
    faults: Callable[[str, JsonObject], Sequence[str]] = _faultless
    """What is wrong with arguments of a tool, field by field: surfaces ask before a proposal."""

    async def decide(
        self,
        approver: Approver,
        approval_id: str,
        choice: Choice,
        binding: str,
        reason: str = "",
        *,
        proposal: JsonObject | None = None,
    ) -> Ruling:
        """Take a vote; `binding` repeats what was shown, whole or by its first 8 hex digits.

        `proposal` are arguments that who denies would rather have: nothing is sent with them, but
        a call that the agent makes with exactly these has this vote already.
        """
        reason = reason[:_REASON]
        has_proposal = proposal is not None and choice is Choice.DENY
        found = await self.approvals.get(approval_id) if has_proposal else None
        sealed, digest = "", ""
        if found is not None and proposal is not None and found.tenant == approver.tenant:
            sealed = self.vault.seal(found.tenant, found.approval_id, jsontext.dump(proposal))
            digest = self.vault.digest(found.tenant, self.own(found.tool, proposal))
        ruling = await self.approvals.cast(
            approver,
            approval_id,
            choice,
            binding,
            reason,
            told=self._teller(approver, choice=choice, reason=reason),
            notices=self._notices,
            proposal=sealed,
            proposal_hash=digest,
        )
        return self._done(ruling)

    async def withdraw_vote(self, approver: Approver, approval_id: str) -> Ruling:
        """Take an own vote back while nothing is decided."""
        ruling = await self.approvals.withdraw_vote(
            approver, approval_id, told=self._teller(approver), notices=self._notices
        )
        return self._done(ruling)

    async def cancel(self, approver: Approver, approval_id: str, reason: str = "") -> Ruling:
        """End a request for who asked, or for who runs the gateway."""
        reason = reason[:_REASON]
        ruling = await self.approvals.cancel_by(
            approver,
            approval_id,
            reason or "it was taken back",
            told=self._teller(approver, reason=reason),
            notices=self._notices,
        )
        return self._done(ruling)

    async def reopen(self, approver: Approver, approval_id: str, reason: str = "") -> Ruling:
        """Let a denied call be asked about again: calling again makes a request of its own."""
        ruling = await self.approvals.reopen(
            approver,
            approval_id,
            told=self._teller(approver, reason=reason[:_REASON]),
            notices=self._notices,
        )
        return self._done(ruling)

    async def call_off(self, approval: Approval, why: str) -> Approval | None:
        """End a request that its caller waits for no longer; None when it has ended already."""
        after = await self.approvals.cancel(
            approval,
            why[:_REASON],
            told=lambda after: [self._event(after, Stage.VOIDED)],
            notices=lambda after: self._to_tell(after, NoticeStage.CANCELLED),
        )
        if after is not None:
            self.woken(after)
        return after

    async def expire_due(self) -> list[Approval]:
        """End what nobody decided, or used, in time; return what this gateway ended."""
        ended: list[Approval] = []
        for each in await self.approvals.expired():
            after = await self.approvals.expire(
                each,
                told=lambda after: [self._event(after, Stage.EXPIRED)],
                notices=lambda after: self._to_tell(after, NoticeStage.EXPIRED),
            )
            if after is not None:
                self.woken(after)
                ended.append(after)
        return ended

    async def escalate_due(self) -> list[Approval]:
        """Let more people decide what has waited too long; return what this gateway changed."""
        changed: list[Approval] = []
        for each in await self.approvals.escalating():
            after = await self.approvals.escalate(
                each,
                told=lambda after: [self._event(after, Stage.ESCALATED)],
                notices=lambda after: self._to_tell(after, NoticeStage.ESCALATED),
            )
            if after is not None:
                self.woken(after)
                changed.append(after)
        return changed

    def _done(self, ruling: Ruling) -> Ruling:
        if ruling.cast.is_accepted and ruling.approval is not None:
            self.woken(ruling.approval)
        return ruling

    def _teller(
        self, approver: Approver, *, choice: Choice | None = None, reason: str = ""
    ) -> Callable[[Ruling], Sequence[Event]]:
        def told(ruling: Ruling) -> Sequence[Event]:
            word = Word(approver=approver, ruling=ruling, choice=choice, reason=reason)
            return events.ruled(word, self.redactor, id=ids.ulid(), at=self.clock.now())

        return told

    def _event(self, approval: Approval, stage: Stage) -> Event:
        return events.event(approval, stage, self.redactor, id=ids.ulid(), at=self.clock.now())

    def _notices(self, ruling: Ruling) -> list[Notice]:
        stage = _TOLD.get(ruling.cast)
        if stage is None or ruling.approval is None:
            return []
        return self._to_tell(ruling.approval, stage)

    def _to_tell(self, approval: Approval, stage: NoticeStage) -> list[Notice]:
        now = microseconds(self.clock.now())
        return [
            Notice(
                notice_id=ids.new("notice"),
                approval_id=approval.approval_id,
                tenant=approval.tenant,
                stage=stage,
                target=target,
                created_at=now,
                next_at=now,
            )
            for target in self.targets(approval.tenant, stage)
        ]
