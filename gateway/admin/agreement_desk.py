"""The page of changed policies that wait for people, where those who may agree or turn them down.

What is agreed to is the digest that the page has shown: a form that names another one counts for
nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.admin.policies_showing import DiffLine, difference
from gateway.admin.room import Room
from gateway.admin.sessions import Current
from gateway.admin.showing import Moment, moment_of
from gateway.approvals import agreeing
from gateway.approvals.visible import visible
from gateway.events.redact import Redactor
from gateway.store.proposals import Ruled
from gateway.store.store import Store
from gateway.store.times import microseconds
from gateway.types.approvals import Approver
from gateway.types.proposals import Backing, Proposal, ProposalState

HOME: Final = "/proposals"
_LISTED: Final = 20
_LEANS: Final = ("wider", "narrower", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One proposal as its page has it."""

    id: str
    revision: str
    short: str
    base: str
    at: Moment
    because: str
    state: str
    agreed: tuple[str, ...]
    lacks: int
    warnings: int
    tests: int
    leans: tuple[tuple[str, int], ...]  # how many causes grant more, less, or otherwise
    lines: tuple[DiffLine, ...]  # of the difference of the files
    obstacle: str  # why the person can't agree


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDesk:
    """Where people agree with changes of the policy."""

    room: Room
    store: Store
    say: agreeing.Say
    redactor: Redactor
    beside: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page, one = self.room.for_people, f"{HOME}/{{id}}"
        return (
            Route(HOME, page(self.listed)),
            Route(f"{one}/agree", page(self.agree), methods=["POST"]),
            Route(f"{one}/reject", page(self.reject), methods=["POST"]),
        )

    async def listed(self, request: Request, current: Current) -> Response:
        """Show what waits with the difference of its files, and what became of earlier ones."""
        del request
        return await self._page(current)

    async def agree(self, request: Request, current: Current) -> Response:
        """Agree with exactly the revision that was shown."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        id = str(request.path_params["id"])
        waiting = {each.id: each.revision for each in await self.store.proposals.open()}
        if waiting.get(id) != fields.get("revision", ""):
            return await self._page(current, "it does not wait any more; look again", 409)
        ruled = await self.store.proposals.agree(
            id, current.person, say=self.say, reason=self._reason(fields)
        )
        return await self._ruled(current, ruled)

    async def reject(self, request: Request, current: Current) -> Response:
        """Turn a change down, with a reason."""
        fields = await self.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        if not fields.get("reason", "").strip():
            return await self._page(current, "say why, so that the change can become better", 400)
        ruled = await self.store.proposals.reject(
            str(request.path_params["id"]),
            current.person,
            say=self.say,
            reason=self._reason(fields),
        )
        return await self._ruled(current, ruled)

    def _reason(self, fields: Mapping[str, str]) -> str:
        return self.redactor.text(fields.get("reason", "").strip())

    async def _ruled(self, current: Current, ruled: Ruled) -> Response:
        if ruled.proposal is None:
            return await self._page(current, "there is no such proposal", 404)
        if ruled.obstacle:
            return await self._page(current, ruled.obstacle, 409)
        return RedirectResponse(HOME, status_code=303)

    async def _page(self, current: Current, problem: str = "", status: int = 200) -> Response:
        stranger = agreeing.stranger(current.person, self.say)
        if stranger:
            return self.room.refuse(current, stranger, status=403)
        waiting = await self.store.proposals.open()
        latest = await self.store.proposals.latest(_LISTED)
        over = [each for each in latest if each.state is not ProposalState.OPEN]
        pairs = [(each, await self.store.proposals.backings(each.id)) for each in (*waiting, *over)]
        bases = {each.base: await self._texts(each.base) for each in waiting}

        def page() -> Response:
            shown = [
                self._shown(each, backings, bases.get(each.base), current.person)
                for each, backings in pairs
            ]
            return self.room.pages.render(
                "proposals",
                current=current,
                status=status,
                tab="proposals",
                problem=problem,
                waiting=[each for each in shown if each.state == ProposalState.OPEN.value],
                over=[each for each in shown if each.state != ProposalState.OPEN.value],
                tokens={
                    f"{each.id}/{verb}": current.token(f"{HOME}/{each.id}/{verb}")
                    for each in shown
                    for verb in ("agree", "reject")
                },
            )

        return await anyio.to_thread.run_sync(page, limiter=self.beside)

    async def _texts(self, revision: str) -> Mapping[str, str]:
        kept = await self.store.revisions.get(revision)
        return kept.texts if kept is not None else {}

    def _shown(
        self,
        proposal: Proposal,
        backings: Sequence[Backing],
        base: Mapping[str, str] | None,
        person: Approver,
    ) -> Shown:
        lines: list[DiffLine] = []
        if base is not None:
            lines = difference({"texts": dict(base)}, {"texts": dict(proposal.texts)})
        return Shown(
            id=proposal.id,
            revision=proposal.revision,
            short=_short(proposal.revision),
            base=_short(proposal.base),
            at=moment_of(microseconds(proposal.at), microseconds(self.room.clock.now())),
            because=visible(proposal.because),
            state=proposal.state.value,
            agreed=tuple(visible(each.person.user) for each in backings),
            lacks=agreeing.lacks(proposal, backings, self.say),
            warnings=proposal.warnings,
            tests=proposal.tests,
            leans=tuple(
                (lean, count)
                for lean in _LEANS
                if isinstance(count := proposal.change.get(lean), int) and count
            ),
            lines=tuple(lines),
            obstacle=agreeing.obstacle(proposal, backings, person, self.say),
        )


def _short(revision: str) -> str:
    return revision.removeprefix("sha256:")[:12]
