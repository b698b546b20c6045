"""What a draft leaves out and a person might take over: keys, what is one call, scopes, raises."""

import re
from collections.abc import Iterator

from gateway.contracts.draft_schema import arguments, mapping, plain, shown
from gateway.contracts.draft_sensitive import sensitive
from gateway.contracts.guess import Guess
from gateway.jsontext import escape
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Sensitivity, Tool

_KEY = re.compile(
    r"^(idempotency_(key|token|id)|request_(id|token)|client_(token|request_id|reference|ref)"
    r"|external_id|dedup(lication)?_(id|key)|transaction_id|message_dedup\w*)$"
)
# What somebody writes anew each time, and what only says how a call is to be made.
_WORDING = frozenset({
    "description", "comment", "comments", "note", "notes", "reason", "summary", "explanation",
    "element", "intent", "thought", "rationale",
})  # fmt: skip
_MANNER = frozenset({
    "verbose", "debug", "timeout", "timeout_ms", "wait", "dry_run", "format", "pretty", "locale",
    "page", "per_page", "page_size", "limit", "cursor", "fields", "include",
})  # fmt: skip
_RAISING = frozenset({
    "force", "forced", "overwrite", "recursive", "cascade", "hard", "permanent", "permanently",
    "all", "public", "no_verify", "skip_confirmation",
})  # fmt: skip
_SCOPE = re.compile(
    r"\bscopes?:?\s+[`'\"]?([a-z][\w.]*[:.][\w:.\-]+)"
    r"|[`'\"]([a-z][\w.\-]*:[\w:.\-]+)[`'\"] scopes?\b"
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WORD = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,100}\Z")  # RFC 6749, section 3.3
_MOST_SHOWN = 3


def offers(tool: Tool, effect: Effect) -> Iterator[Guess]:
    """Return what could be said beside a draft: none of it counts before a person takes it over."""
    taken = arguments(tool.definition)
    if effect is not Effect.READ:
        yield from _intent(taken)
        yield from _raises(taken)
    yield from _scopes(tool.definition)
    for pointer, kind, sign in sensitive(tool.definition.get("outputSchema")):
        if kind is Sensitivity.SECRET:
            why = f"results: {pointer} is secret {sign}; then it never leaves"
            yield Guess(
                field="results.sensitive", value={pointer: kind.value}, why=why, offered=True
            )


def _intent(taken: JsonObject) -> Iterator[Guess]:
    """Offer what makes two calls the same: a key that it takes, or all that is no wording."""
    keys = [name for name in taken if _KEY.match(plain(name))]
    if keys:
        place = f"/{escape(keys[0])}"
        why = f"the same call by {_few([place])}, which looks like a key of the caller's"
        yield Guess(field="idempotency.from", value=place, why=why, offered=True)
        return
    beside = [name for name in taken if plain(name) in _WORDING | _MANNER]
    kept = [f"/{escape(name)}" for name in taken if name not in beside]
    if not kept:
        return
    why = f"the same call by {_few(kept)}"
    if beside:
        why += f"; {_few(beside)} is wording or manner"
    yield Guess(field="idempotency.intent", value=[*kept], why=why, offered=True)


def _raises(taken: JsonObject) -> Iterator[Guess]:
    """Offer to count a call as destructive where a switch of it says that it stops at nothing."""
    for name, schema in taken.items():
        is_switch = mapping(schema).get("type") == "boolean"
        if is_switch and plain(name) in _RAISING and _IDENTIFIER.match(name):
            rule: JsonObject = {
                "when": f"has(args.{name}) && args.{name}",
                "effect": "destructive",
                "risk": "critical",
                "reason": f"with {name}",
            }
            why = f"critical with `{name}`, which says that it stops at nothing"
            yield Guess(field="risk_when", value=[rule], why=why, offered=True)


def _scopes(definition: JsonObject) -> Iterator[Guess]:
    """Offer the scopes that a definition itself speaks of: of its server, not of the gateway."""
    found: dict[str, str] = {}
    for holder in (definition, mapping(definition.get("_meta"))):
        schemes = holder.get("securitySchemes")
        for scheme in schemes if isinstance(schemes, list) else []:
            listed = mapping(scheme).get("scopes")
            for scope in listed if isinstance(listed, list) else []:
                if isinstance(scope, str) and _WORD.match(scope):
                    found.setdefault(scope, "its `securitySchemes` say so")
    description = definition.get("description")
    for match in _SCOPE.finditer(description[:8_000] if isinstance(description, str) else ""):
        found.setdefault((match[1] or match[2]).rstrip("."), "its description says so")
    if found:
        scopes, why = list(found), next(iter(found.values()))
        yield Guess(
            field="scopes",
            value=[*scopes],
            why=f"callers need {_few(scopes)}: {why}",
            offered=True,
        )


def _few(names: list[str]) -> str:
    """Return the first few of a stranger's words for one line of text."""
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(f"`{shown(name)}`" for name in names[:_MOST_SHOWN]) + more
