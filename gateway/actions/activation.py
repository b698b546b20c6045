"""The revision in force, and the switch to the next one: load, lint, test, store, switch."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio

from gateway.actions import review, revisions
from gateway.actions.agreement import FIRST, Agreed, Agreement
from gateway.actions.comparing import compare
from gateway.clock import Clock
from gateway.errors import ConfigurationError, FileError, StoreUnavailable
from gateway.policy.lint_terms import Terms
from gateway.revision import Revision, Unreviewed
from gateway.types.json import JsonObject

_log = logging.getLogger("weighbridge")
_GLANCE: Final = 500  # made-up calls for the summary of a change: nobody waits long for a reload


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What a reload came to."""

    activated: bool
    revision: str  # the one in force afterwards
    previous: str = ""
    problem: str = ""  # why the files on disk are not in force
    warnings: int = 0
    tests: int = 0  # of the policy, all of which pass
    change: JsonObject | None = None  # how many causes of wider and narrower decisions were found


@dataclass(slots=True, kw_only=True)
class Activation:
    """Holds one revision; a call takes it once and keeps it to its end."""

    folder: Path
    unreviewed: Unreviewed
    clock: Clock
    keep: Callable[[Revision, str], Awaitable[None]]  # stores it whole; raises StoreUnavailable
    tell: Callable[[Reloaded, str], None]  # event and metric
    servers: frozenset[str] = frozenset()  # the configured ones
    terms: Terms | None = None
    agreement: Agreement | None = None  # without one, a changed folder takes force by itself
    problem: str = ""
    warnings: int = 0
    proposed: list[JsonObject] = field(default_factory=list[JsonObject])
    """What waits for people to agree, as it was last looked at."""
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _current: Revision | None = field(default=None)
    _refused: str = ""  # why what was agreed on last can't be used, as it was told

    def current(self) -> Revision:
        """Return the revision in force."""
        if self._current is None:
            raise ConfigurationError("no policy is in force yet")
        return self._current

    async def start(self) -> None:
        """Load the first revision; raises ConfigurationError when there is none to be used.

        With an agreement it is the one that people agreed on, whatever the folder says by now; at
        the very first start there is none, and the folder is taken as it is.
        """
        if self.agreement is not None:
            await self._follow_first(self.agreement)
        outcome = await self.reload("start")
        if self._current is None:
            raise ConfigurationError(outcome.problem)

    async def reload(self, because: str) -> Reloaded:
        """Take what is on disk if all of it is good; otherwise stay, and say why."""
        built, change = await anyio.to_thread.run_sync(self._checked)
        revision, problem = built.revision, built.problem
        if revision is not None and self._is_current(revision):
            if self.problem:
                _log.info(
                    "the policy folder can be used again; revision %s stays", revision.id[:19]
                )
            self.problem = ""
            await self._put_in_force_again(revision, because)
            return Reloaded(activated=False, revision=revision.id)
        if revision is not None and self.agreement is not None and self._current is not None:
            return await self._proposed(self.agreement, built, change, because)
        if revision is not None:
            try:
                await self.keep(revision, because)
            except StoreUnavailable as error:
                revision, problem = None, f"the revision could not be stored: {error}"
        if revision is None:
            return self._stays(problem, because)
        self.problem = ""
        self.warnings = len(built.warnings)
        tests = len(built.report.results) if built.report is not None else 0
        return self._switched(revision, because, tests=tests, change=change)

    async def follow(self) -> None:
        """Put in force what people agreed on meanwhile, and look at what waits for them.

        Raises StoreUnavailable; a revision that can't be read is a `problem`, and the old one
        stays.
        """
        if self.agreement is None:
            return
        try:
            agreed = await self.agreement.agreed(but=self.current().id)
        except ConfigurationError as error:
            self._refuses(str(error))
            agreed = None
        else:
            if self.problem == self._refused:
                self.problem = ""
            self._refused = ""
        if agreed is not None:
            await self.keep(agreed.revision, agreed.by)
            self._agreed(agreed, agreed.by)
            self.problem = ""
            await self.reload("another revision is in force")  # what the folder says may differ
        self.proposed = await self.agreement.waiting()

    def _refuses(self, problem: str) -> None:
        """Say why what people agreed on is not in force: in the log once, not at every look."""
        if problem == self._refused:
            self.problem = problem
            return
        self._refused = problem
        self._stays(problem, "people agreed", about="what people agreed on is not put in force")

    async def _follow_first(self, agreement: Agreement) -> None:
        try:
            agreed = await agreement.agreed()
            if agreed is not None:
                because = f"start ({agreed.by})"
                await self.keep(agreed.revision, because)
                self._agreed(agreed, because)
                return
        except StoreUnavailable as error:
            raise ConfigurationError(f"what people agreed on can't be read: {error}") from error
        outcome = await self.reload(FIRST)
        if self._current is None:
            raise ConfigurationError(outcome.problem)
        await agreement.adopt(self._current)

    def _agreed(self, agreed: Agreed, because: str) -> None:
        """Put in force what people agreed on, with what was found when it was proposed."""
        self.warnings = agreed.warnings
        is_compared = self._current is not None and self._current.id == agreed.base
        change = agreed.change if is_compared else None
        self._switched(agreed.revision, because, tests=agreed.tests, change=change)

    async def _proposed(
        self,
        agreement: Agreement,
        built: revisions.Built,
        change: JsonObject | None,
        because: str,
    ) -> Reloaded:
        """Propose what is on disk: it takes force when enough people agree."""
        base = self.current().id
        try:
            problem = await agreement.propose(built, change, base=base, because=because)
            self.proposed = await agreement.waiting()
        except StoreUnavailable as error:
            return self._stays(f"the change could not be proposed: {error}", because)
        self.problem = problem
        _log.warning("the policy folder is not in force: %s", problem)
        return Reloaded(activated=False, revision=base, problem=problem)

    def _switched(
        self,
        revision: Revision,
        because: str,
        *,
        tests: int = 0,
        change: JsonObject | None = None,
    ) -> Reloaded:
        outcome = Reloaded(
            activated=True,
            revision=revision.id,
            previous=self._current.id if self._current is not None else "",
            warnings=self.warnings,
            tests=tests,
            change=change,
        )
        self._current = revision
        _log.info("revision %s is in force (%s)", revision.id[:19], because)
        self.tell(outcome, because)
        for callback in self.after:
            callback()
        return outcome

    async def _put_in_force_again(self, revision: Revision, because: str) -> None:
        """Have other gateways know that it is this one which counts: somebody has said so."""
        try:
            await self.keep(replace(revision, activated_at=self.clock.now()), because)
        except StoreUnavailable as error:
            _log.warning("revision %s could not be stored again: %s", revision.id[:19], error)

    def _is_current(self, revision: Revision) -> bool:
        return self._current is not None and self._current.id == revision.id

    def _stays(
        self, problem: str, because: str, *, about: str = "the policy folder is not taken"
    ) -> Reloaded:
        in_force = self._current.id if self._current is not None else ""
        self.problem = problem
        outcome = Reloaded(activated=False, revision=in_force, problem=problem)
        _log.error("%s (%s): %s", about, because, problem)
        if in_force:
            self.tell(outcome, because)
        return outcome

    def _checked(self) -> tuple[revisions.Built, JsonObject | None]:
        """Build the folder, and glance at what it would change of the one in force."""
        built = self._build()
        before, after = self._current, built.revision
        if before is None or after is None or before.id == after.id:
            return built, None
        try:
            found = compare(before, after, servers=self.servers, most=_GLANCE)
        except Exception:  # for people to read; it never stands in the way of a good policy
            _log.exception("what revision %s changes could not be told", after.id[:19])
            return built, None
        return built, review.summary(found)

    def _build(self) -> revisions.Built:
        try:
            folder = revisions.read(self.folder)
        except FileError as error:
            return revisions.Built(revision=None, errors=revisions.each(error))
        return revisions.build(
            folder,
            unreviewed=self.unreviewed,
            at=self.clock.now(),
            prefix=f"{self.folder}/",
            servers=self.servers,
            terms=self.terms,
        )
