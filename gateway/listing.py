"""The lists of MCP: the checks that judge calls decide what of them a caller gets to see."""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias, assert_never

from gateway import jsontext
from gateway.case import Case
from gateway.clock import Clock
from gateway.contracts import answering, asking
from gateway.errors import BadCursor
from gateway.judging import LIST_CHECKS, judge
from gateway.revision import Revision
from gateway.steps import policy
from gateway.steps.contract import injected
from gateway.types.calls import Method, Nobody, Principal, ProposedCall
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, Listed, Sensitivity, Tool

_MOST_VIEWS = 1024

TOOL: Final = "weighbridge/tool"  # key in a listed tool's `_meta`


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How one list shows what it holds."""

    name: str  # the member that callers name an item by
    mark: str  # our key in an item's `_meta`
    method: Method  # what an item is listed for


_FORMS: Final[Mapping[Listed, _Form]] = {
    Listed.TOOLS: _Form(name="name", mark=TOOL, method=Method.CALL_TOOL),
    Listed.RESOURCES: _Form(name="uri", mark="weighbridge/resource", method=Method.READ_RESOURCE),
    Listed.TEMPLATES: _Form(
        name="uriTemplate", mark="weighbridge/resource", method=Method.READ_RESOURCE
    ),
    Listed.PROMPTS: _Form(name="name", mark="weighbridge/prompt", method=Method.GET_PROMPT),
}


class Catalogue(Protocol):
    """Everything that servers offer, and a number that changes when any of it does."""

    @property
    def version(self) -> int:
        """Counts the changes."""
        ...

    def tools(self) -> tuple[Tool, ...]:
        """Return every tool, sorted by exposed name."""
        ...

    def resources(self) -> tuple[Tool, ...]:
        """Return every listed resource, sorted by exposed URI."""
        ...

    def templates(self) -> tuple[Tool, ...]:
        """Return every template of resources, sorted by exposed template."""
        ...

    def prompts(self) -> tuple[Tool, ...]:
        """Return every prompt, sorted by exposed name."""
        ...


class Cases(Protocol):
    """Makes cases of what may be listed."""

    def case_for(self, call: ProposedCall, tool: Tool) -> Case | None:
        """Return the case of a call without looked-up facts; None where nothing may be called."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a list: definitions as they are exposed, in a stable order."""

    items: list[JsonObject]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class _View:
    """What one class of caller sees of one list."""

    definitions: list[JsonObject]
    schemas: dict[str, JsonObject]


def _view(definitions: Iterable[JsonObject]) -> _View:
    listed = list(definitions)
    schemas = {
        str(definition.get("name")): schema
        for definition in listed
        if isinstance(schema := definition.get("inputSchema"), dict)
    }
    return _View(listed, schemas)


_Last: TypeAlias = tuple[Principal | None, Revision | None, int, dict[str, JsonObject]]


@dataclass(slots=True, kw_only=True)
class Listing:
    """Lists per class of caller; a change of rights, rules or servers is seen at once.

    INVARIANT: the cache key holds everything that LIST_CHECKS may look at.
    """

    catalogue: Catalogue
    resolve: Cases
    revision: Callable[[], Revision]
    clock: Clock
    own: Callable[[], tuple[JsonObject, ...]] = tuple
    """Tools of the gateway's own, as the revision in force has them."""
    page_size: int = 200
    _cache: "dict[tuple[object, ...], _View]" = field(
        default_factory=dict[tuple[object, ...], _View]
    )

    _last: "tuple[Principal | None, Revision | None, int, dict[str, JsonObject]]" = (
        None,
        None,
        0,
        {},
    )

    def page(self, kind: Listed, principal: Principal, cursor: str | None) -> Page:
        """Return the page behind a cursor; raises BadCursor for one that isn't ours."""
        listed, name = self.visible(kind, principal), _FORMS[kind].name
        after = _position(cursor)
        rest = [item for item in listed if str(item[name]) > after] if after else listed
        shown = rest[: self.page_size]
        more = len(rest) > len(shown)
        return Page(items=shown, next_cursor=_cursor(str(shown[-1][name])) if more else None)

    def visible(self, kind: Listed, who: Principal) -> list[JsonObject]:
        """Return the definitions that this caller may see."""
        return self._view(kind, who).definitions

    def schema(self, principal: Principal, name: str) -> JsonObject | None:
        """Return the input schema under which this caller sees a tool, or None.

        The same object every time, for as long as nothing changes: fronts keep what they learn
        from it.
        """
        revision, version = self.revision(), self.catalogue.version
        known = self._last
        # Most calls are by whoever made the last one, and nothing has changed since.
        if known[0] is not principal or known[1] is not revision or known[2] != version:
            schemas = self._view(Listed.TOOLS, principal).schemas
            known = self._last = principal, revision, version, schemas
        return known[3].get(name)

    def _view(self, kind: Listed, who: Principal) -> "_View":
        revision = self.revision()
        # `received_at` is not in the key: conditions, which may read it, count as "may" here.
        key = (
            kind,
            self.catalogue.version,
            revision.id,
            who.tenant,
            who.user,
            who.client,
            who.roles,
            who.scopes,
            who.method,
        )
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= _MOST_VIEWS:
                self._cache.clear()
            call = self._stand_in(who, _FORMS[kind].method)
            definitions = [
                definition
                for tool in self._offered(kind)
                if (definition := self._definition(kind, call, tool)) is not None
            ]
            if kind is Listed.TOOLS:
                definitions = sorted([*definitions, *self.own()], key=lambda one: str(one["name"]))
            found = self._cache[key] = _view(definitions)
        return found

    def _offered(self, kind: Listed) -> tuple[Tool, ...]:
        match kind:
            case Listed.TOOLS:
                return self.catalogue.tools()
            case Listed.RESOURCES:
                return self.catalogue.resources()
            case Listed.TEMPLATES:
                return self.catalogue.templates()
            case Listed.PROMPTS:
                return self.catalogue.prompts()
            case _:
                assert_never(kind)

    def _stand_in(self, who: Principal, method: Method) -> ProposedCall:
        """Return what listing is judged by: a call of nothing, by this principal."""
        return ProposedCall(
            call_id="",
            name="",
            arguments={},
            meta={},
            principal=who,
            caller=Nobody(),
            received_at=self.clock.now(),
            method=method,
        )

    def _definition(self, kind: Listed, call: ProposedCall, tool: Tool) -> JsonObject | None:
        case = self.resolve.case_for(replace(call, name=tool.exposed_name), tool)
        if case is None:
            return None
        verdict = judge(case, LIST_CHECKS)
        return None if verdict.refusal is not None else exposed(kind, verdict.case)


def published(kind: Listed, tool: Tool) -> JsonObject:
    """Return a definition as its server has it, under its exposed name."""
    return {**tool.definition, _FORMS[kind].name: tool.exposed_name}


def exposed(kind: Listed, case: Case) -> JsonObject:
    """Return a definition as agents see it: every field as received, our own additions marked.

    An argument that the gateway fills in isn't asked for.
    """
    tool, form = case.tool, _FORMS[kind]
    about: JsonObject = {
        "server": tool.server,
        "effect": case.effect.value,
        "risk": case.risk.value,
    }
    definition: JsonObject = {**tool.definition, form.name: tool.exposed_name}
    overridden = _overridden_hints(case) if kind is Listed.TOOLS else {}
    if overridden:
        annotations = tool.definition.get("annotations")
        base = annotations if isinstance(annotations, dict) else {}
        definition["annotations"] = {**base, **overridden}
        about["overrides"] = [f"/annotations/{hint}" for hint in overridden]
    schema = tool.definition.get("inputSchema")
    if kind is Listed.TOOLS and isinstance(schema, dict):
        definition["inputSchema"] = asking.asked(schema, injected(case.contract))
    if kind is Listed.TOOLS:
        definition = _answered(case, definition)
    meta = tool.definition.get("_meta")
    definition["_meta"] = {**(meta if isinstance(meta, dict) else {}), form.mark: about}
    return definition


def _answered(case: Case, definition: JsonObject) -> JsonObject:
    """Have the output schema ask for nothing that may be withheld, by whatever rule."""
    schema = definition.get("outputSchema")
    if not isinstance(schema, dict):
        return definition
    rules = case.revision.policy.candidates(policy.request(case).target).enforced
    demands = [rule.obligations for rule in rules]
    secret = [
        path
        for path, sensitivity in case.contract.sensitive_results.items()
        if sensitivity is Sensitivity.SECRET
    ]
    redacted = [redaction.path for each in demands for redaction in each.output.redact] + secret
    if not redacted and not any(each.output.holds_back or each.rows for each in demands):
        return definition
    shown = answering.loosened(schema, {jsontext.tokens(path)[-1] for path in redacted if path})
    rest = {key: each for key, each in definition.items() if key != "outputSchema"}
    return rest if shown is None else {**definition, "outputSchema": shown}


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
