"""Changes of the policy that need several people: what is in force is what they agreed on.

The folder of a gateway only proposes. So gateways with different folders still go by one revision,
and whoever writes files alone changes nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gateway import ids
from gateway.actions import revisions
from gateway.approvals import agreeing
from gateway.clock import Clock
from gateway.errors import ConfigurationError, FileError
from gateway.revision import Revision, Unreviewed
from gateway.store.revisions import StoredRevision
from gateway.types.approvals import Approver
from gateway.types.json import JsonObject
from gateway.types.proposals import Backing, Proposal, ProposalState

FIRST: Final = "first start: nobody has agreed to it"
_BEFORE: Final = "what was in force before"
_SHOWN: Final = 12
_OVER: Final = {
    ProposalState.REJECTED: "people have turned revision {revision} down; change the files, or "
    "propose it again by `weighbridge policy propose`",
    ProposalState.AGREED: "revision {revision} was replaced by the one in force; bring the folder "
    "up to date, or go back by `weighbridge policy propose`",
}


class Proposals(Protocol):
    """Where proposals are kept; every method raises StoreUnavailable."""

    async def agreed(self) -> Proposal | None:
        """Return what is in force by agreement, or None where nothing ever was."""
        ...

    async def open(self) -> list[Proposal]:
        """Return those that wait, oldest first."""
        ...

    async def beginning(self, with_: str) -> list[Proposal]:
        """Return those of revisions whose ids begin with a text, newest first."""
        ...

    async def backings(self, id: str) -> tuple[Backing, ...]:
        """Return who agrees with one."""
        ...

    async def propose(self, proposal: Proposal, who: Approver | None = None) -> bool:
        """Propose a revision; False where it is proposed already."""
        ...

    async def adopt(self, proposal: Proposal) -> None:
        """Take what is in force already as agreed on."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """A revision that people agreed on, and who they are."""

    id: str
    revision: Revision
    by: str
    base: str = ""  # what it was compared with; empty where nobody was asked
    warnings: int = 0
    tests: int = 0  # that passed when it was proposed
    change: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Proposes revisions, and knows what was agreed on. Raises StoreUnavailable."""

    proposals: Proposals
    newest: Callable[[], Awaitable[StoredRevision | None]]  # that was ever in force
    people: int
    say: agreeing.Say
    clock: Clock

    async def agreed(self, but: str = "") -> Agreed | None:
        """Return what is to be in force, unless it is the revision `but`.

        Where nothing was agreed on yet, what was in force last counts as that. Raises
        ConfigurationError for a revision that this version of the gateway can't read, and for one
        whose files in the store are not those of its digest.
        """
        found = await self.proposals.agreed()
        if found is None:
            stored = await self.newest()
            if stored is None:
                return None
            found = await self._adopted(stored)
        if found.revision == but:
            return None
        return Agreed(
            id=found.revision,
            revision=self._compiled(found),
            by=await self._who(found),
            base=found.base,
            warnings=found.warnings,
            tests=found.tests,
            change=found.change or None,
        )

    async def adopt(self, revision: Revision) -> None:
        """Take a first revision as agreed on: there is none that it could replace."""
        at = revision.activated_at or self.clock.now()
        texts = dict(revision.texts)
        await self._adopted(StoredRevision(id=revision.id, at=at, activated_by=FIRST, texts=texts))

    async def propose(
        self,
        built: revisions.Built,
        change: JsonObject | None,
        *,
        base: str,
        because: str,
        who: Approver | None = None,
    ) -> str:
        """Propose what a folder gives; return why it is not in force, as one line.

        What people have turned down, or replaced, is proposed again only by a person: a folder
        that nobody brought up to date wants nothing.
        """
        revision = built.revision
        if revision is None:
            raise ValueError("a folder with faults can't be proposed")
        last = next(iter(await self.proposals.beginning(revision.id)), None)
        if last is not None and who is None and last.state in _OVER:
            return _OVER[last.state].format(revision=_short(revision.id))
        made = Proposal(
            id=ids.new("prop"),
            revision=revision.id,
            base=base,
            at=self.clock.now(),
            because=because,
            people=self.people,
            texts=dict(revision.texts),
            warnings=len(built.warnings),
            tests=len(built.report.results) if built.report is not None else 0,
            change=change or {},
        )
        await self.proposals.propose(made, who)
        return (
            f"revision {_short(revision.id)} waits for people to agree; "
            "see `weighbridge policy proposals`"
        )

    async def waiting(self) -> list[JsonObject]:
        """Return what waits, for `weighbridge status`."""
        found: list[JsonObject] = []
        for each in await self.proposals.open():
            lacks = agreeing.lacks(each, await self.proposals.backings(each.id), self.say)
            found.append(
                {"revision": each.revision, "lacks": lacks, "at": each.at.isoformat()[:19]}
            )
        return found

    async def _adopted(self, stored: StoredRevision) -> Proposal:
        texts = _folder(stored.texts)
        unreviewed = revisions.unreviewed_of(stored.id, texts) or Unreviewed.REFUSE
        built = revisions.build(texts, unreviewed=unreviewed, at=self.clock.now())
        made = Proposal(
            id=ids.new("prop"),
            revision=stored.id,
            base="",
            at=stored.at,
            because=stored.activated_by,
            people=0,
            texts=stored.texts,
            warnings=len(built.warnings),
            tests=len(built.report.results) if built.report is not None else 0,
        )
        await self.proposals.adopt(made)
        return await self.proposals.agreed() or made  # another gateway may have been first

    def _compiled(self, found: Proposal) -> Revision:
        """Return the revision of exactly the digest that people agreed to."""
        texts = _folder(found.texts)
        unreviewed = revisions.unreviewed_of(found.revision, texts)
        if unreviewed is None:
            raise ConfigurationError(
                f"revision {_short(found.revision)}, which people agreed on, is not what the store "
                "has under its name: the files there give another digest; propose it anew by "
                "`weighbridge policy propose`"
            )
        try:
            return revisions.compiled(texts, unreviewed=unreviewed, at=self.clock.now())
        except FileError as error:
            raise ConfigurationError(
                f"revision {_short(found.revision)}, which people agreed on, can't be read: {error}"
            ) from error

    async def _who(self, found: Proposal) -> str:
        names = [each.person.user for each in await self.proposals.backings(found.id)]
        return f"agreed by {', '.join(names)}" if names else _BEFORE


def _folder(texts: Mapping[str, str]) -> revisions.Folder:
    """Return the folder that texts are of; an empty one for what no policy folder has."""
    try:
        return revisions.folder_of(texts)
    except KeyError:
        return revisions.folder_of({})


def _short(id: str) -> str:
    return id.removeprefix("sha256:")[:_SHOWN]
