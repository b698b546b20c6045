"""What is wrong with an entry that the types of its single keys can't show, with its place."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from gateway.contracts.entry import Entry
from gateway.contracts.pins import pin
from gateway.contracts.promises import CompensationSection, ReadbackSection
from gateway.contracts.sections import as_json
from gateway.errors import FileError
from gateway.jsontext.references import BadReference, Reference, parse
from gateway.types.guarantees import CompensationClass
from gateway.types.json import Json, JsonMapping, JsonObject
from gateway.types.operations import RetryClass
from gateway.types.tools import Effect
from gateway.yamltext import Path, YamlDocument

Fault: TypeAlias = tuple[str, Path]  # the message, and the place inside the entry

_NOTHING_UNDOES = frozenset({CompensationClass.IRREVERSIBLE, CompensationClass.PIVOT})


def faults(name: str, entry: Entry, document: YamlDocument, *, file: str) -> Iterator[FileError]:
    """Yield every fault of an entry, at the key that it is about."""
    at: Path = ("tools", name)
    of_definition = _definition(name, entry, definition(document, name))
    for check in (of_definition, _rules(entry), _idempotency(entry), _compensation(entry)):
        for message, path in check:
            line, column = document.key_place((*at, *path))
            yield FileError(message, file=file, line=line, column=column)
    for message, path in _templates(entry):
        line, column = document.place((*at, *path))
        yield FileError(message, file=file, line=line, column=column)


def definition(document: YamlDocument, name: str) -> JsonObject:
    """Return the definition as the loader read it: no model has touched its numbers."""
    value: Json = document.value
    for step in ("tools", name, "definition"):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _definition(name: str, entry: Entry, read: JsonObject) -> Iterator[Fault]:
    server, _, tool = name.partition(".")
    if not server or not tool:
        yield f"`{name}` has to be `server.name`", ()
    elif not name.endswith(f".{entry.definition.get('name')}"):
        yield (
            f"the definition of `{name}` names another tool; rename the entry, or pin it again",
            ("definition",),
        )
    if pin(read) != entry.pin:
        yield (
            "pin does not match the definition; review the tool and pin it again with "
            "`weighbridge tools pin`",
            ("pin",),
        )


def _rules(entry: Entry) -> Iterator[Fault]:
    for index, rule in enumerate(entry.risk_when):
        if rule.risk is None and rule.effect is None:
            yield "names neither `risk` nor `effect`; add one of them", ("risk_when", index)


def _idempotency(entry: Entry) -> Iterator[Fault]:
    section = entry.idempotency
    if section is None:
        return
    at: Path = ("idempotency", "retry")
    match section.retry:
        case RetryClass.READ if entry.effect is not Effect.READ:
            yield f"a {entry.effect.value} can't be repeated like a read; choose another class", at
        case RetryClass.KEYED if section.inject is None:
            yield "`keyed` needs `inject`, or the server gets no key to know the call by", at
        case RetryClass.QUERY if section.lookup is None:
            yield "`query` needs `lookup`, which shows whether the write took place", at
        case _:
            return


def _compensation(entry: Entry) -> Iterator[Fault]:
    section = entry.compensation
    if section is None:
        return
    at: Path = ("compensation",)
    if section.tool is not None:
        if section.class_ is CompensationClass.IRREVERSIBLE:
            yield (
                "what has a `tool` to undo it is not irreversible; remove one of the two",
                (*at, "class"),
            )
        return
    if section.class_ is None or section.class_ not in _NOTHING_UNDOES:
        yield "needs the `tool` that undoes it, or `class: irreversible` with a `reason`", at
    elif section.reason is None:
        yield f"`{section.class_.value}` without a tool needs a `reason`", at
    for key in _needing_a_tool(section):
        yield f"`{key}` has no use without a `tool`; name it, or remove the key", (*at, key)


def _needing_a_tool(section: CompensationSection) -> Iterator[str]:
    said: Mapping[str, object] = {
        "args": section.args,
        "capture": section.capture,
        "deadline": section.deadline,
        "idempotent": section.idempotent,
        "verify": section.verify,
    }
    return (key for key, value in said.items() if value)


def _templates(entry: Entry) -> Iterator[Fault]:
    """Check every text that holds references, and that what they name is known by then."""
    outcome, back = entry.outcome, entry.compensation
    after = {"args", "result", "op"} | ({"old"} if outcome.old is not None else set[str]())
    if entry.idempotency is not None and (lookup := entry.idempotency.lookup) is not None:
        yield from _call(as_json(lookup.args), ("idempotency", "lookup", "args"), {"args", "op"})
    if outcome.old is not None:
        yield from _call(as_json(outcome.old.args), ("outcome", "old", "args"), {"args", "op"})
    if outcome.readback is not None:
        yield from _readback(outcome.readback, ("outcome", "readback"), after)
    if outcome.checksum is not None:
        for key, text in (("of", outcome.checksum.of), ("equals", outcome.checksum.equals)):
            yield from _one(text, ("outcome", "checksum", key), after)
    if outcome.object is not None:
        yield from _text(outcome.object.id, ("outcome", "object", "id"), after)
    if entry.approval.summary is not None:
        yield from _text(entry.approval.summary, ("approval", "summary"), {"args"})
    if back is not None:
        yield from _call(as_json(back.args), ("compensation", "args"), after)
        if back.verify is not None:
            yield from _readback(back.verify, ("compensation", "verify"), after)


def _readback(section: ReadbackSection, at: Path, known: set[str]) -> Iterator[Fault]:
    yield from _call(as_json(section.args), (*at, "args"), known)
    wait = section.wait
    if wait is not None and wait.interval > wait.max:
        yield (
            "`interval` is longer than `max`, so it would look once at most; shorten it",
            (*at, "wait"),
        )


def _call(args: JsonMapping, at: Path, known: set[str]) -> Iterator[Fault]:
    for key, value in args.items():
        yield from _value(value, (*at, key), known)


def _value(value: Json, at: Path, known: set[str]) -> Iterator[Fault]:
    match value:
        case str():
            yield from _text(value, at, known)
        case dict():
            yield from _call(value, at, known)
        case list():
            for index, item in enumerate(value):
                yield from _value(item, (*at, index), known)
        case _:
            return


def _text(text: str, at: Path, known: set[str]) -> Iterator[Fault]:
    try:
        parts = parse(text)
    except BadReference as error:
        yield str(error), at
        return
    for part in parts:
        if isinstance(part, Reference) and part.root not in known:
            yield f"`{part.text}` is not known here{_MEND.get(part.root) or _known(known)}", at


_MEND = {"old": "; say in `outcome.old` which read it is the result of"}


def _known(names: set[str]) -> str:
    return "; known are " + ", ".join(f"`${each}`" for each in sorted(names))


def _one(text: str, at: Path, known: set[str]) -> Iterator[Fault]:
    found = [*_text(text, at, known)]
    yield from found
    if found:
        return
    match parse(text):
        case (Reference(),):
            return
        case _:
            yield "should be one reference, such as `$args.body`", at
