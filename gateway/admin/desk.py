"""The pages of approvals: what waits, one request with its decision, and what was decided."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.admin import proposals
from gateway.admin.proposals import ProposalRefused
from gateway.admin.room import Room
from gateway.admin.sessions import Current
from gateway.admin.showing import Card, Sheet, View
from gateway.approvals import words
from gateway.approvals.visible import visible
from gateway.crossing.deciding import Deciding
from gateway.store.approvals import ApprovalFilter, Approvals
from gateway.store.vault import Vault
from gateway.types.approvals import Approval, ApprovalState, Cast, Choice, Ruling, Vote
from gateway.types.json import JsonObject

_HOME: Final = "/approvals"
_LISTED: Final = 50
_MOST: Final = 500
_LONGEST_NAME: Final = 300
_AT_ONCE: Final = 2
_UNREAD: Final = "open the long values and say that you have read them; then approve"
_WHY: Final = "say why, so that the caller can do better; then deny"
_NOT_SHOWN: Final = "what it is about can't be shown, so it can't be approved; deny it"
_STATUS: Final = {
    Cast.NOT_ENTITLED: 403,
    Cast.SELF_APPROVAL: 403,
    Cast.TOO_WEAK: 403,
    Cast.WRONG_BINDING: 409,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where people decide. Reading needs a login of the tenant; what is done is judged there.

    A value of 64 KiB takes its time until nothing in it hides. That is done beside the event loop,
    on which the agents' calls wait too, for a few people at a time.
    """

    room: Room
    approvals: Approvals
    deciding: Deciding
    vault: Vault
    beside: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_AT_ONCE))

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page = self.room.for_people
        one = "/approvals/{approval_id}"
        return (
            Route(_HOME, page(self.waiting)),
            Route("/approvals/history", page(self.history)),
            Route(one, page(self.show)),
            Route(f"{one}/decide", page(self.decide), methods=["POST"]),
            Route(f"{one}/withdraw", page(self.withdraw), methods=["POST"]),
            Route(f"{one}/cancel", page(self.cancel), methods=["POST"]),
            Route(f"{one}/reopen", page(self.reopen), methods=["POST"]),
        )

    async def waiting(self, request: Request, current: Current) -> Response:
        """List what can still be decided, what the person can decide first."""
        wanted = self._wanted(request, current, is_open=True)
        found = await self.approvals.find(wanted)
        cards = await self._cards(current, found)
        cards.sort(key=lambda card: (not card.is_mine, card.until.iso if card.until else ""))
        return self.room.pages.render(
            "waiting",
            current=current,
            tab="open",
            mine=[card for card in cards if card.is_mine],
            others=[card for card in cards if not card.is_mine],
            wanted=wanted,
            is_cut=len(found) == wanted.limit,
        )

    async def history(self, request: Request, current: Current) -> Response:
        """List what was asked and what became of it, newest first."""
        wanted = self._wanted(request, current, is_open=False)
        found = await self.approvals.find(wanted)
        return self.room.pages.render(
            "history",
            current=current,
            tab="history",
            cards=await self._cards(current, found),
            wanted=wanted,
            states=[each.value for each in ApprovalState],
            is_cut=len(found) == wanted.limit,
            more=min(_MOST, wanted.limit * 2) if wanted.limit < _MOST else 0,
        )

    async def show(self, request: Request, current: Current) -> Response:
        """Show one request, with all that will happen, and the form to decide about it."""
        approval = await self._named(request, current)
        return await self._page(current, approval)

    async def decide(self, request: Request, current: Current) -> Response:
        """Cast a vote."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        approval = await self._named(request, current)
        choice = fields.get("choice", "")
        if choice not in ("approve", "deny", "propose"):
            return self.room.refuse(current, "say whether to approve or deny", status=400)
        problem, status = await self._obstacle(current, approval, fields)
        if problem:
            return await self._page(current, approval, problem=problem, status=status, given=fields)
        proposal: JsonObject | None = None
        if choice == "propose":
            try:
                shown = self._view(current).document(approval)
                proposal = proposals.read(fields.get("proposal", ""), shown)
                proposals.check(self.deciding.faults(approval.tool, proposal))
            except ProposalRefused as refused:
                return await self._page(
                    current,
                    approval,
                    problem=str(refused),
                    faults=refused.faults,
                    status=400,
                    given=fields,
                )
        ruling = await self.deciding.decide(
            current.person,
            approval.approval_id,
            Choice.APPROVE if choice == "approve" else Choice.DENY,
            fields.get("binding", ""),
            fields.get("reason", ""),
            proposal=proposal,
        )
        return await self._ruled(current, approval, ruling)

    async def _obstacle(
        self, current: Current, approval: Approval, fields: dict[str, str]
    ) -> tuple[str, int]:
        """Return what a decision lacks that is asked of the page alone, and the HTTP status."""
        is_approval = fields.get("choice") == "approve"
        if not is_approval and fields.get("reason", "").strip():
            return "", 200
        view, votes = self._view(current), await self._votes(approval)
        sheet = await anyio.to_thread.run_sync(view.sheet, approval, votes, limiter=self.beside)
        if is_approval:
            return _unseen(sheet, fields), 409
        # Who may not deny at all is told that, and the attempt goes into the log.
        return (_WHY if sheet.rights.deny else ""), 400

    async def withdraw(self, request: Request, current: Current) -> Response:
        """Take the person's vote back."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        approval = await self._named(request, current)
        ruling = await self.deciding.withdraw_vote(current.person, approval.approval_id)
        return await self._ruled(current, approval, ruling)

    async def cancel(self, request: Request, current: Current) -> Response:
        """End a request that the person, or an agent in his name, made."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        approval = await self._named(request, current)
        ruling = await self.deciding.cancel(current.person, approval.approval_id)
        return await self._ruled(current, approval, ruling)

    async def reopen(self, request: Request, current: Current) -> Response:
        """Let a call that was denied be asked about again."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        approval = await self._named(request, current)
        ruling = await self.deciding.reopen(current.person, approval.approval_id)
        return await self._ruled(current, approval, ruling)

    async def _ruled(self, current: Current, approval: Approval, ruling: Ruling) -> Response:
        """Lead back to the page, which shows what became of it, or say why nothing did."""
        if ruling.cast.is_accepted:
            return RedirectResponse(f"{_HOME}/{approval.approval_id}", status_code=303)
        if ruling.approval is None:
            raise HTTPException(404)
        status = _STATUS.get(ruling.cast, 409)
        return await self._page(current, ruling.approval, problem=words.said(ruling), status=status)

    async def _page(
        self,
        current: Current,
        approval: Approval,
        *,
        problem: str = "",
        faults: Sequence[str] = (),
        status: int = 200,
        given: dict[str, str] | None = None,
    ) -> Response:
        view, votes = self._view(current), await self._votes(approval)
        path = f"{_HOME}/{approval.approval_id}"
        actions = ("decide", "withdraw", "cancel", "reopen")
        fields = given or {}

        def page() -> Response:
            return self.room.pages.render(
                "approval",
                current=current,
                status=status,
                tab="open" if approval.state.is_open else "history",
                sheet=view.sheet(approval, votes),
                path=path,
                tokens={each: current.token(f"{path}/{each}") for each in actions},
                problem=problem,
                faults=[visible(each) for each in faults],
                reason=fields.get("reason", ""),
                is_proposing=fields.get("choice") == "propose",
                proposal=fields.get("proposal") or proposals.draft(view.document(approval)),
            )

        return await anyio.to_thread.run_sync(page, limiter=self.beside)

    async def _cards(self, current: Current, found: Sequence[Approval]) -> list[Card]:
        view = self._view(current)
        pairs = [(each, await self._votes(each)) for each in found]
        return await anyio.to_thread.run_sync(
            lambda: [view.card(each, votes) for each, votes in pairs], limiter=self.beside
        )

    async def _named(self, request: Request, current: Current) -> Approval:
        """Return the request that a path names; another tenant's is as if it were not there."""
        approval = await self.approvals.get(request.path_params["approval_id"])
        if approval is None or approval.tenant != current.person.tenant:
            raise HTTPException(404)
        return approval

    async def _votes(self, approval: Approval) -> list[Vote]:
        return await self.approvals.votes(approval.approval_id)

    def _view(self, current: Current) -> View:
        return View(vault=self.vault, person=current.person, now=self.room.clock.now())

    def _wanted(self, request: Request, current: Current, *, is_open: bool) -> ApprovalFilter:
        asked = request.query_params
        state = asked.get("state", "")
        limit = asked.get("limit", "")
        return ApprovalFilter(
            tenant=current.person.tenant,
            is_open=is_open,
            state=state if not is_open and state in {each.value for each in ApprovalState} else "",
            user=asked.get("user", "").strip()[:_LONGEST_NAME],
            tool=asked.get("tool", "").strip()[:_LONGEST_NAME],
            limit=min(_MOST, max(1, int(limit)))
            if limit.isascii() and limit.isdecimal()
            else _LISTED,
        )


def _unseen(sheet: Sheet, fields: dict[str, str]) -> str:
    """Say what somebody can't have seen of what he wants to approve."""
    if sheet.unreadable:
        return _NOT_SHOWN
    if any(f"read-{number}" not in fields for number in sheet.long):
        return _UNREAD
    return ""
