"""A first contract for a tool that nobody reviewed: guesses, and only towards caution."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.contracts.guess import Guess
from gateway.contracts.pins import pinned
from gateway.jsontext import escape
from gateway.types.guarantees import Compensation, CompensationClass
from gateway.types.json import Json, JsonObject, JsonPointer
from gateway.types.tools import Contract, Effect, Risk, Sensitivity, SourceTrust, Tool

# fmt: off
_READS = frozenset({
    "get", "list", "search", "read", "fetch", "find", "describe", "show", "view", "query",
    "lookup", "count", "browse", "status", "inspect", "retrieve", "select", "summarize",
})
_DESTROYS = frozenset({
    "delete", "remove", "drop", "wipe", "destroy", "purge", "erase", "truncate", "reset",
    "revoke", "terminate", "kill", "uninstall", "unlink", "rm", "overwrite", "shred",
})
_JOINS = frozenset({"and", "or", "then"})  # `get_or_create` does more than it says first
_DRIVES = frozenset({
    "sql", "command", "cmd", "code", "script", "shell", "statement", "force", "overwrite",
    "dry_run", "confirm",
})
# fmt: on
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_SECRET = re.compile(
    r"(^|_)(password|passwd|passphrase|secret|token|api_?key|credential|private_?key|pin|cvv|cvc)s?($|_)"
)
# Of language models and of pages, a token is counted or pointed with, and opens nothing.
_NO_CREDENTIAL = re.compile(
    r"(^|_)((max|min|num|n|total)_([a-z]+_)*tokens?|(budget|input|output|prompt|completion)_tokens"
    r"|tokens?_(count|limit|budget|usage|total|length|type)|tokens_(used|left|remaining|per|in|out)"
    r"|(next|page|continuation)_token)($|_)"
)
_COUNTS, _SWITCHES = frozenset({"integer", "number"}), frozenset({"boolean", "null"})
_PERSONAL = re.compile(
    r"(^|_)(e_?mail|phone|iban|ssn|birth\w*|address|first_name|last_name|full_name|passport)s?($|_)"
)
_DEEPEST = 8
_NO_WAY_BACK = Compensation(
    kind=CompensationClass.IRREVERSIBLE, reason="nobody has looked for a way back yet"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A drafted contract, and for each guess why it was made."""

    contract: Contract
    guesses: tuple[Guess, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each guess was made, one line each, as comments of a contract file."""
        return tuple(guess.why for guess in self.guesses)


def reasons(tool: Tool) -> tuple[Guess, ...]:
    """Return what is guessed about a tool, and why: first the effect, then the rest."""
    return draft(tool).guesses


def draft(tool: Tool) -> Draft:
    """Guess a contract; what a server says about its tool raises a guess, and never lowers one."""
    effect, risk, reason = _by_name(tool.name)
    effect, risk, raised = _raised(effect, risk, tool.definition)
    sensitive = dict(_sensitive(tool.definition.get("inputSchema"), ""))
    noted = [
        Guess(
            field="sensitive",
            value={pointer: found.value},
            why=f"{found} by its name: {pointer}",
        )
        for pointer, found in sensitive.items()
    ]
    is_open = _map(tool.definition.get("annotations")).get("openWorldHint") is True
    if is_open:
        trust = SourceTrust.EXTERNAL
        why = "external: its server says that it reaches out to an open world"
        noted.append(Guess(field="results.trust", value=trust.value, why=why))
    contract = Contract(
        tool=tool.key,
        pin=tool.pin,
        effect=effect,
        risk=risk,
        definition=pinned(tool.definition),
        reviewed=False,
        sensitive=sensitive,
        result_trust=SourceTrust.EXTERNAL if is_open else SourceTrust.TENANT,
        compensation=None if effect is Effect.READ else _NO_WAY_BACK,
    )
    judged = [Guess(field="effect", value=effect.value, why=why) for why in (reason, *raised)]
    return Draft(contract=contract, guesses=(*judged, *noted))


def words(name: str) -> list[str]:
    """Split a tool name such as `getUser_v2` into lower-case words."""
    return [word.lower() for word in _WORD.findall(name)]


def _by_name(name: str) -> tuple[Effect, Risk, str]:
    """Judge by the verbs: a destructive one counts anywhere, a reading one only if it leads."""
    found = words(name)
    for word in found:
        if word in _DESTROYS:
            return Effect.DESTRUCTIVE, Risk.CRITICAL, f"destructive: `{word}` in its name"
    if found and found[0] in _READS:
        if _JOINS.isdisjoint(found):
            return Effect.READ, Risk.LOW, f"read: its name starts with `{found[0]}`"
        return Effect.WRITE, Risk.HIGH, "write: its name says that it does several things"
    return Effect.WRITE, Risk.HIGH, "write: its name doesn't say that it only reads"


def _raised(
    effect: Effect, risk: Risk, definition: JsonObject
) -> tuple[Effect, Risk, tuple[str, ...]]:
    """Raise a guess by what the definition says against it."""
    hints = _map(definition.get("annotations"))
    arguments = _map(_map(definition.get("inputSchema")).get("properties"))
    drives = sorted(_DRIVES.intersection("_".join(words(name)) for name in arguments))
    # Beside `readOnlyHint: true` the other hint means nothing (MCP, ToolAnnotations).
    destroys = hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
    if destroys and effect is not Effect.DESTRUCTIVE:
        return Effect.DESTRUCTIVE, Risk.CRITICAL, ("raised to destructive: its server says so",)
    if effect is not Effect.READ:
        return effect, risk, ()
    if hints.get("readOnlyHint") is False:
        return Effect.WRITE, Risk.HIGH, ("raised to write: its server says that it writes",)
    if drives:
        return Effect.WRITE, Risk.HIGH, (f"raised to write: it takes a `{drives[0]}`",)
    if hints.get("openWorldHint") is True:
        return effect, Risk.MEDIUM, ("raised to medium: it reaches out to an open world",)
    return effect, risk, ()


def _map(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _sensitive(schema: Json, pointer: JsonPointer) -> Iterator[tuple[JsonPointer, Sensitivity]]:
    """Find the arguments, nested ones included, whose names promise secrets or persons."""
    if pointer.count("/") > _DEEPEST:
        return
    properties = _map(_map(schema).get("properties"))
    for name, inner in properties.items():
        place = f"{pointer}/{escape(name)}"
        plain = "_".join(words(name))
        if _is_secret(plain, inner):
            yield place, Sensitivity.SECRET
        elif _PERSONAL.search(plain):
            yield place, Sensitivity.PERSONAL
        else:
            yield from _sensitive(inner, place)


def _is_secret(plain: str, schema: Json) -> bool:
    """Tell credentials from what is only counted in the same word, by name and declared type."""
    found = _SECRET.search(plain)
    if found is None:
        return False
    types = frozenset(_types(schema))
    if "boolean" in types and types <= _SWITCHES:
        return False
    if found[2] != "token":
        return True  # a PIN may well be a number
    return not _NO_CREDENTIAL.search(plain) and not (
        types & _COUNTS and types <= _COUNTS | _SWITCHES
    )


def _types(schema: Json) -> Iterator[str]:
    """Return the types that a schema declares, `any` for an open alternative."""
    here = _map(schema)
    declared = here.get("type")
    for each in declared if isinstance(declared, list) else [declared]:
        if isinstance(each, str):
            yield each
    for word in ("anyOf", "oneOf"):
        options = here.get(word)
        for option in options if isinstance(options, list) else []:
            yield from [*_types(option)] or ["any"]
