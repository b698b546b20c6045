"""What a tool does, guessed from its name, its description, its arguments and its annotations."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.contracts.draft_schema import arguments, mapping, plain, shown
from gateway.contracts.draft_words import (
    CHANGES,
    CHANGES_PERHAPS,
    DESTROYS,
    JOINS,
    READS,
    READS_PERHAPS,
    RUNS,
    TELLS_OF_READING,
    is_plain,
    own_words,
    stem,
    words,
)
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, Risk, Tool

# fmt: off
_PROGRAMS = frozenset({
    "sql", "command", "cmd", "code", "script", "shell", "statement", "function", "expression",
    "program",
})
_SWITCHES = frozenset({"force", "overwrite", "dry_run", "confirm"})
_CHOICES = frozenset({"action", "operation", "op", "method", "http_method", "verb"})
_FILES = frozenset({
    "filename", "file_name", "output", "output_file", "output_path", "output_dir", "out_file",
    "save_to", "save_path", "save_as", "destination", "dest", "target_path",
})
_BODIES = frozenset({"body", "payload", "post_data", "request_body", "form_data", "data"})
_ADDRESSES = frozenset({"url", "urls", "uri", "uris", "href", "link", "endpoint"})
_SECRETS = frozenset({
    "env", "environment", "secret", "secrets", "credential", "credentials", "password",
    "passwords", "cookie", "cookies", "token", "tokens", "storage", "localstorage",
    "sessionstorage", "keys", "keychain", "vault",
})
# fmt: on
_TELLS_SECRETS = re.compile(
    r"\b(environment variables?|credentials?|secrets?|passwords?|cookies?|api keys?"
    r"|private keys?|connection strings?)\b",
    re.IGNORECASE,
)
_SQL_WRITES = re.compile(r"\b(INSERT|UPDATE|ALTER|MERGE|UPSERT|CREATE TABLE|GRANT)\b")
_SQL_DESTROYS = re.compile(r"\b(DELETE|DROP|TRUNCATE)\b")
_LANGUAGES = re.compile(r"\b(SQL|Cypher|JavaScript|TypeScript|Python|shell|bash|Lua|GraphQL)\b")
_PASSIVE = re.compile(
    r"\b(?:will|to|can|gets?) be (created|updated|deleted|removed|modified|changed|overwritten"
    r"|sent|marked|executed|replaced|written|restarted|stopped|saved)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:^|[.!?;:]\s+|\n[\s\-*#\d.)]*)([A-Za-z]+)")
_JOINED = re.compile(
    r"(?:\b(?:and|or|then|also|optionally|can|will)\s+|[,/&]\s*(?:and |or |then )?)([A-Za-z]+)"
)
# Later sentences often tell the model what to do ("Set `all` to …"), and not what the tool does.
_TOLD_LATER = DESTROYS | frozenset({"create", "update", "modify", "insert", "edit", "replace"})
_LONGEST = 8_000  # of a description; what comes after it is no description any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An effect, a class, and the lines that led there, one for each."""

    effect: Effect
    risk: Risk
    effect_whys: tuple[str, ...]
    risk_whys: tuple[str, ...] = ()


def judge(tool: Tool) -> Judgement:
    """Guess effect and class: a read has to be told by all signs, and each sign may only raise."""
    found = own_words(tool.name, tool.server)
    if "fetch" in found and "git" in words(f"{tool.server} {tool.name}"):
        found = ["update", *found]  # of git, it changes what the repository knows of others
    description = _without_owner(_text(tool.definition.get("description"))[:_LONGEST], tool.server)
    taken = arguments(tool.definition)
    effect, why = _by_name(found, description)
    if effect is Effect.READ and not is_plain(tool.name):
        effect, why = Effect.WRITE, "write: its name has letters that may look like others"
    whys = [why]
    for raised, because in (
        *_by_program(found, taken),
        *_by_title(tool.definition),
        *_by_description(description),
        *_by_arguments(taken),
        *_by_hints(mapping(tool.definition.get("annotations"))),
    ):
        if raised.rank > effect.rank:
            effect = raised
            whys.append(f"raised to {raised}: {because}")
    if effect is not Effect.READ:
        risk = Risk.CRITICAL if effect is Effect.DESTRUCTIVE else Risk.HIGH
        return Judgement(effect=effect, risk=risk, effect_whys=tuple(whys))
    notes = tuple(_read_risks(tool, found, description, taken))
    return Judgement(
        effect=effect,
        risk=Risk.MEDIUM if notes else Risk.LOW,
        effect_whys=tuple(whys),
        risk_whys=tuple(f"raised to medium: {note}" for note in notes),
    )


def _by_name(found: list[str], description: str) -> tuple[Effect, str]:
    """Judge by the verbs: a destructive one counts anywhere, a reading one where it leads."""
    for word in found:
        if word in DESTROYS:
            return Effect.DESTRUCTIVE, f"destructive: `{word}` in its name"
    unsure = Effect.WRITE, "write: its name doesn't say that it only reads"
    if not found:
        return unsure
    if not JOINS.isdisjoint(found):
        return Effect.WRITE, "write: its name says that it does several things"
    for word in found:
        if word in CHANGES:
            return Effect.WRITE, f"write: `{word}` in its name"
    opening = _opening(description)
    # `get_commit` reads, and `list_push` may not: then the description has to say so.
    may_be_deed = not CHANGES_PERHAPS.isdisjoint(found)
    if found[0] in READS and (not may_be_deed or opening in TELLS_OF_READING):
        return Effect.READ, f"read: its name starts with `{found[0]}`"
    readers = [word for word in found if word in READS or word in READS_PERHAPS]
    if readers and not may_be_deed and opening in TELLS_OF_READING:
        said = f"`{readers[0]}` in its name, and its description begins with `{opening}`"
        return Effect.READ, f"read: {said}"
    return unsure


def _by_program(found: list[str], taken: JsonObject) -> Iterator[tuple[Effect, str]]:
    """Whoever runs what he is given can do anything: a name says so, or a language beside it."""
    runs = not RUNS.isdisjoint(found) or any(plain(name) == "language" for name in taken)
    for name, schema in taken.items():
        if plain(name) in _PROGRAMS and (runs or _is_program(schema)):
            yield Effect.DESTRUCTIVE, f"it runs the `{shown(name)}` that it is given"
            return


def _by_title(definition: JsonObject) -> Iterator[tuple[Effect, str]]:
    """Look at the names for people: `Delete user` is one whatever the tool is called."""
    for holder in (definition, mapping(definition.get("annotations"))):
        first = _opening(_text(holder.get("title"))[:_LONGEST])
        if first in DESTROYS:
            yield Effect.DESTRUCTIVE, f"its title begins with `{first}`"
        elif first in CHANGES:
            yield Effect.WRITE, f"its title begins with `{first}`"


def _by_description(description: str) -> Iterator[tuple[Effect, str]]:
    """Look for deeds: how sentences begin, what is joined to them, and what will be done."""
    first = _opening(description)
    if first in DESTROYS:
        yield Effect.DESTRUCTIVE, f"its description begins with `{first}`"
    if match := _SQL_DESTROYS.search(description):
        yield Effect.DESTRUCTIVE, f"its description says `{match[0]}`"
    if first in CHANGES or first in CHANGES_PERHAPS:
        yield Effect.WRITE, f"its description begins with `{first}`"
    for match in _SENTENCE.finditer(description):
        word = stem(match[1])
        if word in _TOLD_LATER:
            yield Effect.WRITE, f"its description says `{match[1].lower()}`"
    sentence = re.split(r"(?<=[.!?])\s|\n", description, maxsplit=1)[0]
    for match in _JOINED.finditer(sentence):
        word = match[1].lower()
        if (word in CHANGES or word in DESTROYS) or (
            _is_third_person(description) and word.endswith("s") and stem(word) in CHANGES
        ):
            yield Effect.WRITE, f"its description says `{word}`"
    for pattern in (_PASSIVE, _SQL_WRITES):
        if match := pattern.search(description):
            yield Effect.WRITE, f"its description says `{match[0]}`"


def _by_arguments(taken: JsonObject) -> Iterator[tuple[Effect, str]]:
    """Look for programs, switches, files to write, and choices that name a deed."""
    goes_out = any(plain(name) in _ADDRESSES for name in taken)
    for name, schema in taken.items():
        spelled, named = plain(name), shown(name)
        parts = spelled.split("_")
        if spelled in _PROGRAMS or spelled in _SWITCHES:
            yield Effect.WRITE, f"it takes a `{named}`"
        elif spelled in _FILES and not list(_choices(schema)):  # else it is the name of a form
            yield Effect.WRITE, f"it may write to the `{named}` that it is given"
        elif spelled in _BODIES and goes_out:
            yield Effect.WRITE, f"it may send the `{named}` that it is given"
        elif parts[0] in CHANGES - {"store"} or parts[0] in DESTROYS:
            yield Effect.WRITE, f"it takes `{named}`"
        elif _is_program(schema):
            yield Effect.WRITE, f"its `{named}` is a program"
        deeds = [choice for choice in _choices(schema) if _is_deed(choice)]
        if deeds:
            yield Effect.WRITE, f"its `{named}` may be `{shown(deeds[0])}`"
        elif spelled in _CHOICES and not list(_choices(schema)):
            yield Effect.WRITE, f"its `{named}` may be anything"


def _by_hints(hints: JsonObject) -> Iterator[tuple[Effect, str]]:
    """Take a server at its word where it speaks against its tool, and nowhere else."""
    # Beside `readOnlyHint: true` the other hint means nothing (MCP, ToolAnnotations).
    if hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True:
        yield Effect.DESTRUCTIVE, "its server says that it destroys"
    if hints.get("readOnlyHint") is False:
        yield Effect.WRITE, "its server says that it writes"


def _read_risks(tool: Tool, found: list[str], description: str, taken: JsonObject) -> Iterator[str]:
    """Say why a read is more than harmless."""
    if is_open_world(tool):
        yield "it reaches out to an open world"
    elif address := next((name for name in taken if plain(name) in _ADDRESSES), None):
        yield f"it goes to the `{shown(address)}` that it is given"
    if secret := next((word for word in found if word in _SECRETS), None):
        yield f"what it returns may be secret: `{secret}` in its name"
    elif match := _TELLS_SECRETS.search(description):
        yield f"what it returns may be secret: its description says `{match[0].lower()}`"


def is_open_world(tool: Tool) -> bool:
    """Whether the server says that its tool reaches out to an open world."""
    return mapping(tool.definition.get("annotations")).get("openWorldHint") is True


def address_argument(tool: Tool) -> str | None:
    """Return the argument that names a place to go to, if there is one."""
    return next((name for name in arguments(tool.definition) if plain(name) in _ADDRESSES), None)


def _without_owner(description: str, server: str) -> str:
    """Return a description after words that only say whose it is: `Notion | Retrieve a page`."""
    own = words(server)
    while (match := re.match(r"\W*([A-Za-z]+)\W+", description)) and match[1].lower() in own:
        if match[1].lower() in CHANGES | DESTROYS | READS:
            break  # a server that is called like what it does
        description = description[match.end() :]
    return description


def _opening(description: str) -> str:
    """Return the verb that a description begins with, in its plain form."""
    match = re.search(r"[A-Za-z]+", description)
    return stem(match[0]) if match else ""


def _is_third_person(description: str) -> bool:
    """Whether a description says `Lists …` rather than `List …`."""
    match = re.search(r"[A-Za-z]+", description)
    return match is not None and match[0].lower().endswith("s")


def _choices(schema: Json, depth: int = 0) -> Iterator[str]:
    """Return the texts that an argument may be, where its schema lists them."""
    here = mapping(schema)
    listed = here.get("enum")
    for each in [*(listed if isinstance(listed, list) else []), here.get("const")]:
        if isinstance(each, str):
            yield each
    for word in ("anyOf", "oneOf"):
        options = here.get(word)
        for option in options if isinstance(options, list) and depth < 3 else []:
            yield from _choices(option, depth + 1)


def _is_program(schema: Json) -> bool:
    """Whether a schema describes a text in a language that does things."""
    return _LANGUAGES.search(_text(mapping(schema).get("description"))) is not None


def _is_deed(choice: str) -> bool:
    """Whether one choice of an argument is to change something: `create`, `POST`."""
    found = words(choice)
    deeds = DESTROYS | CHANGES | {"post", "close"}
    return bool(found) and found[0] in deeds


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
