"""Catalogues and revisions that a test can change."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.case import Origin
from gateway.clock import SystemClock
from gateway.pipeline import sees
from gateway.revision import Revision
from gateway.runs.origins import Asked
from gateway.steps.resolve import Resolve
from gateway.types.actors import Actor
from gateway.types.json import Json, JsonPointer
from gateway.types.runs import Phase
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

    async def find_origins(
        self, actor: Actor, run_id: str, asked: Mapping[JsonPointer, Asked]
    ) -> Mapping[JsonPointer, tuple[Origin, ...]]:
        del actor, run_id, asked
        return {}

    async def find_near(
        self, actor: Actor, run_id: str, asked: Mapping[JsonPointer, Asked]
    ) -> Mapping[JsonPointer, Json]:
        del actor, run_id, asked
        return {}

    async def is_tainted(self, actor: Actor) -> bool:
        del actor
        return False


def a_resolve(shelf: Shelf, law: Law) -> Resolve:
    """Return the first step over a shelf and a law."""
    return Resolve(
        catalogue=shelf,
        revision=lambda: law.revision,
        clock=SystemClock(),
        default_phase=Phase.ACTING,
        seen=NothingSeen(),
        sees=sees,
    )
