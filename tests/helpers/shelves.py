"""Catalogues and revisions that a test can change."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gateway.case import Traced
from gateway.clock import SystemClock
from gateway.crossing.belonging import Belonging
from gateway.events.redact import Redactor
from gateway.judging import sees
from gateway.revision import Revision
from gateway.runs.binding import Chain
from gateway.runs.origins import Asked
from gateway.steps.resolve import Resolve
from gateway.store.runs import Started, Told
from gateway.store.store import Store
from gateway.types.actors import Actor
from gateway.types.calls import Principal
from gateway.types.json import JsonPointer
from gateway.types.runs import Bound, Phase, Place, Run
from gateway.types.tools import Ambiguous, Kind, Tool


@dataclass
class Shelf:
    """A catalogue of what stands on it; templates are the resources with a brace."""

    held: tuple[Tool, ...]
    version: int = 0
    shared: dict[str, Ambiguous] = field(default_factory=dict[str, Ambiguous])

    def tools(self) -> tuple[Tool, ...]:
        return self._of(Kind.TOOL)

    def prompts(self) -> tuple[Tool, ...]:
        return self._of(Kind.PROMPT)

    def resources(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self._of(Kind.RESOURCE) if "{" not in tool.name)

    def templates(self) -> tuple[Tool, ...]:
        return tuple(tool for tool in self._of(Kind.RESOURCE) if "{" in tool.name)

    def find(self, exposed_name: str) -> Tool | None:
        return _named(self.tools(), exposed_name)

    def prompt(self, exposed_name: str) -> Tool | None:
        return _named(self.prompts(), exposed_name)

    def resource(self, uri: str) -> Tool | Ambiguous | None:
        return self.shared.get(uri) or _named(self.resources(), uri)

    def template(self, uri_template: str) -> Tool | Ambiguous | None:
        return _named(self.templates(), uri_template)

    def _of(self, kind: Kind) -> tuple[Tool, ...]:
        return tuple(tool for tool in self.held if tool.kind is kind)


def _named(tools: tuple[Tool, ...], exposed_name: str) -> Tool | None:
    return next((tool for tool in tools if tool.exposed_name == exposed_name), None)


@dataclass
class Law:
    """A revision that a test can change."""

    revision: Revision


class NothingSeen:
    """An index of what callers were given that holds nothing."""

    async def trace(
        self,
        actor: Actor,
        run_id: str,
        asked: Mapping[JsonPointer, Asked],
        doubted: Collection[JsonPointer],
    ) -> Traced:
        del actor, run_id, asked, doubted
        return Traced(origins={}, near={})

    async def is_tainted(self, actor: Actor) -> bool:
        del actor
        return False


class NoRuns:
    """Tables of runs that nobody looks at."""

    async def bound(
        self, principal: Principal, places: Sequence[Place], *, with_counts: bool = False
    ) -> list[Bound]:
        raise NotImplementedError(principal, places, with_counts)

    async def get(self, run_id: str) -> Run | None:
        raise NotImplementedError(run_id)

    async def start(
        self, run: Run, places: Sequence[Place], told: Started, *, joins: bool = False
    ) -> Run:
        raise NotImplementedError(run, places, told, joins)

    async def change(self, before: Run, after: Run, told: Told) -> Run | None:
        raise NotImplementedError(before, after, told)

    async def move(self, before: Run, after: Run, told: Told) -> Run | None:
        raise NotImplementedError(before, after, told)

    def owner(self, principal: Principal) -> str:
        raise NotImplementedError(principal)

    def touched(self, run_id: str, at: datetime, *, calls: int = 1, tokens: int = 0) -> None:
        raise NotImplementedError(run_id, at, calls, tokens)


def a_belonging(law: Law, store: Store | None = None, **changes: Any) -> Belonging:
    """Return what finds the runs of calls, where a law has templates or `is_enabled` says so."""
    values: dict[str, Any] = {
        "runs": NoRuns() if store is None else store.runs,
        "revision": lambda: law.revision,
        "clock": SystemClock(),
        "redactor": Redactor(lambda tenant: tenant.encode().ljust(32, b"0")),
        "chain": Chain(),
    }
    return Belonging(**(values | changes))


def a_resolve(shelf: Shelf, law: Law, belonging: Belonging | None = None) -> Resolve:
    """Return the first step over a shelf and a law."""
    return Resolve(
        catalogue=shelf,
        revision=lambda: law.revision,
        clock=SystemClock(),
        default_phase=Phase.ACTING,
        seen=NothingSeen(),
        sees=sees,
        belonging=belonging or a_belonging(law),
    )
