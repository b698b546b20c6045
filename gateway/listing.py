"""`tools/list`: the same checks that judge calls decide what a caller gets to see."""

import base64
import binascii
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from gateway.case import Case
from gateway.clock import Clock
from gateway.errors import BadCursor
from gateway.pipeline import LIST_CHECKS, judge
from gateway.revision import Revision
from gateway.steps.resolve import Resolve
from gateway.types.calls import Nobody, Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, Tool

_MOST_VIEWS = 256

TOOL = "weighbridge/tool"  # key in a listed tool's `_meta`


class Catalogue(Protocol):
    """All tools of all servers, and a number that changes when any of them does."""

    @property
    def version(self) -> int:
        """Counts the changes."""
        ...

    def tools(self) -> tuple[Tool, ...]:
        """Return every tool, sorted by exposed name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPage:
    """One page of `tools/list`: definitions as they are exposed, in a stable order."""

    tools: list[JsonObject]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class _View:
    """What one class of caller sees."""

    definitions: list[JsonObject]
    schemas: dict[str, JsonObject]


def _view(definitions: Iterable[JsonObject]) -> _View:
    listed = list(definitions)
    schemas = {
        str(definition["name"]): schema
        for definition in listed
        if isinstance(schema := definition.get("inputSchema"), dict)
    }
    return _View(listed, schemas)


@dataclass(slots=True, kw_only=True)
class Listing:
    """Lists per class of caller; a change of rights, rules or tools is seen at once.

    INVARIANT: the cache key holds everything that LIST_CHECKS may look at.
    """

    catalogue: Catalogue
    resolve: Resolve
    revision: Callable[[], Revision]
    clock: Clock
    page_size: int = 200
    _cache: "dict[tuple[object, ...], _View]" = field(
        default_factory=dict[tuple[object, ...], _View]
    )

    def page(self, principal: Principal, cursor: str | None) -> ToolPage:
        """Return the page behind a cursor; raises BadCursor for one that isn't ours."""
        listed = self.visible(principal)
        after = _position(cursor)
        rest = [tool for tool in listed if str(tool["name"]) > after] if after else listed
        shown = rest[: self.page_size]
        more = len(rest) > len(shown)
        return ToolPage(tools=shown, next_cursor=_cursor(str(shown[-1]["name"])) if more else None)

    def visible(self, who: Principal) -> list[JsonObject]:
        """Return the definitions that this caller may see."""
        return self._view(who).definitions

    def _view(self, who: Principal) -> "_View":
        revision = self.revision()
        # `received_at` is not in the key: conditions, which may read it, count as "may" here.
        key = (
            self.catalogue.version,
            revision.id,
            who.tenant,
            who.user,
            who.client,
            who.roles,
            who.scopes,
        )
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= _MOST_VIEWS:
                self._cache.clear()
            call = self._stand_in(who)
            found = self._cache[key] = _view(
                definition
                for tool in self.catalogue.tools()
                if (definition := self._definition(call, tool)) is not None
            )
        return found

    def schema(self, principal: Principal, name: str) -> JsonObject | None:
        """Return the input schema under which this caller sees a tool, or None.

        The same object every time, for as long as nothing changes: fronts keep what they learn
        from it.
        """
        return self._view(principal).schemas.get(name)

    def _stand_in(self, who: Principal) -> ProposedCall:
        """Return what listing is judged by: a call of nothing, by this principal."""
        return ProposedCall(
            call_id="",
            name="",
            arguments={},
            meta={},
            principal=who,
            caller=Nobody(),
            received_at=self.clock.now(),
        )

    def _definition(self, call: ProposedCall, tool: Tool) -> JsonObject | None:
        case = self.resolve.case_for(replace(call, name=tool.exposed_name), tool)
        if case is None:
            return None
        verdict = judge(case, LIST_CHECKS)
        return None if verdict.refusal is not None else exposed(verdict.case)


def exposed(case: Case) -> JsonObject:
    """Return a definition as agents see it: every field as received, our own additions marked."""
    tool = case.tool
    about: JsonObject = {
        "server": tool.server,
        "effect": case.effect.value,
        "risk": case.risk.value,
    }
    definition: JsonObject = {**tool.definition, "name": tool.exposed_name}
    overridden = _overridden_hints(case)
    if overridden:
        annotations = tool.definition.get("annotations")
        base = annotations if isinstance(annotations, dict) else {}
        definition["annotations"] = {**base, **overridden}
        about["overrides"] = [f"/annotations/{hint}" for hint in overridden]
    meta = tool.definition.get("_meta")
    definition["_meta"] = {**(meta if isinstance(meta, dict) else {}), TOOL: about}
    return definition


def _overridden_hints(case: Case) -> dict[str, Json]:
    """Correct hints that play a call down: hosts skip their confirmation because of them."""
    annotations = case.tool.definition.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    corrected: dict[str, Json] = {}
    if case.effect is not Effect.READ and hints.get("readOnlyHint") is True:
        corrected["readOnlyHint"] = False
    if case.effect is Effect.DESTRUCTIVE and hints.get("destructiveHint") is False:
        corrected["destructiveHint"] = True
    return corrected


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(b"after:" + name.encode()).decode()


def _position(cursor: str | None) -> str:
    if cursor is None:
        return ""
    try:
        text = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise BadCursor("the cursor is not one of ours") from error
    if not text.startswith("after:"):
        raise BadCursor("the cursor is not one of ours")
    return text.removeprefix("after:")
