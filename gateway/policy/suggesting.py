"""The narrowest rules that would have allowed what was allowed: a draft for people to look at."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from gateway.policy.inline import inline
from gateway.policy.past import Past
from gateway.types.calls import Method
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract, Kind
from gateway.yamltext.editors import schema_line

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ID: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LARGEST: Final = 2**63
_MOST_WORDS: Final = 20

Subject: TypeAlias = tuple[Kind, Method, str, str]  # with key and server


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One rule of a draft, and what it was made from."""

    id: str
    subject: Subject
    match: JsonObject
    when: str  # empty: nothing to hold arguments against
    calls: int
    users: int
    by: tuple[str, ...]  # the rules that had allowed the calls
    notes: tuple[str, ...] = ()


def suggest(
    allowed: Iterable[Past],
    contracts: Mapping[str, Contract],
    asked: Mapping[str, frozenset[str]] | None = None,
) -> tuple[Suggestion, ...]:
    """Draft one rule for each thing that was used, by the method it was used with.

    `asked` has the scopes that rules ask for, by rule: of those that callers had, the draft asks
    for these and for those of the contract; what else a key could do was not needed.
    """
    found: dict[Subject, list[Past]] = {}
    for past in allowed:
        server = past.server if past.kind is Kind.RESOURCE else ""
        found.setdefault((past.kind, past.method, past.key, server), []).append(past)
    taken: set[str] = set()
    return tuple(
        _suggestion(subject, pasts, contracts.get(subject[2]), taken, asked or {})
        for subject, pasts in sorted(found.items())
    )


def draft(suggestions: Sequence[Suggestion], *, of: str, unused: Sequence[str] = ()) -> str:
    """Return a file of rules in shadow mode; `of` says what it was made from."""
    lines = [
        schema_line("policy").rstrip(),
        f"# Drafted from what was allowed: {of}. Nothing is enforced by this file: look at every",
        "# rule, compare (`weighbridge policy shadow`), then remove the line `mode`.",
        "# What the rules named here demand beside (constrain, limits, output) is not drafted.",
        "apiVersion: weighbridge/v1",
        "kind: PolicySet",
        "mode: shadow",
        "rules:" if suggestions else "rules: []",
    ]
    for each in suggestions:
        by = ", ".join(each.by) or "no rule"
        used = f"{counted(each.calls, 'call')} by {counted(each.users, 'user')}"
        lines.append(f"  # {used}, allowed by {by}")
        lines += [f"  # {' '.join(note.split())}" for note in each.notes]
        lines += [f"  - id: {each.id}", "    decision: allow", f"    match: {inline(each.match)}"]
        if each.when:
            lines.append(f"    when: {inline(each.when)}")
    if unused:
        lines += [
            "",
            "# Never used in this time:",
            *(f"# - {' '.join(said.split())}" for said in unused),
        ]
    return "\n".join(lines) + "\n"


def counted(number: int, word: str) -> str:
    """Return a number with what it counts."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _suggestion(
    subject: Subject,
    pasts: Sequence[Past],
    contract: Contract | None,
    taken: set[str],
    asked: Mapping[str, frozenset[str]],
) -> Suggestion:
    needed = contract.scopes if contract is not None else frozenset[str]()
    needed = needed.union(*(asked.get(past.rule, frozenset()) for past in pasts))
    kind, method, key, _ = subject
    terms, notes = _conditions(pasts, contract)
    return Suggestion(
        id=_id(key if pasts[0].is_use else f"{key}.{method}", taken),
        subject=subject,
        match=_match(subject, pasts, needed),
        when=" && ".join(terms),
        calls=len(pasts),
        users=len({(past.actor.tenant, past.actor.user) for past in pasts}),
        by=tuple(sorted({past.rule for past in pasts if past.rule})),
        notes=(*notes, *_glob_note(kind, key)),
    )


def _id(key: str, taken: set[str]) -> str:
    base = "suggested." + (_ID.sub("-", key).strip("-.")[:100] or "call")
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name


def _glob_note(kind: Kind, key: str) -> Iterator[str]:
    if set("*?") & set(key):
        yield f"its {kind} has a wild sign in its name, which the pattern takes for any text"


def _match(subject: Subject, pasts: Sequence[Past], needed: frozenset[str]) -> JsonObject:
    kind, method, key, server = subject
    found: JsonObject = {f"{kind.value}s": [key]}
    if server:
        found["servers"] = [server]
    if not pasts[0].is_use or kind is not Kind.TOOL:
        found["methods"] = [method.value]
    found |= _people(pasts, needed)
    found["tenants"] = list[Json](sorted({past.actor.tenant for past in pasts}))
    found["phases"] = list[Json](dict.fromkeys(sorted(past.phase.value for past in pasts)))
    templates = {past.template for past in pasts}
    if "" not in templates:
        found["templates"] = list[Json](sorted(templates))
    if kind is Kind.TOOL and method is Method.CALL_TOOL:
        found["causes"] = list[Json](sorted({past.cause.value for past in pasts}))
    return found


def _people(pasts: Sequence[Past], needed: frozenset[str]) -> JsonObject:
    """Return roles that all who called have; else some of which each has one; else who they are."""
    found: JsonObject = {}
    scopes = _common([past.actor.scopes for past in pasts]) & needed
    if scopes:
        found["scopes"] = {"all": list[Json](sorted(scopes))}
    held = [past.actor.roles for past in pasts]
    common = _common(held)
    if common:
        found["roles"] = {"all": list[Json](sorted(common))}
    elif all(held):
        found["roles"] = {"any": list[Json](_cover(held))}
    else:
        found["users"] = list[Json](sorted({past.actor.user for past in pasts}))
    return found


def _common(held: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return what everybody has."""
    return frozenset(name for name in held[0] if all(name in each for each in held))


def _cover(held: Iterable[frozenset[str]]) -> list[str]:
    """Return few roles of which everybody has at least one."""
    left: set[frozenset[str]] = {*held}
    chosen: list[str] = []
    while left:
        names = sorted({name for roles in left for name in roles})
        best = max(names, key=lambda name: sum(name in roles for roles in left))
        chosen.append(best)
        left = {roles for roles in left if best not in roles}
    return sorted(chosen)


def _conditions(
    pasts: Sequence[Past], contract: Contract | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what held of the arguments of all calls, and what is to be said of the others."""
    schema = contract.input_schema if contract is not None else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    known = properties if isinstance(properties, dict) else {}
    terms: list[str] = []
    notes: list[str] = []
    for name in known:
        hidden = sum(_is_hidden(past, name) for past in pasts)
        if hidden:
            notes.append(f"`{name}` is not bounded: of {counted(hidden, 'call')} it is not known")
            continue
        values = [past.arguments[name] for past in pasts if name in past.arguments]
        term = _term(name, values, known[name])
        if not values:
            terms.append(f"!{_has(name)}")
        elif term and len(values) < len(pasts):
            terms.append(f"(!{_has(name)} || {term})")
        elif term:
            terms.append(term)
    return tuple(terms), tuple(notes)


def _is_hidden(past: Past, name: str) -> bool:
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    return any(place in ("", pointer) or place.startswith(f"{pointer}/") for place in past.unknown)


def _term(name: str, values: Sequence[Json], schema: Json) -> str:
    """Return what bounds one argument, or an empty text: texts without a list are as they like."""
    at = _access(name)
    numbers = [each for each in values if _is_number(each)]
    if numbers and len(numbers) == len(values):
        return f"{at} <= {_number(numbers)}" if all(map(_fits, numbers)) else ""
    if all(isinstance(each, bool) for each in values) and values:
        seen = {each for each in values if isinstance(each, bool)}
        return f"{at} == {str(seen.pop()).lower()}" if len(seen) == 1 else ""
    is_listed = isinstance(schema, dict) and ("enum" in schema or "const" in schema)
    words = sorted({each for each in values if isinstance(each, str)})
    if is_listed and len(words) <= _MOST_WORDS and all(isinstance(each, str) for each in values):
        return f"{at} in [{', '.join(map(_quoted, words))}]"
    return ""


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _fits(value: Json) -> bool:
    """Whether an expression can hold a number."""
    if isinstance(value, int):
        return -_LARGEST <= value < _LARGEST
    return isinstance(value, float) and math.isfinite(value)


def _number(values: Iterable[Json]) -> str:
    """Write the largest as a decimal: a JSON number may come as either kind."""
    largest = max(each for each in values if isinstance(each, int | float))
    if isinstance(largest, int):
        return f"{largest}" if abs(largest) > 2**53 else f"{largest}.0"
    return repr(largest)


def _access(name: str) -> str:
    return f"args.{name}" if _IDENTIFIER.fullmatch(name) else f"args[{_quoted(name)}]"


def _has(name: str) -> str:
    if _IDENTIFIER.fullmatch(name):
        return f"has(args.{name})"
    return f"({_quoted(name)} in args)"


def _quoted(word: str) -> str:
    """Write a text as CEL reads it back."""
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + "".join(_sign(sign) for sign in escaped) + "'"


def _sign(sign: str) -> str:
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) <= 0xFFFF else f"\\U{ord(sign):08x}"
