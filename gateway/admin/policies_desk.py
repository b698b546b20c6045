"""The pages of policies: what was in force when, one with its files, and what a change does.

Only auditors get here: rules and contracts are those of all tenants. What a change does is found
by made-up calls, in a process of its own; the difference of the files is there at once.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway import jsontext
from gateway.actions import questions
from gateway.actions.departures import Departed
from gateway.admin import policies_showing
from gateway.admin.errands import Asker, Errand, State
from gateway.admin.replay_desk import ReplayDesk, option
from gateway.admin.replay_form import FOLDER
from gateway.admin.replay_showing import Links, Showing, showing
from gateway.admin.replays import BUSY, GONE, REPORT, Replays
from gateway.admin.sessions import Current
from gateway.admin.shelves import compiled, short
from gateway.admin.showing import moment_of
from gateway.errors import FileError
from gateway.replay.report import Report
from gateway.store.selection import Selection
from gateway.store.times import microseconds
from gateway.types.events import EventKind
from gateway.types.json import Json, JsonObject

_HOME: Final = "/policies"
_DIFF: Final = f"{_HOME}/diff"
_LISTED: Final = 50
_CHOSEN: Final = 20
_TOLD: Final = ("policy_activated", "policy_refused")
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a change does to past calls: a report, one that is being made, or none yet."""

    given: Mapping[str, str]  # what was asked for, or would be
    errand: Errand | None = None
    report: Report | None = None
    showing: Showing | None = None
    links: Links | None = None
    to: str = ""
    left: Departed | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is being made."""
        return self.errand is not None and self.errand.state is State.RUNNING

    @property
    def problem(self) -> str:
        """Why it could not be made."""
        return self.errand.problem if self.errand is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliciesDesk:
    """Where auditors read policies; it judges by what the desk of replay finds."""

    replay: ReplayDesk

    @property
    def desk(self) -> Replays:
        """Where replays are made, of which a change of a policy may have one as well."""
        return self.replay.replays

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        page = self.replay.for_auditors
        return (
            Route(_HOME, page(self.listed)),
            Route(_DIFF, page(self.diff)),
            Route(_DIFF, page(self.begin), methods=["POST"]),
            Route(f"{_DIFF}/cancel", page(self.cancel), methods=["POST"]),
            Route(f"{_HOME}/{{revision}}", page(self.show)),
        )

    async def listed(self, request: Request, current: Current) -> Response:
        """List what was put in force and what was refused, the newest first."""
        del request
        wanted = Selection(kinds=(EventKind.ADMIN.value,), actions=_TOLD)
        found = await questions.page(
            self.desk.store.checkpoints, wanted, limit=_LISTED, newest_first=True
        )
        kept = await self.desk.store.revisions.latest(_CHOSEN)
        in_force = kept[0].id if kept else ""
        now = self._now
        return self.desk.room.pages.render(
            "policies",
            current=current,
            tab="policies",
            changes=policies_showing.changes(found.events, in_force, now),
            revisions=[option(each, now) for each in kept],
            folder=self.desk.shelf.settings.policies.name,
            is_cut=found.cursor is not None,
        )

    async def show(self, request: Request, current: Current) -> Response:
        """Show one policy with its files."""
        kept = await self.desk.shelf.kept(str(request.path_params["revision"]))
        if kept is None:
            raise HTTPException(404)
        files = sorted(kept.texts.items())
        return await anyio.to_thread.run_sync(
            lambda: self.desk.room.pages.render(
                "policy",
                current=current,
                tab="policies",
                id=kept.id.removeprefix("sha256:"),
                short=short(kept.id),
                at=moment_of(microseconds(kept.at), self._now),
                files=files,
            ),
            limiter=self.desk.beside,
        )

    async def diff(self, request: Request, current: Current) -> Response:
        """Show what two policies differ in; and what that does, once it has been worked out.

        Where it isn't said of what, the form that asks for it.
        """
        if not request.query_params.get("old"):
            return RedirectResponse(_HOME, status_code=303)
        old, new = request.query_params.get("old", ""), request.query_params.get("new", FOLDER)
        return await self._diff_page(current, old, new, past=dict(request.query_params))

    async def begin(self, request: Request, current: Current) -> Response:
        """Have it worked out what a change does."""
        fields = await self.desk.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        old, new = fields.get("old", ""), fields.get("new", "")
        if fields.get("part") == "past":
            return await self._begin_past(current, old, {**fields, "revision": new})
        try:
            before, after = await self.desk.named(old), await self.desk.named(new)
            if before is None or after is None:
                return await self._diff_page(current, old, new, status=409)
            for each in (before, after):
                await anyio.to_thread.run_sync(compiled, each, limiter=self.desk.beside)
        except FileError as error:
            problem = str(error).partition("\n")[0]
            return await self._diff_page(current, old, new, status=409, problem=problem)
        pair = (_id(before), _id(after))
        to = f"{_DIFF}?{urlencode({'old': pair[0], 'new': pair[1]})}"
        found = self.desk.errands.find(_key(pair))
        if found is None or found.state not in (State.RUNNING, State.DONE):
            servers: Json = [*self.desk.shelf.settings.servers]
            order: JsonObject = {
                "work": "diff",
                "before": before,
                "after": after,
                "servers": servers,
            }

            def start() -> Errand | None:
                return self.desk.errands.begin(
                    _key(pair),
                    order,
                    title=f"Change of {short(pair[0])} to {short(pair[1])}",
                    to=to,
                    tenant=current.person.tenant,
                    by=Asker(current.person.tenant, current.person.user),
                )

            if await anyio.to_thread.run_sync(start, limiter=self.desk.beside) is None:
                return await self._diff_page(current, old, new, status=409, problem=BUSY)
        return RedirectResponse(to, status_code=303)

    async def _begin_past(self, current: Current, old: str, fields: dict[str, str]) -> Response:
        """Have past calls judged by the new policy, and come back here."""
        begun = await self.desk.begin(current, self.desk.form(fields, current))
        new = fields["revision"]
        if begun.wish is None:
            said = "; ".join(f"{name} {fault}" for name, fault in begun.form.faults.items())
            problem = begun.problem or said
            return await self._diff_page(
                current, old, new, status=begun.status, problem=problem, past=fields
            )
        pair = {"old": old, "new": _bare(begun.wish.revision)}
        return RedirectResponse(f"{_DIFF}?{urlencode(pair)}&{begun.wish.query}", status_code=303)

    async def cancel(self, request: Request, current: Current) -> Response:
        """End what is being worked out."""
        fields = await self.desk.room.form(request, current)
        if isinstance(fields, Response):
            return fields
        errand = self.desk.errands.find(fields.get("key", ""))
        if errand is None or not self.desk.auditors.sight(current.person).sees(errand.tenant):
            raise HTTPException(404)
        await anyio.to_thread.run_sync(self.desk.errands.cancel, errand.key)
        return RedirectResponse(errand.to, status_code=303)

    async def _diff_page(
        self,
        current: Current,
        old: str,
        new: str,
        *,
        status: int = 200,
        problem: str = "",
        past: Mapping[str, str] = _NOTHING,
    ) -> Response:
        try:
            before, after = await self.desk.named(old), await self.desk.named(new)
        except FileError as error:
            text = str(error).partition("\n")[0]
            return self.desk.room.refuse(current, text, status=409, back=_HOME)
        if before is None or after is None:
            return self.desk.room.refuse(current, f"one of them {GONE}", status=404, back=_HOME)
        errand = self.desk.errands.find(_key((_id(before), _id(after))))
        done = errand is not None and errand.state is State.DONE
        of_past = await self._past(current, _id(after), past)

        def page() -> Response:
            return self.desk.room.pages.render(
                "policy_diff",
                current=current,
                status=status,
                tab="policies",
                old=_id(before),
                new=_id(after),
                names=[short(_id(each)) for each in (before, after)],
                lines=policies_showing.difference(before, after),
                errand=errand,
                is_running=errand is not None and errand.state is State.RUNNING,
                past=of_past,
                sight=self.desk.sight(current),
                found=jsontext.parse_result(errand.result()) if errand and done else None,
                problem=problem or (errand.problem if errand is not None else ""),
                token=current.token(_DIFF),
                cancel_token=current.token(f"{_DIFF}/cancel"),
            )

        return await anyio.to_thread.run_sync(page, limiter=self.desk.beside)

    async def _past(self, current: Current, new: str, fields: Mapping[str, str]) -> Past:
        """Return what is known of past calls under the new policy, where an address asks for it."""
        is_asked = "revision" in fields and _bare(fields["revision"]) == new
        given = self.desk.form(fields, current).given
        wish = self.desk.wished(fields, current) if is_asked else None
        if wish is None:
            return Past(given=given, left=await self.desk.left(None))
        report, errand = await self.desk.report(current, wish), self.desk.find(wish)
        return Past(
            given=given,
            errand=errand,
            report=report,
            showing=showing(report) if report is not None else None,
            links=Links(revision=wish.revision, own=current.person.tenant),
            to=f"{REPORT}?{wish.query}",
            left=await self.desk.left(wish),
        )

    @property
    def _now(self) -> int:
        return microseconds(self.desk.room.clock.now())


def _id(policy: JsonObject) -> str:
    return _bare(str(policy["id"]))


def _bare(id: str) -> str:
    return id.removeprefix("sha256:")


def _key(pair: tuple[str, str]) -> str:
    return hashlib.sha256(f"diff {pair[0]} {pair[1]}".encode()).hexdigest()
